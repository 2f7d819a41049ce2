/**
 * Makes a state root with very many observations: `node dist/test/bench/observations.js --root FOLDER [--observations N]
 * [--sources N]`. Half of them are active. No file is written: only what the plugin itself keeps.
 */
import { createHash } from 'node:crypto'
import { declareStore, type ObservationStore } from '../../plugins/capture/observations/record/store.js'
import { takeRoot } from '../support/taken-root.js'
import { numberOf, valueOf } from './flags.js'

const root = valueOf('--root')
if (root === undefined) {
  process.stderr.write('say where: --root FOLDER, absent or empty\n')
  process.exit(2)
}
const count = numberOf('--observations') ?? 200_000
const sources = numberOf('--sources') ?? 100
const perCommit = 200
const perCheckpoint = 20_000
const stepMs = 1000

const taken = await takeRoot(root, { tuning: { segmentBytes: Number.MAX_SAFE_INTEGER } })
const store: ObservationStore = declareStore(taken.state, () => {})
await taken.load()
const begin = Date.now() - count * stepMs
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const sourceId = (at: number): string => `source-${String(at % sources).padStart(5, '0')}`
const limits = {
  retention_seconds: 10_000_000,
  max_active_observations: count,
  max_active_bytes: Number.MAX_SAFE_INTEGER,
  ingest_rate_limit_window_ms: 1000,
  ingest_rate_limit_burst: 1_000_000,
  purge_raw_on_retention: false,
  allow_materialization: true,
  allow_output_delivery: false,
}
await store.state.commit((tx) => {
  for (let at = 0; at < sources; at += 1)
    tx.insert(store.sources, {
      view: {
        source_id: sourceId(at),
        display_name: `Source ${at}`,
        kind: 'screen_snapshot',
        status: 'active',
        sensitivity: 'sensitive',
        ...limits,
        created_at_ms: begin,
        updated_at_ms: begin,
        upload_token_version: 1,
        active_observation_count: Math.ceil((count - at) / sources / 2),
        active_byte_length: Math.ceil((count - at) / sources / 2) * 300_000,
      },
      upload_token_sha256: sha256(`token-${sourceId(at)}`),
      previous_upload_tokens: [],
    })
})

for (let at = 0; at < count; at += perCommit) {
  await store.state.commit((tx) => {
    for (let n = at; n < Math.min(count, at + perCommit); n += 1) {
      const time = begin + n * stepMs
      const isPurged = Math.floor(n / sources) % 2 === 1
      const observation_id = taken.ids.make('observation')
      const source_id = sourceId(n)
      tx.insert(store.observations, {
        view: {
          observation_id,
          source_id,
          kind: 'screen_snapshot',
          sensitivity: 'sensitive',
          retention_state: isPurged ? 'purged' : 'active',
          asset_id: taken.ids.make('asset'),
          media_type: 'image/png',
          sha256: sha256(String(n)),
          byte_length: 300_000,
          captured_at_ms: time,
          received_at_ms: time,
          stream_id: 'screen:display:display-main',
          seq_no: n,
          idempotency_key: `key-${n}`,
          request_fingerprint: sha256(`request ${n}`),
          metadata: { capture_group_id: `${source_id}-capture`, role: 'screenshot' },
        },
        group_id: `${source_id}-capture`,
        ...(isPurged && { purged_at_ms: time }),
      })
    }
  })
  if (at % perCheckpoint === 0) await taken.checkpoint()
}
await taken.checkpoint()
await taken.end()
process.stdout.write(`${count} observations of ${sources} sources\n`)
process.exit(0)
