import {
  array,
  defaulted,
  doc,
  integer,
  number,
  object,
  optional,
  rule,
  isZone,
  string,
  type Infer,
} from '../../../core/plugin.js'

const price = (sentence: string) =>
  doc(integer({ min: 0 }), `${sentence}, millionths of a US dollar per million tokens.`)
const most = (fallback: number, sentence: string) =>
  doc(defaulted(integer({ min: 0 }), fallback), `${sentence} 0 is no limit.`)
const dollars = (fallback: number, sentence: string) =>
  doc(defaulted(number({ min: 0, max: 1e9 }), fallback), `${sentence} 0 is no limit, less than a millionth is one.`)

export const Price = object({
  route: optional(
    doc(
      string({ min: 1, max: 200, pattern: '^[^*]*$', told: 'must be the id of one route, without a star' }),
      'Id of the model route; any when absent.',
    ),
  ),
  model: optional(
    doc(
      string({
        min: 1,
        max: 200,
        pattern: '^[^*]*\\*?$',
        told: 'must be a name, or its beginning with one star behind it',
      }),
      'Name of the model, or its beginning with a star behind it; any when absent.',
    ),
  ),
  input: price('Input'),
  cached_input: optional(price('Input from a cache; as other input when absent')),
  output: price('Output'),
  searches: optional(
    doc(
      integer({ min: 0 }),
      'Searches by the server of the model, millionths of a US dollar per thousand; free when absent.',
    ),
  ),
})
export type Price = Infer<typeof Price>

/** Of one run where nobody says another. */
export const defaultRunCostUsd = 500

export const usageConfig = object({
  prices: doc(
    defaulted(array(Price, { max: 1000 }), []),
    'What tokens and searches cost. The first that fits a call counts.',
  ),
  price_version: optional(
    doc(string({ min: 1, max: 100 }), 'Name of this table, kept with each call; a digest of it when absent.'),
  ),
  day_zone: doc(
    defaulted(
      rule(string({ min: 1, max: 100 }), 'must be the name of an IANA time zone, such as Europe/Berlin', isZone),
      'UTC',
    ),
    'Where days begin.',
  ),
  max_run_output_tokens: most(1_000_000, 'Output tokens of one run.'),
  max_run_cost_usd: dollars(defaultRunCostUsd, 'Cost of one run, US dollars.'),
  max_session_output_tokens: most(0, 'Output tokens of one session.'),
  max_session_cost_usd: dollars(0, 'Cost of one session, US dollars.'),
  max_day_output_tokens: most(0, 'Output tokens of a day, of all sessions.'),
  max_day_cost_usd: dollars(0, 'Cost of a day, of all sessions, US dollars.'),
})
export type UsageConfig = Infer<typeof usageConfig>

export const usageFlags = {
  max_run_output_tokens: 'model-budget-max-total-output-tokens',
  max_run_cost_usd: 'model-budget-max-total-cost-usd',
}
