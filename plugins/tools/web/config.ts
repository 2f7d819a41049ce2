import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  isCidr,
  object,
  optional,
  refusedUrl,
  rule,
  string,
  type Infer,
} from '../../../core/plugin.js'
import { engineNames } from './search/engines.js'

const anywhere = { allow_private_network: true }

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
  search_engine: optional(
    doc(enums(engineNames), 'Who answers web_search: `searxng`, a server of your own, or `brave`, the API of Brave.'),
  ),
  search_url: optional(
    doc(
      rule(string({ max: 2_000 }), 'must be an http or https URL', (url) => refusedUrl(url, anywhere) === undefined),
      'Where searches are asked: of SearXNG the address that ends in /search. It is the one address that may be any, ' +
        'for no model names it.',
    ),
  ),
  search_auth_ref: optional(doc(string({ max: 200 }), 'Stored secret that is the key of the search host.')),
})
export type WebConfig = Infer<typeof WebConfig>
