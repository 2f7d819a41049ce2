/** What model calls used and cost. Rules: docs/rules/usage.md. */
import {
  answerOf,
  commandLine,
  definePoint,
  defineToken,
  doc,
  hasMembers,
  integer,
  optional,
  string,
  withAnswers,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import type { Usage } from '../../execution/models/contract.js'

/** What calls used together. Tokens from a cache are of the input, those of thoughts are of the output. */
export type UsageSums = {
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens?: number
  readonly reasoning_tokens?: number
  readonly searches?: number
  /** Absent where no call had a price. */
  readonly cost_microusd?: number
}

const tokens = () => integer({ min: 0 })
/** The structs of `UsageSums`, to spread into an object. */
export const usageFields = {
  calls: doc(
    integer({ min: 0 }),
    'Calls of models that have ended, those that failed too: attempts at an answer, and what tools asked for.',
  ),
  input_tokens: doc(tokens(), 'As the provider told, with those from a cache.'),
  output_tokens: doc(tokens(), 'As the provider told, with those of thoughts.'),
  cached_input_tokens: optional(tokens()),
  reasoning_tokens: optional(tokens()),
  searches: optional(doc(tokens(), 'Searches of the web that servers of models made, where they tell of them.')),
  cost_microusd: optional(
    doc(tokens(), 'Millionths of a US dollar by the price table; absent where no call had a price.'),
  ),
}

const whole = (value: number | undefined): number =>
  value !== undefined && value > 0 && Number.isFinite(value) ? Math.min(Math.round(value), 1e12) : 0

/** What not every call has. */
const beside = ['cached_input_tokens', 'reasoning_tokens', 'searches', 'cost_microusd'] as const

type Draft = { -readonly [K in keyof UsageSums]: UsageSums[K] }

/** One call, by what its provider told of it: nothing where it told nothing. */
export const countCall = (usage: Usage | undefined): UsageSums => {
  const sums: Draft = { calls: 1, input_tokens: whole(usage?.input_tokens), output_tokens: whole(usage?.output_tokens) }
  const [cached, reasoning] = [whole(usage?.cached_input_tokens), whole(usage?.reasoning_tokens)]
  const searches = whole(usage?.searches)
  if (cached > 0) sums.cached_input_tokens = cached
  if (reasoning > 0) sums.reasoning_tokens = reasoning
  if (searches > 0) sums.searches = searches
  return sums
}

/** What two used together. */
export const addUsage = (a: UsageSums | undefined, b: UsageSums): UsageSums => {
  if (a === undefined) return b
  const sums: Draft = {
    calls: a.calls + b.calls,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
  }
  for (const key of beside) if (a[key] !== undefined || b[key] !== undefined) sums[key] = (a[key] ?? 0) + (b[key] ?? 0)
  return sums
}

/** What one has used that another has not, which is part of it. */
export const lessUsage = (whole: UsageSums, part: UsageSums): UsageSums => {
  const sums: Draft = {
    calls: whole.calls - part.calls,
    input_tokens: whole.input_tokens - part.input_tokens,
    output_tokens: whole.output_tokens - part.output_tokens,
  }
  for (const key of beside) if (whole[key] !== undefined) sums[key] = whole[key] - (part[key] ?? 0)
  return sums
}

/** A model call that has ended, however. */
export interface EndedCall {
  /** None of what is the daemon's own matter: its day alone has it. */
  readonly session_id?: string | undefined
  readonly route: string
  readonly model: string
  readonly usage?: Usage | undefined
  /** What it was for, a short word, where it was asked outside of runs. */
  readonly purpose?: string
}
/** A call of a model that a tool made for its run: the route and model that it asked, and what their server told. */
export type ToolUse = { readonly route: string; readonly model: string; readonly usage?: Usage }
/** A call as it is booked; `price` is the version of the table that it was priced by. */
export interface Booked {
  readonly sums: UsageSums
  readonly price?: string
}
/** What is to be asked for more. */
export interface Spender {
  readonly session_id?: string | undefined
  readonly run_id?: string | undefined
  /** Of the run so far. */
  readonly usage?: UsageSums | undefined
}

/** May stop a run before its next model call, beside the budgets of the configuration. */
export interface UsageLimit {
  readonly id: string
  /** As `UsageBooks.refusal`, with a code of its own. Must be fast and must not throw: asked before every call. */
  refusal(spender: Spender): string | undefined
}
/** Everything that limits what runs may use. */
export const UsageLimits: Point<UsageLimit> = withAnswers(
  definePoint<UsageLimit>(
    'usage-limits@1',
    ({ id }) => id,
    hasMembers('a limit of usage', { id: 'id', refusal: 'function' }),
  ),
  {
    // Who cannot say what may be spent lets nothing be spent.
    refusal: answerOf(
      string({
        max: 1_000,
        pattern: '^[a-z][a-z0-9_]*: .',
        told: 'must be a code, a colon and a sentence, such as budget_spent: Nothing is left.',
      }),
      undefined,
      { named: (plugin) => `usage_limit_failed: the plugin ${plugin} cannot say whether more may be used.` },
    ),
  },
)

/** What has a budget in the configuration. */
export type Budgeted = 'run' | 'session' | 'day'
const usedUp = (of: Budgeted): string => `the budget of the ${of} is used up`
/** How every refusal by a budget of the configuration begins. */
export const budgetExhausted = (of: Budgeted): string => `budget_exhausted: ${usedUp(of)}`
/** Why no further call may be made: the code and the sentence of a refusal. */
export const refusalParts = (refusal: string): { readonly code: string; readonly message: string } => {
  const at = refusal.indexOf(': ')
  const said = refusal.slice(at + 2)
  return { code: refusal.slice(0, at), message: said.slice(0, 1).toUpperCase() + said.slice(1) }
}
/** Whose budget the error of a run, or a part of it, tells of. */
export const budgetOf = (error: string): Budgeted | undefined =>
  (['run', 'session', 'day'] as const).find((of) => error.includes(usedUp(of)))

/** The line that shows what has used up the budget that a refusal, or a part of it, tells of. */
export const usageLine = (refusal: string, session_id: string | undefined): string =>
  session_id !== undefined && budgetOf(refusal) === 'session'
    ? commandLine('usage --session-id', session_id)
    : commandLine('usage')

/** Keeps what is used, and says when it is enough. */
export interface UsageBooks {
  /** Adds a call to the sums of its session and day, in the commit that adds it to its run, if it has one. */
  book(tx: Tx, call: EndedCall): Booked
  /** What a session has used, on all its days: exact, with what waits for the disk. */
  used(session_id: string): UsageSums
  /** Why no further call may be made: a code, a colon and a sentence. Undefined if it may. */
  refusal(spender: Spender): string | undefined
}
export const UsageBooks: Token<UsageBooks> = defineToken<UsageBooks>('usage@1')
