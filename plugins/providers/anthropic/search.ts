/** Searches of the web that the server makes: how they are asked for, kept with their parts, and go back. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/plugin.js'
import type { SearchPart, TextPart, WebPage } from '../../execution/models/contract.js'
import { toolInput } from '../streamed/contract.js'
import type { Block } from './block.js'

/** Searches of one answer. */
const mostSearches = 5

/** The tool as the protocol names it. */
export const searchTool = { type: 'web_search_20250305', name: 'web_search', max_uses: mostSearches }

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const pageIn = (value: Json): WebPage[] => {
  const { url, title } = isJsonObject(value) ? value : {}
  return textIn(url) === '' ? [] : [{ url: textIn(url), title: textIn(title) }]
}

const keep = (block: JsonObject): { readonly metadata: JsonObject } => ({ metadata: { anthropic: { block } } })

export const search = {
  asked({ text, raw }: Block): SearchPart {
    const { input } = toolInput(text)
    const query = isJsonObject(input) ? textIn(input['query']) : ''
    return { type: 'search', queries: query === '' ? [] : [query], pages: [], ...keep({ ...raw, input }) }
  },
  /** Where it failed its content is no list. */
  found({ raw }: Block): SearchPart {
    const { content } = raw
    const code = content !== undefined && isJsonObject(content) ? textIn(content['error_code']) : ''
    const pages = Array.isArray(content) ? content.flatMap(pageIn) : []
    return { type: 'search', queries: [], pages, ...(code !== '' && { failed: code }), ...keep(raw) }
  },
  cited: ({ text, citations }: Block): TextPart => ({
    type: 'text',
    text,
    ...(citations.length > 0 && {
      cites: citations.flatMap(pageIn),
      metadata: { anthropic: { citations } },
    }),
  }),
  /** Those of other providers are left out. */
  wire({ metadata }: SearchPart): object[] {
    const own = metadata?.['anthropic']
    const block = own !== undefined && isJsonObject(own) ? own['block'] : undefined
    return block !== undefined && isJsonObject(block) ? [block] : []
  },
  citations({ metadata }: TextPart): object {
    const own = metadata?.['anthropic']
    const citations = own !== undefined && isJsonObject(own) ? own['citations'] : undefined
    return Array.isArray(citations) ? { citations } : {}
  },
} as const
