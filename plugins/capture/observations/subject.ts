/** Observations as subjects of derivations. */
import { literal, object, Problem, string } from '../../../core/plugin.js'
import type { Asset, Assets } from '../../media/assets/contract.js'
import {
  defineSubject,
  derivationErrors,
  type CanonicalText,
  type SubjectKind,
} from '../../media/derivations/contract.js'
import type { ObservationStore } from './record/store.js'
import type { ObservationView } from './record/structs.js'
import { select } from './materialization/selection.js'

interface SubjectParts {
  readonly store: ObservationStore
  readonly assets: Assets
}

/** The words that its source sent, else those that were made of its file. */
const canonicalOf = (assets: Assets, { canonical_text_asset_id: id }: ObservationView, file: Asset) => {
  if (id !== undefined) {
    const asset = assets.get(id)
    return { media_type: asset.media_type, sha256: asset.sha256, asset, given: true } satisfies CanonicalText
  }
  return file.text_sha256 === undefined ? undefined : { media_type: 'text/plain', sha256: file.text_sha256 }
}

/** Nothing is derived of what no run may be given. */
const viewOf = (store: ObservationStore, observation_id: string): ObservationView => {
  try {
    select(store, { type: 'observation_ids', observation_ids: [observation_id] }, 0)
    return store.getObservation(observation_id).view
  } catch (error) {
    throw error instanceof Problem ? refused(error) : error
  }
}

const refused = ({ spec, message }: Problem): Problem =>
  spec.status === 404
    ? derivationErrors.derivation_subject_not_found({ details: { reason: message } })
    : derivationErrors.derivation_subject_refused({ details: { reason: message } })

export const observationSubject = ({ store, assets }: SubjectParts): SubjectKind =>
  defineSubject({
    type: 'observation',
    struct: object({ type: literal('observation'), observation_id: string({ min: 1, max: 200, pattern: '\\S' }) }),
    key: ({ observation_id }) => `observation:${observation_id}`,
    resolve({ observation_id }) {
      const view = viewOf(store, observation_id)
      const asset = assets.get(view.asset_id)
      const canonical = canonicalOf(assets, view, asset)
      return {
        fingerprint: `observation:v2:${view.request_fingerprint}:raw:${asset.media_type}:${asset.sha256}`,
        asset,
        ...(canonical && { canonical }),
      }
    },
    attach: (tx, { observation_id }, words) =>
      assets.setText(tx, store.getObservation(observation_id).view.asset_id, words.asset_id),
  })
