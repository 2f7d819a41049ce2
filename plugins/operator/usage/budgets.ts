/** How much may be used by a run, a session and a day, and what is said when that is used up. */
import { commandLine, type Clock, type HealthCheck, type Warning } from '../../../core/plugin.js'
import type { UsageConfig } from './config.js'
import { budgetExhausted, type Budgeted, type Spender, type UsageSums } from './contract.js'
import type { Days } from './days.js'
import type { DayBooks } from './day-books.js'
import type { SessionTotals } from './session-totals.js'
import { totalOf } from './store.js'

/** 0 is no limit. */
export interface Limit {
  readonly output_tokens: number
  readonly cost_microusd: number
}
export type Limits = Readonly<Record<Budgeted, Limit>>

/** What is less than a millionth counts as one: 0 is no limit. */
const micro = (usd: number): number => (usd === 0 ? 0 : Math.max(1, Math.round(usd * 1e6)))

export const limitsOf = (config: UsageConfig): Limits => ({
  run: { output_tokens: config.max_run_output_tokens, cost_microusd: micro(config.max_run_cost_usd) },
  session: { output_tokens: config.max_session_output_tokens, cost_microusd: micro(config.max_session_cost_usd) },
  day: { output_tokens: config.max_day_output_tokens, cost_microusd: micro(config.max_day_cost_usd) },
})

export interface BudgetParts {
  readonly day_books: Pick<DayBooks, 'find'>
  readonly totals: SessionTotals
  readonly days: Days
  readonly clock: Clock
  readonly limits: Limits
}

export interface Budgets {
  refusal(spender: Spender): string | undefined
  /** Of today so far. */
  today(): { readonly day: string; readonly sums: UsageSums; readonly free_at_ms: number; readonly exhausted: boolean }
  readonly health: HealthCheck
}

const isLimited = ({ output_tokens, cost_microusd }: Limit): boolean => output_tokens > 0 || cost_microusd > 0

/** What of a limit is used up, in words. */
const usedUp = (limit: Limit, { output_tokens, cost_microusd = 0 }: UsageSums): string | undefined => {
  if (limit.output_tokens > 0 && output_tokens >= limit.output_tokens)
    return `${output_tokens} of ${limit.output_tokens} output tokens`
  if (limit.cost_microusd > 0 && cost_microusd >= limit.cost_microusd)
    return `${usd(cost_microusd)} of ${usd(limit.cost_microusd)} USD`
  return undefined
}
const usd = (microusd: number): string => (microusd / 1e6).toFixed(6).replace(/\.?0+$/u, '')
const moment = (ms: number): string => new Date(ms).toISOString().replace('.000', '')

export const createBudgets = (parts: BudgetParts): Budgets => {
  const { day_books, totals, days, clock, limits } = parts
  const today = () => {
    const now = clock.now()
    const day = days.of(now)
    const sums = totalOf([day_books.find(day)])
    return { day, sums, free_at_ms: days.endOf(now), exhausted: usedUp(limits.day, sums) !== undefined }
  }
  const refusal = ({ session_id, usage }: Spender): string | undefined => {
    const run = usage === undefined ? undefined : usedUp(limits.run, usage)
    if (run !== undefined) return refused('run', run, notByItself('run'))
    const isOfSession = session_id !== undefined && isLimited(limits.session)
    const session = isOfSession ? usedUp(limits.session, totals.of(session_id)) : undefined
    if (session !== undefined) return refused('session', session, notByItself('session'))
    if (!isLimited(limits.day)) return undefined
    const { sums, free_at_ms } = today()
    const day = usedUp(limits.day, sums)
    return day === undefined ? undefined : refused('day', day, `It is free again at ${moment(free_at_ms)}.`)
  }
  return { refusal, today, health: { id: 'budgets', check: () => dayWarning(parts, today()) } }
}

const refused = (of: Budgeted, used: string, free: string): string => `${budgetExhausted(of)}: ${used}. ${free}`
const notByItself = (of: Budgeted): string =>
  `It is not free again by itself: raise max_${of}_output_tokens or max_${of}_cost_usd in config/usage.toml ` +
  'and restart the daemon.'

const dayWarning = ({ limits }: BudgetParts, { day, sums, free_at_ms }: ReturnType<Budgets['today']>): Warning[] => {
  const used = usedUp(limits.day, sums)
  if (used === undefined) return []
  return [
    {
      severity: 'warning',
      code: 'budget_exhausted',
      related_id: day,
      message:
        `The budget of the day is used up: ${used}. ` +
        `Runs stop before their next model call until ${moment(free_at_ms)}.`,
      action:
        `See what used it: ${commandLine('usage --by session --from', day)}. ` +
        'To go on before that, raise the budget in config/usage.toml and restart the daemon.',
    },
  ]
}
