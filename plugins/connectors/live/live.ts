/** Puts the parts together. */
import type { Clock, PluginContext } from '../../../core/plugin.js'
import type { Approvals } from '../../execution/approvals/contract.js'
import type { Outbox } from '../../execution/deliveries/contract.js'
import type { Interception } from '../../execution/interception/contract.js'
import type { Questions } from '../../execution/questions/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { Connectors } from '../registry/contract.js'
import { createAskPosts } from './ask-posts.js'
import { closeOver, type AskParts } from './asks.js'
import { createCalls } from './calls.js'
import type { LiveKind, LiveReplies } from './contract.js'
import { press, reply, type DecideParts } from './decide.js'
import { createDraftEnds, type DraftEnds } from './draft-ends.js'
import { createDrafts, type Drafts } from './drafts.js'
import type { LiveStore } from './store.js'
import { createTyping } from './typing.js'
import { createWatch, type Watch } from './watch.js'

export interface LiveParts {
  readonly ctx: PluginContext<unknown>
  readonly runs: Runs
  readonly sessions: Sessions
  readonly outbox: Outbox
  readonly approvals: Approvals
  readonly connectors: () => Connectors | undefined
  readonly interception: () => Interception | undefined
  readonly questions: Questions
  readonly store: LiveStore
  readonly kinds: () => readonly LiveKind[]
}

export interface Live {
  readonly replies: LiveReplies
  readonly watch: Watch
  readonly drafts: Drafts
  readonly ends: DraftEnds
  /** Goes on with what an earlier life left. */
  begin(): void
  close(): Promise<void>
}

export const createLive = (parts: LiveParts): Live => {
  const { ctx, runs, store, interception } = parts
  const { clock, ids, log, secrets } = ctx
  const names = new Map<string, string>()
  const calls = createCalls({ ...parts, clock, log })
  const typing = createTyping({ clock, calls })
  const ends = createDraftEnds({ ...parts, clock, log, calls })
  const drafts = createDrafts({ clock, ids, log, calls, runs, store, left: ends.look })
  const nameOf = (ask_id: string): string | undefined => names.get(ask_id)
  const posts = createAskPosts({ ...parts, log, secrets, clock, calls })
  const later = createLooks(clock, (run_id) => watch.look(run_id))
  const asks: AskParts = { ids, log, secrets, runs, store, wake: posts.wake, lookLater: later.add, nameOf }
  const mayRefuse = (): boolean => interception()?.wants('stop') === true
  const watch = createWatch({ ...parts, typing, drafts, ends, asks, mayRefuse })
  return {
    replies: repliesOf({ ...parts, log, names }, drafts),
    watch,
    drafts,
    ends,
    begin() {
      goOn(asks)
      watch.lookAtAll()
      ends.sweep().catch((error: unknown) => log.warn('drafts of an earlier life were not looked at', { error }))
    },
    async close() {
      later.close()
      typing.close()
      drafts.close()
      await calls.close()
      await posts.close()
    },
  }
}

/** Before a run is looked at once more of which something could not be kept. Milliseconds. */
const lookMs = 10_000

/** Runs that are looked at once more, each once. */
const createLooks = (clock: Clock, look: (run_id: string) => void) => {
  const waiting = new Map<string, () => void>()
  let isClosed = false
  return {
    add(run_id: string): void {
      if (isClosed || waiting.has(run_id)) return
      const cancel = clock.after(lookMs, () => {
        waiting.delete(run_id)
        look(run_id)
      })
      waiting.set(run_id, cancel)
    },
    close(): void {
      isClosed = true
      for (const cancel of waiting.values()) cancel()
    },
  }
}

const repliesOf = (parts: DecideParts, drafts: Drafts): LiveReplies => ({
  takeDraft: drafts.take,
  press: (pressed) => press(parts, pressed),
  reply: (replied) => reply(parts, replied),
})

/** Messages that an earlier life did not bring to their end. */
const goOn = (parts: AskParts): void => {
  const { asks } = parts.store
  const left = ['open', 'closing'].flatMap((status) =>
    asks.list({ index: 'status', group: status, limit: asks.count('status', status) }),
  )
  for (const run_id of new Set(left.map((ask) => ask.run_id))) closeOver(parts, run_id)
  for (const { ask_id } of left) parts.wake(ask_id)
}
