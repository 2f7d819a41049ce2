/**
 * When agents were heard. It is in memory, and on disk once a minute or when anything else of a heartbeat changes: a
 * thousand agents that say the same cost no disk.
 */
import type { Tx } from '../../../../core/plugin.js'
import type { AgentParts } from '../record/parts.js'
import type { AgentRecord } from '../record/store.js'

export interface Hearing {
  /** The record as it is now, with what was heard since it was written. */
  latest(record: AgentRecord): AgentRecord
  /** Notes that an agent was heard at this moment, Unix ms. */
  heard(machine_id: string, at_ms: number): void
  /** Writes down what is in memory alone. */
  settle(): Promise<void>
}

/** Longest time, in milliseconds, that what was heard is in memory alone. */
const longestMs = 60_000

/** How long an agent may be silent. */
export const silenceMs = ({ heartbeat_interval_ms, heartbeat_grace_ms }: AgentRecord): number =>
  heartbeat_interval_ms + heartbeat_grace_ms

/** Whether another heartbeat at this moment is written down, whatever it says. */
export const isDue = (record: AgentRecord, now: number): boolean =>
  now - (record.last_heartbeat_at_ms ?? 0) >= Math.min(longestMs, silenceMs(record) / 2)

export const isListenedFor = ({ heartbeat_state }: AgentRecord): boolean =>
  heartbeat_state === 'pending' || heartbeat_state === 'healthy'

/** `since` is when the daemon began to listen: whoever spoke before was not heard, which is not the agent's fault. */
export const createHearing = ({ store }: Pick<AgentParts, 'store'>, since: () => number): Hearing => {
  const times = new Map<string, number>()
  const latest = (record: AgentRecord): AgentRecord => {
    if (!isListenedFor(record)) return record
    const silence = silenceMs(record)
    const at = times.get(record.machine_id) ?? 0
    const isNews = record.heartbeat_state === 'healthy' && at > (record.last_heartbeat_at_ms ?? 0)
    const told = isNews ? { ...record, last_heartbeat_at_ms: at } : record
    const deadline = Math.max(record.heartbeat_deadline_ms, since() + silence, isNews ? at + silence : 0)
    return deadline === told.heartbeat_deadline_ms ? told : { ...told, heartbeat_deadline_ms: deadline }
  }
  const write = (tx: Tx): void => {
    for (const machine_id of times.keys()) {
      const record = store.find(machine_id)
      const now = record && latest(record)
      if (now !== undefined && now.last_heartbeat_at_ms !== record?.last_heartbeat_at_ms) tx.put(store.agents, now)
    }
  }
  return {
    latest,
    heard: (machine_id, at_ms) => void times.set(machine_id, at_ms),
    async settle() {
      await store.state.commit(write)
      times.clear()
    },
  }
}
