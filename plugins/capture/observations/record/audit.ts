/**
 * What happened to sources, uploads and agents: rings of fixed size, in which the oldest event falls when the newest
 * comes. What operators did is not pushed out by uploads, and neither is by strangers.
 */
import { createRings, type Tx } from '../../../../core/plugin.js'
import type { AuditEntry, ObservationStore } from './store.js'
import type { AuditDraft, AuditEvent, ObservationAuditRecord } from './structs.js'

/** Events of each ring. */
export const rings = { lasting: 10_000, passing: 10_000, refused: 2_000 } as const
type Ring = keyof typeof rings

const passing: ReadonlySet<AuditEvent> = new Set([
  'upload_succeeded',
  'upload_replayed',
  'upload_rate_limited',
  'retention_purged_assets',
  'capture_agent_heartbeat',
])
const ringOf = ({ event }: AuditDraft): Ring =>
  event === 'upload_rejected' ? 'refused' : passing.has(event) ? 'passing' : 'lasting'

export interface AuditQuery {
  readonly source_id?: string | undefined
  readonly event?: AuditEvent | undefined
  readonly limit: number
}

export interface Audit {
  /** Records an event in a commit. */
  note(tx: Tx, draft: AuditDraft): void
  /** Newest first. */
  list(query: AuditQuery): ObservationAuditRecord[]
}

export const createAudit = ({ audit, skip }: Pick<ObservationStore, 'audit' | 'skip'>): Audit => {
  const kept = createRings<Ring, AuditEntry>(audit, rings)
  return {
    note(tx, draft) {
      const ring = ringOf(draft)
      kept.add(tx, ring, (seq) => ({ ring, seq, record: { recorded_at_ms: tx.now, ...draft } }))
    },
    list({ source_id, event, limit }) {
      const order = 'desc'
      const found =
        source_id === undefined
          ? event === undefined
            ? audit.list({ index: 'all', group: 'all', limit, order, skip })
            : audit.list({ index: 'event', group: event, limit, order, skip })
          : event === undefined
            ? audit.list({ index: 'source', group: source_id, limit, order, skip })
            : audit.list({ index: 'both', group: `${source_id} ${event}`, limit, order, skip })
      return found.map(({ record }) => record)
    },
  }
}
