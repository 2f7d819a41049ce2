/** Sums up the older part of a conversation before a call for which it is too long (prompt-7 to prompt-10). */
import type { Tx } from '../../../core/plugin.js'
import type { ModelRoute, Usage } from '../models/contract.js'
import type { RunRecord, SessionCompaction, SessionCompactionWish } from '../runs/contract.js'
import type { CompactionCause } from '../sessions/contract.js'
import { change, changeLazily, isCut, within, type EngineContext, type Execution } from './execution.js'
import { told } from './model-failed.js'
import { budgetOf, windowFor, type Budget } from './prompt/budget.js'
import { partOf } from './prompt/compaction.js'
import { assemble } from './prompt/request.js'
import { purpose, sumUp, tellCompacted, type Compaction } from './prompt/sum-up.js'
import { shownBytes, shownRuns, type Thread } from './thread/thread.js'
import type { Progress } from './thread/turn.js'
import { weigh } from './thread/weight.js'

/** Compactions that fail one after the other before a session is left as it is. */
export const mostFailures = 3

export interface Compacting {
  readonly run: RunRecord
  readonly thread: Thread
  readonly progress: Progress
  readonly route: ModelRoute
  readonly budget: Budget | undefined
  readonly attempt: number
}

/** What was just summed up is not summed up again, and one that failed is not tried again in the same turn. */
const causeOf = (percent: number, { thread, progress, budget }: Compacting): CompactionCause | undefined => {
  if (budget === undefined || thread.uncompacted >= mostFailures) return undefined
  if (progress.overflow === 'refused') return 'refused'
  if (percent === 0 || progress.uncompacted === progress.turns || thread.messages.length <= thread.compacted)
    return undefined
  // Beyond the limit of the thread its oldest runs go unread, however long the window is.
  return shownBytes(thread) > (Math.min(budget.bytes, thread.limit) * percent) / 100 ? 'window' : undefined
}

/** Undefined if there is nothing to do; else true once the conversation must be looked at anew. */
export const compactFor = (execution: Execution, at: Compacting): Promise<boolean> | undefined => {
  const { thread, budget, run } = at
  const cause = causeOf(execution.context.config.compact_at_percent, at)
  if (cause === undefined || budget === undefined) return undefined
  const part = partOf(thread, Math.max(0, budget.bytes), weigh)
  return part === undefined ? undefined : compact(execution, at, { cause, run, isRunning: true, part, budget, weigh })
}

/** Another compaction came first: what this one says would leave a gap. */
const isStale = ({ threads }: EngineContext, run: RunRecord, messages: Thread['messages']): boolean =>
  threads.at(run).messages !== messages

const compact = async (
  execution: Execution,
  { run, thread, progress, attempt }: Compacting,
  compaction: Compaction,
): Promise<boolean> => {
  const { context, controller } = execution
  const { messages, uncompacted } = thread
  const turn = progress.turns + 1
  const untaken = (usage: Usage | undefined): void =>
    changeLazily(execution, (edit) => {
      edit.note({ type: 'usage', turn, attempt, code: 'compaction', ...told({ usage }), ...edit.bill(usage) })
    })
  const { signal } = controller
  const grace = { signal, grace_ms: context.config.stop_grace_ms }
  const summedUp = await within(context.clock, sumUp(context, compaction, { signal, untaken }), grace)
  if (summedUp === undefined) return isCut(execution)
  const { made, asked } = summedUp
  if (isCut(execution) || isStale(context, run, messages)) {
    if (asked) untaken(made.usage)
    return true
  }
  const isLast = made.type === 'compaction_failed' && uncompacted + 1 >= mostFailures
  await change(execution, (edit) => {
    edit.note({ ...made, ...(isLast && { given_up: true as const }), ...(asked && edit.bill(made.usage)) })
  })
  tellCompacted(context, compaction, made)
  if (isLast)
    context.log.warn('a conversation is not summed up any more: it failed too often', {
      session_id: execution.session_id,
      run_id: execution.run_id,
      code: made.code,
    })
  return true
}

const nothing = { compacted: false, code: 'nothing_to_compact', message: 'There is too little to sum up.' } as const
const changed = {
  compacted: false,
  code: 'conversation_changed',
  message: 'The conversation was summed up or cut meanwhile.',
} as const
const nobody = { compacted: false, code: 'not_ready', message: 'Nothing asks models outside of runs now.' } as const
/** Who asked has gone, or the daemon stops. */
export const stopped = { compacted: false, code: 'stopped', message: 'It was stopped before its end.' } as const

/** Sums up the conversation of a session, as its last run would see it. Throws the problems of `Models.ready`. */
export const compactSession = async (
  context: EngineContext,
  run: RunRecord,
  { wish, signal }: SessionCompactionWish,
): Promise<SessionCompaction> => {
  const { session_id, provider } = run
  const route = context.models.ready(provider)
  await context.threads.ready(run)
  const thread = context.threads.at(run)
  const { messages } = thread
  const budget = budgetOf(
    route,
    assemble(context, run, { messages, shown: shownRuns(thread), generation: {}, window: windowFor(route, run.model) }),
    { calibration: context.calibration, session_id },
  )
  const part = budget === undefined ? undefined : partOf(thread, Math.max(0, budget.bytes), weigh)
  if (budget === undefined || part === undefined) return nothing
  const compaction: Compaction = { cause: 'manual', run, isRunning: false, part, budget, weigh, wish }
  const book = (tx: Tx, usage: Usage | undefined): { cost_microusd?: number; price?: string } => {
    const call = { session_id, route: provider, model: run.model, usage, purpose }
    const { sums: { cost_microusd } = {}, price } = context.books()?.book(tx, call) ?? {}
    return cost_microusd === undefined || price === undefined ? {} : { cost_microusd, price }
  }
  const { state, journal } = context.store
  const untaken = (usage: Usage | undefined): void => void state.commit((tx) => void book(tx, usage)).catch(() => {})
  const summedUp = await sumUp(context, compaction, { signal, untaken })
  if (summedUp === undefined) return signal.aborted ? stopped : nobody
  const { made, asked } = summedUp
  const isTaken = await state.commit((tx) => {
    const bill = asked ? book(tx, made.usage) : {}
    if (isStale(context, run, messages)) return false
    tx.append(journal, session_id, { run_id: '', at: tx.now, ...made, ...bill })
    return true
  })
  if (!isTaken) return changed
  tellCompacted(context, compaction, made)
  if (made.type === 'compaction_failed') return { compacted: false, code: made.code, message: made.message }
  const { tokens_before, tokens_after, messages: count } = made
  return { compacted: true, tokens_before, tokens_after, messages: count }
}
