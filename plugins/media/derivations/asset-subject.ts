/** Assets as subjects of derivations. */
import { literal, object, string } from '../../../core/plugin.js'
import { assetAt, type Asset, type Assets } from '../assets/contract.js'
import { defineSubject, type Material, type SubjectKind } from './subject.js'

const materialOf = (asset: Asset): Material => ({
  fingerprint: `asset:v2:${asset.media_type}:${asset.sha256}`,
  asset,
  ...(asset.text_sha256 !== undefined && { canonical: { media_type: 'text/plain', sha256: asset.text_sha256 } }),
})

export const assetSubject = (assets: Assets): SubjectKind =>
  defineSubject({
    type: 'asset',
    struct: object({ type: literal('asset'), asset_id: string({ min: 1, max: 200, pattern: '\\S' }) }),
    key: ({ asset_id }) => `asset:${asset_id}`,
    resolve: ({ asset_id }) => materialOf(assetAt(assets, asset_id, 'body.subject.asset_id')),
    attach: (tx, { asset_id }, words) => assets.setText(tx, asset_id, words.asset_id),
  })
