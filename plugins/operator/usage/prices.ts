/** What a call costs. */
import { digest } from '../../../core/plugin.js'
import type { Price, UsageConfig } from './config.js'
import type { UsageSums } from './contract.js'

export interface Prices {
  /** Of the table. */
  readonly version: string
  /** The first that fits; undefined if none does. */
  find(route: string, model: string): Price | undefined
}

const fits = (pattern: string | undefined, name: string): boolean =>
  pattern === undefined || (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)

export const createPrices = ({ prices, price_version }: Pick<UsageConfig, 'prices' | 'price_version'>): Prices => ({
  version: price_version ?? digest(JSON.stringify(prices)).slice(0, 12),
  find: (route, model) => prices.find((one) => (one.route ?? route) === route && fits(one.model, model)),
})

/** Whole millionths of a dollar, rounded up: what is booked is never less than what was used. */
export const costOf = (price: Price, sums: UsageSums): number => {
  const { input_tokens, output_tokens, cached_input_tokens = 0, searches = 0 } = sums
  const cached = Math.min(cached_input_tokens, input_tokens)
  const cost =
    (input_tokens - cached) * price.input + cached * (price.cached_input ?? price.input) + output_tokens * price.output
  // Tokens are priced by the million, searches by the thousand.
  return Math.ceil((cost + searches * (price.searches ?? 0) * 1000) / 1e6)
}
