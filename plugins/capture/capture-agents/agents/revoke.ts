/** Ends an agent: its leases, its sources, and whatever its tokens opened. */
import type { Tx } from '../../../../core/plugin.js'
import { sanitisedReason } from '../../observations/contract.js'
import type { AgentRecord } from '../record/store.js'
import type { HeartbeatParts } from './heartbeat.js'

/** Rejects with `capture_agent_not_found`. Again, it has no effect but on what is not as it should be. */
export const createRevoke = ({ store, sources, hearing, redact }: HeartbeatParts) => {
  /** True if anything was still good. */
  const endAll = (tx: Tx, { machine_id, source_ids }: AgentRecord): boolean => {
    const leases = store.goodLeases(machine_id)
    for (const lease of leases) tx.put(store.leases, { ...lease, view: { ...lease.view, revoked_at_ms: tx.now } })
    const open = source_ids.filter((id) => sources.find(id)?.status === 'active')
    for (const id of source_ids) sources.setStatus(tx, id, 'disabled')
    return leases.length + open.length > 0
  }
  return (machine_id: string, given: string | undefined): Promise<AgentRecord> =>
    store.state.commit((tx) => {
      const before = store.get(machine_id)
      const reason = sanitisedReason(given, redact)
      const wasGood = endAll(tx, before)
      const isRevoked = before.status === 'revoked'
      if (isRevoked && !wasGood) return before
      const { heartbeat_missing_since_ms: _since, ...record } = hearing.latest(before)
      const after: AgentRecord = {
        ...record,
        status: 'revoked',
        heartbeat_state: 'revoked',
        updated_at_ms: Math.max(tx.now, before.updated_at_ms),
        ...(!isRevoked && { revoked_at_ms: tx.now, ...(reason !== undefined && { revoked_reason: reason }) }),
      }
      tx.put(store.agents, after)
      sources.note(tx, {
        event: isRevoked ? 'capture_agent_revoke_repaired' : 'capture_agent_revoked',
        source_id: machine_id,
        ...(reason !== undefined && { reason }),
        purged_asset_ids: before.source_ids,
      })
      return after
    })
}
