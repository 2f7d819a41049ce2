/** What `/v1/status` says about budgets. */
import { boolean, doc, integer, object, optional, string, timestamp } from '../../../core/plugin.js'
import type { StatusSection } from '../status/contract.js'
import type { Budgets, Limit, Limits } from './budgets.js'

const most = {
  max_output_tokens: optional(doc(integer(), 'Absent where there is no limit.')),
  max_cost_microusd: optional(doc(integer(), 'Absent where there is no limit.')),
}
const BudgetStatus = object({
  run: object(most),
  session: object(most),
  day: object({
    ...most,
    day: string(),
    output_tokens: integer(),
    cost_microusd: integer(),
    exhausted: boolean(),
    free_at_ms: doc(timestamp(), 'When the day is over.'),
  }),
  price_version: optional(doc(string(), 'Of the price table; absent without prices.')),
})

const shown = ({ output_tokens, cost_microusd }: Limit) => ({
  ...(output_tokens > 0 && { max_output_tokens: output_tokens }),
  ...(cost_microusd > 0 && { max_cost_microusd: cost_microusd }),
})

export const budgetSection = (budgets: Budgets, limits: Limits, price_version: string | undefined): StatusSection => ({
  name: 'budgets',
  schema: BudgetStatus,
  collect: () => {
    const { day, sums, exhausted, free_at_ms } = budgets.today()
    const { output_tokens, cost_microusd = 0 } = sums
    return {
      run: shown(limits.run),
      session: shown(limits.session),
      day: { ...shown(limits.day), day, output_tokens, cost_microusd, exhausted, free_at_ms },
      ...(price_version !== undefined && { price_version }),
    }
  },
})
