/** The member `web` of the status. */
import { array, boolean, doc, object, optional, string } from '../../../../core/plugin.js'
import type { StatusSection } from '../../../operator/status/contract.js'
import type { SearchHost, SearchSettings } from './host.js'

const WebStatus = object({
  allow_cidrs: doc(array(string()), 'Special address ranges that web_fetch may ask.'),
  search: object({
    available: doc(boolean(), 'Whether models have web_search.'),
    engine: optional(string()),
    host: optional(doc(string(), 'Who is asked.')),
    reason: optional(doc(string(), 'Why they have not.')),
    action: optional(doc(string(), 'What to do about it.')),
  }),
})

export const webSection = (
  settings: SearchSettings & { readonly allow_cidrs: readonly string[] },
  host: () => SearchHost,
): StatusSection => ({
  name: 'web',
  schema: WebStatus,
  collect: () => {
    const found = host()
    const { search_engine } = settings
    return {
      allow_cidrs: [...settings.allow_cidrs],
      search: {
        available: found.type === 'ready',
        ...(search_engine !== undefined && { engine: search_engine }),
        ...(found.type === 'ready' && { host: new URL(found.url).host }),
        ...(found.type === 'absent' && { reason: found.reason, action: found.action }),
      },
    }
  },
})
