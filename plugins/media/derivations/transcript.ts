/** What a transcriber said, as assets. */
import type { Problem } from '../../../core/plugin.js'
import type { Asset, Assets } from '../assets/contract.js'
import type { Derived, Transcript, TranscriptionOptions, TranscriptionPlan } from './contract.js'
import { derivationErrors } from './errors.js'
import { derivedName } from './naming.js'

export interface Heard {
  /** The sound. */
  readonly asset: Asset
  readonly options: TranscriptionOptions | undefined
  /** Who was asked. */
  readonly plan: TranscriptionPlan
}

const failed = ({ asset_id }: Asset, reason: string): Derived => ({
  type: 'failed',
  problem: derivationErrors.transcription_failed({ details: { asset_id, reason } }),
})

const silent = ({ asset_id }: Asset): Derived => ({
  type: 'failed',
  problem: derivationErrors.transcription_silent({ details: { asset_id } }),
})

/** It may go another time. */
export const unready = ({ asset_id }: Asset, reason: string, retry_after_ms?: number): Problem =>
  derivationErrors.transcription_unready({
    details: { asset_id, reason },
    ...(retry_after_ms !== undefined && { retryAfter: Math.ceil(retry_after_ms / 1000) }),
  })

type Said = Transcript & { readonly type: 'transcript' }

/** Throws `derivation_invalid` where the server told none. */
const keepTimes = (assets: Assets, said: Said, { asset, options }: Heard): Promise<Asset> | undefined => {
  const wished = options?.timestamp_granularities
  if (wished === undefined) return undefined
  const { duration_ms, language, words, segments } = said
  if (wished.some((of) => (of === 'word' ? words : segments) === undefined))
    throw derivationErrors.derivation_invalid({
      details: { reason: 'the server told no times' },
      errors: [{ path: 'body.transcription.timestamp_granularities', rule: 'needs a server that tells them' }],
    })
  return assets.add({
    file_name: derivedName(asset.file_name, '.times.json'),
    media_type: 'application/json',
    bytes: Buffer.from(JSON.stringify({ duration_ms, language, words, segments })),
  })
}

/** Rejects with `transcription_unready` where it may go another time. */
export const keepTranscript = async (assets: Assets, said: Transcript, heard: Heard): Promise<Derived> => {
  const { asset, options, plan } = heard
  if (said.type === 'failed') {
    if (said.retryable) throw unready(asset, said.message, said.retry_after_ms)
    return failed(asset, said.message)
  }
  const text = said.text.trim()
  if (text === '') return silent(asset)
  const timestamps = await keepTimes(assets, said, heard)
  const file_name = derivedName(asset.file_name, '.txt')
  const result = await assets.add({ file_name, media_type: 'text/plain', bytes: Buffer.from(text) })
  const { route_id, provider, model } = plan
  const made = { pipeline_version: 1, stitching_strategy: 'single_part', part_count: 1 } as const
  return {
    type: 'completed',
    result,
    ...(timestamps && { timestamps }),
    backend: { kind: 'transcription', route_id, provider, model, ...made },
    ...(options === undefined && { attach: true }),
  }
}
