/** One compaction: who looks at it is asked, then the model; what comes of it is for the journal (prompt-7). */
import type { Clock } from '../../../../core/plugin.js'
import type { Consultations, Consulted } from '../../consultations/contract.js'
import type { Interception, Invocation } from '../../interception/contract.js'
import { failureClasses, type Usage } from '../../models/contract.js'
import type { RunRecord } from '../../runs/contract.js'
import type { CompactionCause, JournalEntry } from '../../sessions/contract.js'
import type { Budget } from './budget.js'
import { leftOut, type Weigh } from './cut.js'
import type { Part } from './compaction.js'
import { longestSummary, summaryMessage, summaryPrompt, summaryText, summaryTokens } from './summary.js'

type Entry<T extends JournalEntry['type']> = Omit<Extract<JournalEntry, { type: T }>, 'run_id' | 'at'>

/** What is written down, but for what it cost. */
export type Compacted = Entry<'compaction'> | Entry<'compaction_failed'>

/** What came of it; `asked`: a model was asked, and that call counts however it ended. */
export interface SummedUp {
  readonly made: Compacted
  readonly asked: boolean
}

export interface Compaction {
  readonly cause: CompactionCause
  /** The run, or the last of the session, whose route and model sum up. */
  readonly run: RunRecord
  /** True if it is done for that run. */
  readonly isRunning: boolean
  readonly part: Part
  readonly budget: Budget
  readonly weigh: Weigh
  /** What whoever asked wants of the summary. */
  readonly wish?: string | undefined
}

export interface Summers {
  readonly clock: Clock
  readonly consultations: () => Consultations | undefined
  readonly interception: () => Interception | undefined
}

/** So much of what it summed up must be won, or the summary is of no use. */
const least = 0.2
/** Bytes of what is summed up at most, whatever the window is. */
const mostBytes = 2_000_000

const invocationOf = (
  { run, isRunning, cause: trigger, part, budget }: Compaction,
  event: 'pre_compact' | 'post_compact',
  more: Invocation['payload'] = {},
): Invocation => ({
  event,
  subject: trigger,
  session_id: run.session_id,
  agent_id: run.agent_id,
  ...(isRunning && { run_id: run.run_id }),
  payload: { trigger, tokens_before: budget.tokens(part.bytes), ...more },
})

const failed = (cause: CompactionCause, code: string, message: string): Entry<'compaction_failed'> => ({
  type: 'compaction_failed',
  cause,
  code,
  message,
})

/** What it is booked for where no run does it. */
export const purpose = 'compaction'

/** What the model is asked with; the characters are those of the bytes that fit, and most letters have one. */
const question = ({ run, isRunning, part, budget, wish }: Compaction, contexts: readonly string[]) => ({
  purpose,
  session_id: run.session_id,
  ...(isRunning && { run_id: run.run_id }),
  route_id: run.provider,
  generation: { model: run.model, max_output_tokens: summaryTokens },
  system: [summaryPrompt, ...(wish === undefined ? [] : [wish]), ...contexts].join('\n\n'),
  texts: [
    summaryText(
      part.lacking ? [leftOut, ...part.messages] : part.messages,
      Math.max(1_000, Math.min(mostBytes, (budget.bytes + budget.beside) / 2)),
    ),
  ],
  most: longestSummary,
  unbooked: true as const,
})

/** Signs that have a shape. */
const seen = /[^\s\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\ufffd]/u

const classes: ReadonlySet<string> = new Set(failureClasses)
/** What a model failed with is called as where a run fails with it. */
const codeOf = (code: string): string => (classes.has(code) ? `model_${code}` : code)

const judged = (compaction: Compaction, answer: Consulted): Compacted => {
  const { cause, part, budget, weigh } = compaction
  const usage = answer.usage === undefined ? {} : { usage: { ...answer.usage } }
  if (answer.type === 'failed') return { ...failed(cause, codeOf(answer.code), answer.message), ...usage }
  const summary = answer.text.trim()
  if (!seen.test(summary)) return { ...failed(cause, 'summary_empty', 'The model gave no summary.'), ...usage }
  const after = part.kept + weigh(summaryMessage(summary))
  if (after > part.bytes * (1 - least))
    return { ...failed(cause, 'summary_useless', 'The summary is about as long as what it sums up.'), ...usage }
  return {
    type: 'compaction',
    cause,
    from: part.from,
    messages: part.messages.length,
    tokens_before: budget.tokens(part.bytes),
    tokens_after: budget.tokens(after),
    summary,
    ...(part.lacking && { lacking: true as const }),
    ...usage,
  }
}

/** Undefined if it was ended, or nobody can be asked. A call that was made until then is told by `untaken`. */
export const sumUp = async (
  { consultations, interception }: Summers,
  compaction: Compaction,
  { signal, untaken }: { readonly signal: AbortSignal; readonly untaken: (usage: Usage | undefined) => void },
): Promise<SummedUp | undefined> => {
  const service = consultations()
  if (service === undefined) return undefined
  const isWatched = interception()?.wants('pre_compact') === true
  const ruling = isWatched ? await interception()?.ask(invocationOf(compaction, 'pre_compact'), signal) : undefined
  if (signal.aborted) return undefined
  if (ruling?.block !== undefined)
    return { made: failed(compaction.cause, 'hook_blocked', ruling.block.slice(0, 500)), asked: false }
  const answer = await service.ask(question(compaction, ruling?.contexts ?? []), signal)
  const asked = answer.type === 'text' || answer.asked === true
  if (signal.aborted && answer.type === 'failed') {
    if (asked) untaken(answer.usage)
    return undefined
  }
  return { made: judged(compaction, answer), asked }
}

/** Told once it is durable. */
export const tellCompacted = ({ interception }: Summers, compaction: Compaction, made: Compacted): void => {
  if (made.type !== 'compaction') return
  const { tokens_after, summary } = made
  interception()?.tell(invocationOf(compaction, 'post_compact', { tokens_after, summary }))
}
