import { array, defaulted, doc, integer, isCidr, object, rule, string, type Infer } from '../../../core/plugin.js'

export const httpConfig = object({
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that replies may reach, such as the one a local proxy answers names from.',
  ),
  timeout_ms: doc(
    defaulted(integer({ min: 100, max: 120_000 }), 15_000),
    'Longest delivery, from the lookup of the name to the answer. Milliseconds.',
  ),
})
export type HttpConfig = Infer<typeof httpConfig>
