/** Agents that were not heard in time: found by whoever looks, and written down once. */
import { Problem, type Tx, showTime } from '../../../../core/plugin.js'
import type { AgentRecord } from '../record/store.js'
import type { CaptureAlert } from '../record/structs.js'
import type { HeartbeatParts } from './heartbeat.js'
import { isListenedFor } from './hearing.js'

/** Agents that are looked at in one commit. */
const atOnce = 1000

export const createDeadlines = ({ store, sources, clock, hearing }: HeartbeatParts) => {
  const isOver = (record: AgentRecord, now: number): boolean =>
    isListenedFor(record) && now > hearing.latest(record).heartbeat_deadline_ms
  /** By their records, which know less than what was heard: the first of those whose deadline is over. */
  const candidates = (now: number): AgentRecord[] => {
    const { agents, skip } = store
    const found: AgentRecord[] = []
    for (let beyond: string | undefined; ;) {
      const some = agents.list({
        index: 'due',
        group: 'all',
        limit: atOnce,
        skip,
        ...(beyond !== undefined && { beyond }),
      })
      found.push(...some.filter((record) => isOver(record, now)))
      const last = some.at(-1)
      if (last === undefined || some.length < atOnce || last.heartbeat_deadline_ms > now) return found
      beyond = agents.spec.indexes['due']?.sort?.(last)
    }
  }
  const write = (tx: Tx, found: readonly AgentRecord[]): void => {
    for (const { machine_id } of found) {
      const record = store.find(machine_id)
      if (record === undefined || !isOver(record, tx.now)) continue
      const { updated_at_ms } = record
      tx.put(store.agents, {
        ...hearing.latest(record),
        heartbeat_state: 'missing',
        heartbeat_missing_since_ms: tx.now,
        updated_at_ms: Math.max(tx.now, updated_at_ms),
      })
      const event = 'capture_agent_heartbeat_missing'
      sources.note(tx, { event, source_id: machine_id, reason: 'missing_heartbeat' })
    }
  }
  const lookAtAll = async (): Promise<void> => {
    for (;;) {
      const found = candidates(clock.now()).slice(0, atOnce)
      if (found.length > 0) await store.state.commit((tx) => write(tx, found))
      if (found.length < atOnce) return
    }
  }
  /** Where nothing can be written, reading goes on with what is known. */
  const look = (): Promise<void> =>
    lookAtAll().catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
    })
  return { look }
}

/** Of an agent that is missing. */
export const alertOf = (record: AgentRecord, now: number): CaptureAlert => {
  const { machine_id, heartbeat_deadline_ms, last_heartbeat_at_ms: last, heartbeat_missing_since_ms } = record
  const since = last === undefined ? 'ever' : `since ${showTime(last)}`
  const expired = now >= (record.token_expires_at_ms ?? Infinity) ? ' Its tokens have expired: provision it again.' : ''
  return {
    machine_id,
    kind: 'missing_heartbeat',
    severity: 'warning',
    message: `No heartbeat of ${machine_id} ${since}; it was due until ${showTime(heartbeat_deadline_ms)}.${expired}`,
    detected_at_ms: heartbeat_missing_since_ms ?? heartbeat_deadline_ms,
    heartbeat_deadline_ms,
  }
}
