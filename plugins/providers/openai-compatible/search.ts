/** Searches of the web that a vendor's server makes: chat completions tell no more of them than the pages cited. */
import type { SearchPart, WebPage } from '../../execution/models/contract.js'
import { isLink } from '../streamed/contract.js'

const filled = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Of an annotation; those of other kinds are none. */
const pageIn = (value: unknown): WebPage[] => {
  const cited = isLink(value) && value['type'] === 'url_citation' ? value['url_citation'] : undefined
  if (!isLink(cited) || filled(cited['url']) === '') return []
  return [{ url: filled(cited['url']), title: filled(cited['title']) }]
}

const nothing: readonly WebPage[] = []

export const search = {
  /** Pages that a piece of an answer cites. Servers put other things there too: what is no list says nothing. */
  cites: (annotations: unknown): readonly WebPage[] =>
    Array.isArray(annotations) ? annotations.flatMap(pageIn) : nothing,
  /** Pages may be told again with each piece. */
  add(to: Map<string, WebPage>, pages: readonly WebPage[]): void {
    for (const page of pages) if (!to.has(page.url)) to.set(page.url, page)
  },
  /** What was found, as far as it is told; it has nothing that could go back. */
  parts: (pages: readonly WebPage[]): SearchPart[] =>
    pages.length === 0 ? [] : [{ type: 'search', queries: [], pages: [...pages] }],
} as const
