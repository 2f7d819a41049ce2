import { array, defaulted, doc, integer, isCidr, object, rule, string, type Infer } from '../../../core/plugin.js'

export const WebConfig = object({
  allow_cidrs: doc(
    defaulted(array(rule(string(), 'must be an address range such as 198.18.0.0/15', isCidr), { max: 100 }), []),
    'Special address ranges that web_fetch may ask, such as 10.0.0.0/8 for pages of the own network, or 127.0.0.0/8. ' +
      'Whatever models write, they can ask what is in these ranges.',
  ),
  timeout_ms: doc(
    defaulted(integer({ min: 100, max: 170_000 }), 30_000),
    'Longest fetch or search, from the lookup of the name to the last byte, redirects included. Milliseconds.',
  ),
  page_bytes: doc(
    defaulted(integer({ min: 1_024, max: 16 * 1024 * 1024 }), 4 * 1024 * 1024),
    'Bytes of a page that are read, compressed or not; what is beyond is left off.',
  ),
  result_bytes: doc(
    defaulted(integer({ min: 1_024, max: 1024 * 1024 }), 64 * 1024),
    'Bytes of the text of a page that one call answers.',
  ),
})
export type WebConfig = Infer<typeof WebConfig>
