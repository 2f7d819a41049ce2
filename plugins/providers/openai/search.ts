/** Searches of the web that the server makes: how they are asked for, kept with their parts, and go back. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/plugin.js'
import type { SearchPart, WebPage } from '../../execution/models/contract.js'
import type { Item } from './item.js'

/** The tool as the protocol names it, and what tells the pages that it found. */
export const [searchTool, foundPages] = [{ type: 'web_search' }, 'web_search_call.action.sources'] as const

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

/** Of an annotation, a source or an action that opens a page. */
const pageIn = (value: Json): WebPage[] => {
  const { url, title } = isJsonObject(value) ? value : {}
  return textIn(url) === '' ? [] : [{ url: textIn(url), title: textIn(title) }]
}

const queriesOf = ({ query, queries }: JsonObject): string[] => {
  const several = listIn(queries).flatMap((one) => (textIn(one) === '' ? [] : [textIn(one)]))
  return several.length > 0 ? several : [textIn(query)].filter((one) => one !== '')
}

export const search = {
  /** True of what was searched for, whatever came of it, as it is billed; of other items and actions not. */
  isOne({ type, raw }: Item): boolean {
    const action = raw['action']
    return type === 'search' && action !== undefined && isJsonObject(action) && action['type'] === 'search'
  },
  part({ raw }: Item): SearchPart {
    const action = raw['action'] !== undefined && isJsonObject(raw['action']) ? raw['action'] : {}
    return {
      type: 'search',
      queries: queriesOf(action),
      pages: [...listIn(action['sources']).flatMap(pageIn), ...pageIn(action)],
      ...(raw['status'] === 'failed' && { failed: 'failed' }),
      metadata: { openai: { item: raw } },
    }
  },
  /** Pages that a text cites; annotations are of other kinds too. */
  cites: ({ annotations }: Item): WebPage[] =>
    annotations.filter(({ type }) => type === 'url_citation').flatMap(pageIn),
  /** Undefined for those of other providers. */
  wire({ metadata }: SearchPart): JsonObject | undefined {
    const own = metadata?.['openai']
    const item = own !== undefined && isJsonObject(own) ? own['item'] : undefined
    return item !== undefined && isJsonObject(item) ? item : undefined
  },
} as const
