/** What stimuli keep of channels, in the commits of channels. */
import type { Tx } from '../../../core/plugin.js'
import type { ChannelPart } from '../channels/contract.js'
import type { TurnObserver } from '../floor/contract.js'
import type { StimulusStore } from './record/store.js'

export interface PartParts {
  readonly store: StimulusStore
  readonly poke: (channel_id: string) => void
  readonly now: () => number
}

/** Records that are taken in one commit; a stimulus may hold 80 KiB. */
const atOnce = 20
const hourMs = 3_600_000

export const stimulusPart = ({ store, poke, now }: PartParts): ChannelPart => ({
  id: 'stimuli',
  metrics(channel_id) {
    const count = (state: string): number => store.stimuli.count('state', `${channel_id}/${state}`)
    return {
      pending_stimulus_count: count('pending'),
      claimed_stimulus_count: count('claimed'),
      active_thread_work_count: store.work.count('open', channel_id),
      recent_autonomous_root_posts_1h: store.rootsSince(channel_id, now() - hourMs),
      suppressed_stimulus_count: count('cancelled') + count('coalesced') + count('superseded'),
    }
  },
  changed(tx, { channel_id }) {
    if (store.waiting(channel_id) > 0) tx.after(() => poke(channel_id))
  },
  sweep(tx, group) {
    let left = atOnce
    for (const kept of [store.stimuli, store.bindings, store.work]) {
      const ids = left === 0 ? [] : kept.page({ index: 'channel', group, limit: left })
      for (const id of ids) tx.remove<object>(kept, id, 'its channel was removed')
      left -= ids.length
    }
    return left > 0
  },
})

/** Who was asked first about a stimulus has its thread. */
export const ownerObserver = ({ work, ofMessage }: StimulusStore): TurnObserver => ({
  id: 'stimuli',
  granted(tx: Tx, message_id, [owner_session_id]) {
    if (owner_session_id === undefined || ofMessage(message_id) === undefined) return
    const found = work.find(ofMessage(message_id)?.thread_root_message_id ?? message_id)
    if (found !== undefined && found.owner_session_id === undefined) tx.put(work, { ...found, owner_session_id })
  },
})
