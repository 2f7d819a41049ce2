/** What the floor keeps of channels, in the commits of channels: who is to be asked, and who no longer speaks. */
import type { Tx } from '../../../core/plugin.js'
import type { ChannelPart, Channels, MemberRecord } from '../channels/contract.js'
import { mostAsked } from './turns/arbitration.js'
import { isSwitched, type LeaseRecord } from './record/lease.js'
import type { FloorStore } from './record/store.js'

export interface PartParts {
  readonly store: FloorStore
  readonly channels: Pick<Channels, 'find'>
  /** Somebody may have to be asked in a channel. */
  readonly consider: (channel_id: string) => void
  readonly abandon: (run_id: string) => void
}

/** Leases or calls that are looked at in one commit. */
const most = 500

/** The floor of a session that is gone passes on: its message calls again. */
const passOn = ({ store }: PartParts, tx: Tx, lease: LeaseRecord): void => {
  const { last_human_message_id: message_id, channel_id, thread_root_message_id, holder_session_id } = lease
  if (store.calls.has(message_id) || lease.asked_session_ids.length >= mostAsked) return
  const priority = lease.last_human_priority_session_ids.filter((id) => id !== holder_session_id)
  // A turn about an earlier message was none about this one: who comes back may have its own.
  const asked = isSwitched(lease) ? lease.asked_session_ids : [...lease.asked_session_ids, holder_session_id]
  tx.put(store.calls, { message_id, channel_id, thread_root_message_id, at_ms: tx.now, passed: { priority, asked } })
}

const lose = (parts: PartParts, tx: Tx, { lease, why }: { lease: LeaseRecord; why: string }): void => {
  parts.store.drop(tx, lease, why)
  tx.after(() => parts.abandon(lease.active_run_id))
}

/** Nobody waits for the session any more. */
const forget = (
  { store }: PartParts,
  tx: Tx,
  { channel_id, session_id }: { readonly channel_id: string; readonly session_id: string },
): void => {
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== session_id)
  for (const lease of store.inChannel(channel_id, most)) {
    const { queued_candidate_session_ids: queue, last_human_priority_session_ids: priority } = lease
    if (queue.includes(session_id) || priority.includes(session_id))
      tx.put(store.leases, {
        ...lease,
        queued_candidate_session_ids: others(queue),
        last_human_priority_session_ids: others(priority),
      })
  }
}

export const floorPart = (parts: PartParts): ChannelPart => {
  const { store, channels, consider } = parts
  const left = (tx: Tx, { channel_id, session_id }: MemberRecord): void => {
    if (session_id === undefined) return
    for (const lease of store.heldBy(session_id))
      if (lease.channel_id === channel_id) {
        passOn(parts, tx, lease)
        lose(parts, tx, { lease, why: 'its holder left the channel' })
      }
    forget(parts, tx, { channel_id, session_id })
    tx.after(() => consider(channel_id))
  }
  return {
    id: 'floor',
    metrics(channel_id) {
      const leases = store.leases.count('channel', channel_id)
      return { active_turn_lease_count: leases, active_public_speaker_count: leases }
    },
    posted(tx, { message_id, channel_id, root_message_id, sender_session_id }, { calls = true }) {
      if (!calls || sender_session_id !== undefined || channels.find(channel_id)?.paused !== false) return
      tx.put(store.calls, { message_id, channel_id, thread_root_message_id: root_message_id, at_ms: tx.now })
      tx.after(() => consider(channel_id))
    },
    left,
    sweep(tx, channel_id) {
      const leases = store.inChannel(channel_id, most)
      for (const lease of leases) lose(parts, tx, { lease, why: 'its channel is gone' })
      const calls = store.calls.list({ index: 'channel', group: channel_id, limit: most })
      for (const { message_id } of calls) tx.remove(store.calls, message_id, 'its channel is gone')
      return leases.length < most && calls.length < most
    },
  }
}
