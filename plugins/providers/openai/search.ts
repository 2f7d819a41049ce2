/** Searches of the web that the server makes: how they are asked for, kept with their parts, and go back. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/plugin.js'
import type { SearchPart, WebPage } from '../../execution/models/contract.js'
import { countIn, isLink } from '../streamed/contract.js'
import type { Item } from './item.js'

/** The tool as the protocol names it, and what tells the pages that it found. */
export const [searchTool, foundPages] = [{ type: 'web_search' }, 'web_search_call.action.sources'] as const

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

/** The number of a page, or its address, is no title. */
const titleIn = (title: Json | undefined, url: string): string =>
  textIn(title) === url || /^\d+$/u.test(textIn(title)) ? '' : textIn(title)

/** Of an annotation, a source or an action that opens a page. */
const pageIn = (value: Json): WebPage[] => {
  const { url, title } = isJsonObject(value) ? value : {}
  return textIn(url) === '' ? [] : [{ url: textIn(url), title: titleIn(title, textIn(url)) }]
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
  part({ raw }: Item, provider: string): SearchPart {
    const action = raw['action'] !== undefined && isJsonObject(raw['action']) ? raw['action'] : {}
    return {
      type: 'search',
      queries: queriesOf(action),
      pages: [...listIn(action['sources']).flatMap(pageIn), ...pageIn(action)],
      ...(raw['status'] === 'failed' && { failed: 'failed' }),
      metadata: { [provider]: { item: raw } },
    }
  },
  /** Undefined where the server counts none. */
  countedIn(usage: unknown): number | undefined {
    const details = isLink(usage) ? usage['server_side_tool_usage_details'] : undefined
    return isLink(details) ? countIn(details['web_search_calls']) : undefined
  },
  /**
   * Pages that a text cites; annotations are of other kinds too. Where some have a place in it, the others are those
   * that were looked at.
   */
  cites({ annotations }: Item): WebPage[] {
    const all = annotations.filter(({ type }) => type === 'url_citation')
    const placed = all.filter(({ end_index: end }) => typeof end === 'number' && end > 0)
    return (placed.length > 0 ? placed : all).flatMap(pageIn)
  },
  /** Undefined for those of other providers. */
  wire({ metadata }: SearchPart, provider: string): JsonObject | undefined {
    const own = metadata?.[provider]
    const item = own !== undefined && isJsonObject(own) ? own['item'] : undefined
    return item !== undefined && isJsonObject(item) ? item : undefined
  },
} as const
