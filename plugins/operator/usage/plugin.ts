import { createTurns, definePlugin, Metrics } from '../../../core/plugin.js'
import { Models } from '../../execution/models/contract.js'
import { Reasons } from '../explanations/contract.js'
import { StatusSections } from '../status/contract.js'
import { createBooks } from './books.js'
import { createBudgets, limitsOf } from './budgets.js'
import { usageConfig, usageFlags } from './config.js'
import { UsageLimits, UsageBooks } from './contract.js'
import { createDayBooks } from './day-books.js'
import { createDays } from './days.js'
import { createPrices } from './prices.js'
import { budgetReasons } from './explained.js'
import { usageRoute } from './routes.js'
import { budgetSection } from './status.js'
import { createSessionIds } from './session-ids.js'
import { createSessionTotals } from './session-totals.js'
import { declareStore } from './store.js'
import { createUnpriced } from './unpriced.js'

export default definePlugin({
  id: 'usage',
  version: '1.0.0',
  api: 1,
  summary: 'What model calls used and cost, and budgets that stop runs.',
  wants: { models: Models },
  provides: [UsageBooks],
  config: usageConfig,
  flags: usageFlags,
  register(ctx, { models }) {
    const { config, clock, state, log } = ctx
    const store = declareStore(state)
    const day_books = createDayBooks({ state, store, log })
    const [totals, session_ids] = [createSessionTotals(store), createSessionIds(store)]
    const [prices, days, limits] = [createPrices(config), createDays(config.day_zone), limitsOf(config)]
    const priced = config.prices.length > 0
    const budgets = createBudgets({ day_books, totals, days, clock, limits })
    const unpriced = createUnpriced({ limits, prices, priced, routes: () => models()?.list() ?? [] })
    const books = createBooks({
      store,
      day_books,
      totals,
      session_ids,
      prices,
      days,
      budgets,
      unpriced,
      limits: ctx.view(UsageLimits),
    })
    ctx.provide(UsageBooks, books)
    ctx.routes(usageRoute({ store, day_books, session_ids }))
    ctx.contribute(Metrics, ...books.metrics)
    ctx.contribute(Reasons, budgetReasons(budgets))
    ctx.contribute(StatusSections, budgetSection(budgets, limits, priced ? prices.version : undefined))
    ctx.health(budgets.health)
    ctx.health(unpriced.health)
    ctx.onStart(async () => {
      await day_books.begin(createTurns())
      return day_books.end
    })
  },
})
