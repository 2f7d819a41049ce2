/** Books what model calls used. */
import { createCount, type Metric, type Sample, type Tx } from '../../../core/plugin.js'
import type { Budgets } from './budgets.js'
import { countCall, type UsageLimit, type UsageBooks, type UsageSums } from './contract.js'
import type { DayBooks } from './day-books.js'
import type { Days } from './days.js'
import { costOf, type Prices } from './prices.js'
import type { SessionIds } from './session-ids.js'
import type { SessionTotals } from './session-totals.js'
import { withSessionCall, type UsageStore } from './store.js'
import type { Unpriced } from './unpriced.js'

export interface BookParts {
  readonly store: UsageStore
  readonly day_books: DayBooks
  readonly totals: SessionTotals
  readonly session_ids: SessionIds
  readonly prices: Prices
  readonly days: Days
  readonly budgets: Budgets
  readonly unpriced: Pick<Unpriced, 'called'>
  /** Those of other plugins. */
  readonly limits: () => readonly UsageLimit[]
}

export const createBooks = ({
  store,
  day_books,
  totals,
  session_ids,
  prices,
  days,
  budgets,
  unpriced,
  limits,
}: BookParts): UsageBooks & { metrics: Metric[] } => {
  const measured = createUsageMetrics()
  return {
    used: totals.of,
    refusal(spender) {
      const own = budgets.refusal(spender)
      if (own !== undefined) return own
      for (const limit of limits()) {
        const refused = limit.refusal(spender)
        if (refused !== undefined) return refused
      }
      return undefined
    },
    metrics: measured.metrics,
    book(tx: Tx, { session_id, route, model, usage, purpose }) {
      const counted = countCall(usage)
      const price = prices.find(route, model)
      const sums = price === undefined ? counted : { ...counted, cost_microusd: costOf(price, counted) }
      const day = days.of(tx.now)
      const call = { route, sums, purpose }
      const session = session_id === undefined ? undefined : withSessionCall(store, { day, session_id }, call)
      if (session !== undefined) {
        totals.books(session.session_id, day)
        tx.put(store.sessions, session)
      }
      day_books.add(tx, day, { call, session })
      tx.after(() => {
        measured.add(route, sums)
        if (price === undefined) unpriced.called(route, model)
        if (session_id !== undefined) session_ids.add(session_id)
      })
      return price === undefined ? { sums } : { sums, price: prices.version }
    },
  }
}

const createUsageMetrics = () => {
  const calls = createCount({
    name: 'service_model_calls_total',
    help: 'Model calls that have ended since the start, by route.',
    labels: ['route'],
  })
  const tokens = createCount({
    name: 'service_model_tokens_total',
    help: 'Tokens since the start, by route and kind; cached ones are of the input, reasoning ones of the output.',
    labels: ['route', 'kind'],
  })
  const cost = createCount({
    name: 'service_model_cost_usd_total',
    help: 'Cost of model calls since the start by the price table, by route.',
    labels: ['route'],
  })
  const add = (route: string, sums: UsageSums): void => {
    calls.add(1, route)
    tokens.add(sums.input_tokens, route, 'input')
    tokens.add(sums.output_tokens, route, 'output')
    if (sums.cached_input_tokens !== undefined) tokens.add(sums.cached_input_tokens, route, 'cached_input')
    if (sums.reasoning_tokens !== undefined) tokens.add(sums.reasoning_tokens, route, 'reasoning')
    if (sums.cost_microusd !== undefined) cost.add(sums.cost_microusd, route)
  }
  // Millionths are summed whole: sums of fractions would come to differ from the books.
  const inDollars = (): Sample[] => [...cost.metric.collect()].map((one) => ({ ...one, value: one.value / 1e6 }))
  return { add, metrics: [calls.metric, tokens.metric, { ...cost.metric, collect: inDollars }] }
}
