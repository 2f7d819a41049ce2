/** A root with very many observations that end at one time. */
import { createHash } from 'node:crypto'
import { declareStore } from '../../plugins/capture/observations/record/store.js'
import { declareAssets } from '../../plugins/media/assets/store.js'
import { takeRoot } from './taken-root.js'

const perCommit = 200
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface DueObservations {
  readonly count: number
  readonly received_at_ms: number
}

/** Observations of the source `door`, each with a file of its own, all received at once; they are kept for a minute. */
export const makeDueObservations = async (root: string, { count, received_at_ms }: DueObservations): Promise<void> => {
  const taken = await takeRoot(root)
  const { state, observations, sources } = declareStore(taken.state, () => {})
  const assets = declareAssets(taken.state, () => {})
  await taken.load()
  const contents = Array.from({ length: count }, (_, n) => Buffer.from(`content ${n}`))
  for (let at = 0; at < count; at += perCommit) {
    const refs = await Promise.all(contents.slice(at, at + perCommit).map((bytes) => assets.blobs.put(bytes)))
    await state.commit((tx) => {
      for (const [offset, raw] of refs.entries()) {
        const asset_id = taken.ids.make('asset')
        const media_type = 'image/png'
        const file = { asset_id, media_type, file_name: 'door.png', raw, derivation_ids: [], passing: true }
        assets.put(tx, { ...file, created_at_ms: received_at_ms })
        tx.insert(observations, {
          view: {
            observation_id: taken.ids.make('observation'),
            source_id: 'door',
            kind: 'screen_snapshot',
            sensitivity: 'sensitive',
            retention_state: 'active',
            asset_id,
            media_type,
            sha256: raw.sha256,
            byte_length: raw.bytes,
            captured_at_ms: received_at_ms,
            received_at_ms,
            idempotency_key: `key-${at + offset}`,
            request_fingerprint: sha256(`request ${at + offset}`),
          },
        })
      }
    })
  }
  await state.commit((tx) =>
    tx.insert(sources, {
      view: {
        source_id: 'door',
        display_name: 'Door',
        kind: 'screen_snapshot',
        status: 'active',
        sensitivity: 'sensitive',
        retention_seconds: 60,
        max_active_observations: count,
        max_active_bytes: Number.MAX_SAFE_INTEGER,
        ingest_rate_limit_window_ms: 1000,
        ingest_rate_limit_burst: 1000,
        purge_raw_on_retention: true,
        allow_materialization: true,
        allow_output_delivery: false,
        created_at_ms: received_at_ms,
        updated_at_ms: received_at_ms,
        upload_token_version: 1,
        active_observation_count: count,
        active_byte_length: contents.reduce((sum, { length }) => sum + length, 0),
      },
      upload_token_sha256: sha256('door-token'),
      previous_upload_tokens: [],
      due_at_ms: received_at_ms + 60_001,
    }),
  )
  await taken.end()
}
