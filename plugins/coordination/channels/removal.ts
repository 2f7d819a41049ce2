/** Channels that go: what they held is removed in portions, over restarts (channels-9). */
import {
  createShare,
  tellFailure,
  type Clock,
  type Collection,
  type Log,
  type Observers,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { ChannelPart } from './contract.js'
import { weightOf } from './record/weight.js'
import type { ChannelStore } from './record/store.js'

/** Records of one commit, and about how many bytes they hold together: each is read on its way out. */
const [atOnce, mostBytes] = [200, 512 * 1024]
/** The part of the time that is taken for it. */
const part = 0.5
/** Milliseconds until what failed is tried again. */
const retryMs = 30_000

interface RemovalParts {
  readonly store: ChannelStore
  readonly observers: Pick<Observers<ChannelPart>, 'tell'>
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

const small = (): number => 0

/** Takes some of what a channel held; true if nothing is left. */
const sweepOwn = (tx: Tx, store: ChannelStore, group: string): boolean => {
  let [left, bytes] = [atOnce, mostBytes]
  const take = <T extends object>(collection: Collection<T>, weight: (record: T) => number): void => {
    for (const id of left === 0 ? [] : collection.page({ index: 'channel', group, limit: left })) {
      const record = bytes > 0 ? collection.find(id) : undefined
      if (record === undefined) return void (left = 0)
      tx.remove(collection, id, 'its channel was removed')
      left -= 1
      bytes -= weight(record)
    }
  }
  take(store.members, small)
  take(store.reactions, small)
  take(store.assets, small)
  take(store.messages, weightOf)
  return left > 0 && bytes > 0
}

/** The same of what others keep. A plugin that cannot take its own keeps no channel. */
const sweepOthers = (tx: Tx, observers: RemovalParts['observers'], channel_id: string): boolean => {
  let isSwept = true
  observers.tell(tx, 'taking what it kept of a channel', (part) => {
    if (!isSwept) return
    const swept = part.sweep?.(tx, channel_id)
    isSwept = swept !== false
    return swept
  })
  return isSwept
}

export const createRemoval = ({ store, observers, state, clock, log }: RemovalParts) => {
  const { removals } = store
  let running: Promise<void> | undefined
  let ending: AbortController | undefined
  const portion = (channel_id: string): Promise<boolean> =>
    state.commit((tx) => {
      if (!sweepOwn(tx, store, channel_id)) return false
      if (!sweepOthers(tx, observers, channel_id)) return false
      tx.remove(removals, channel_id, 'nothing of it is left')
      return true
    })
  const sweep = async (channel_id: string, signal: AbortSignal): Promise<void> => {
    const pause = createShare(clock, { part, signal })
    while (!signal.aborted && removals.has(channel_id) && !(await portion(channel_id))) await pause()
  }
  const work = async (signal: AbortSignal): Promise<void> => {
    for (const channel_id of removals.ids('all', 'all')) {
      if (signal.aborted) return
      await sweep(channel_id, signal).catch((error: unknown) =>
        tellFailure({ log, state }, 'what a channel held could not be removed', { channel_id, error }),
      )
    }
  }
  /** One pass at a time; what came meanwhile, or failed, has a later one. */
  const run = (): void => {
    const { signal } = ending ?? {}
    if (signal === undefined || signal.aborted || running !== undefined || removals.count('all', 'all') === 0) return
    const known = removals.count('all', 'all')
    running = work(signal).finally(() => {
      running = undefined
      const left = removals.count('all', 'all')
      if (left > 0 && !signal.aborted) clock.after(left < known ? 0 : retryMs, run)
    })
  }
  return {
    /** Something is to be removed. */
    poke: run,
    begin() {
      const controller = new AbortController()
      ending = controller
      run()
      return async () => {
        controller.abort()
        await running
      }
    },
  }
}
