/** Models whose calls count towards no budget in dollars, because nobody says what they cost. */
import { count, visibleLine, type HealthCheck, type Warning } from '../../../core/plugin.js'
import type { Limits } from './budgets.js'
import { defaultRunCostUsd } from './config.js'
import type { Prices } from './prices.js'

export interface UnpricedParts {
  readonly limits: Limits
  readonly prices: Pick<Prices, 'find'>
  /** False where there are no prices at all. */
  readonly priced: boolean
  /** The routes that runs may use, with the model that each has by itself. */
  readonly routes: () => readonly { readonly route_id: string; readonly model: string }[]
}

export interface Unpriced {
  /** A model was called that has no price. */
  called(route: string, model: string): void
  readonly health: HealthCheck
}

/** Models that were called and are remembered, and those that are named. */
const [mostCalled, mostNamed] = [100, 5]

/** The limit that holds for runs where nobody set one is no budget of somebody who counts on it. */
const isInDollars = ({ run, session, day }: Limits): boolean =>
  session.cost_microusd + day.cost_microusd > 0 ||
  (run.cost_microusd > 0 && run.cost_microusd !== defaultRunCostUsd * 1e6)

const withoutPrices: Warning = {
  severity: 'warning',
  code: 'budget_without_prices',
  message: 'A budget is set in US dollars, and there are no prices: nothing more counts towards it.',
  action: 'Add [[prices]] to config/usage.toml and restart the daemon, or set a budget of output tokens.',
}
const withoutPrice = (names: readonly string[]): Warning => {
  const more = names.length > mostNamed ? ` and ${count(names.length - mostNamed, 'other')}` : ''
  return {
    severity: 'warning',
    code: 'model_without_price',
    message:
      `A budget is set in US dollars, and no price fits ${names.slice(0, mostNamed).join(', ')}${more}: ` +
      'calls of it count as free, and no such budget stops them.',
    action:
      'Add [[prices]] that fit to config/usage.toml (0 for what is free) and restart the daemon, ' +
      'or set a budget of output tokens.',
  }
}

export const createUnpriced = ({ limits, prices, priced, routes }: UnpricedParts): Unpriced => {
  const seen = new Set<string>()
  const nameOf = (route: string, model: string): string => visibleLine(`${model} of the route ${route}`)
  const unpriced = (): string[] => {
    const ofRoutes = routes().filter(
      ({ route_id, model }) => model !== '' && prices.find(route_id, model) === undefined,
    )
    return [...new Set([...ofRoutes.map(({ route_id, model }) => nameOf(route_id, model)), ...seen])]
  }
  const check = (): Warning[] => {
    if (!isInDollars(limits)) return []
    if (!priced) return [withoutPrices]
    const names = unpriced()
    return names.length === 0 ? [] : [withoutPrice(names)]
  }
  return {
    called(route, model) {
      if (seen.size < mostCalled) seen.add(nameOf(route, model))
    },
    health: { id: 'prices', check },
  }
}
