/** Searches of the web that the server makes: how they are asked for, kept with their parts, and go back. */
import { isJsonObject, type Json, type JsonObject } from '../../../core/plugin.js'
import type { AssistantPart, SearchPart, WebPage } from '../../execution/models/contract.js'
import { isLink } from '../streamed/contract.js'
import type { Block } from './block.js'

const filled = (value: unknown): string => (typeof value === 'string' ? value : '')
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const wordsIn = (value: unknown): string[] => listIn(value).flatMap((one) => (filled(one) === '' ? [] : [filled(one)]))

/** What the server says of all searches of an answer, told again and again while it grows. */
export interface Grounding {
  readonly queries: Set<string>
  /** By their addresses: those that were found, and of these the ones that the text rests on. */
  readonly pages: Map<string, WebPage>
  readonly cited: Map<string, WebPage>
}

export const beginGrounding = (): Grounding => ({ queries: new Set(), pages: new Map(), cited: new Map() })

/** Chunks are of other kinds too, such as places and files. */
const pageIn = (chunk: unknown): WebPage | undefined => {
  const web = isLink(chunk) ? chunk['web'] : undefined
  return isLink(web) && filled(web['uri']) !== '' ? { url: filled(web['uri']), title: filled(web['title']) } : undefined
}

/** What is no list says nothing. */
export const takeGrounding = ({ queries, pages, cited }: Grounding, metadata: unknown): void => {
  if (!isLink(metadata)) return
  for (const query of wordsIn(metadata['webSearchQueries'])) queries.add(query)
  const found = listIn(metadata['groundingChunks']).map(pageIn)
  for (const page of found) if (page !== undefined) pages.set(page.url, page)
  for (const support of listIn(metadata['groundingSupports']))
    for (const at of listIn(isLink(support) ? support['groundingChunkIndices'] : undefined)) {
      const page = typeof at === 'number' ? found[at] : undefined
      if (page !== undefined) cited.set(page.url, page)
    }
}

const keep = (part: JsonObject): { readonly metadata: JsonObject } => ({ metadata: { google: { part } } })

const queriesIn = (call: Json | undefined): string[] => {
  const args = call !== undefined && isJsonObject(call) ? call['args'] : undefined
  const { queries, query } = args !== undefined && isJsonObject(args) ? args : {}
  const several = wordsIn(queries)
  return several.length > 0 ? several : wordsIn([query])
}

/** A search and its result go back together or not at all: one without the other is refused. */
const settled = (blocks: readonly Block[]): readonly Block[] => {
  const idsOf = (type: Block['type']) => new Set(blocks.flatMap((one) => (one.type === type ? [one.id] : [])))
  const [asked, found] = [idsOf('search'), idsOf('found')]
  const hasOther = ({ type, id }: Block): boolean => (type === 'search' ? found.has(id) : asked.has(id))
  return blocks.filter((one) => (one.type !== 'search' && one.type !== 'found') || hasOther(one))
}

/** What the pages and the other queries stand in where the server tells of no search by itself. */
const told = ({ queries, pages }: Grounding): SearchPart[] =>
  queries.size + pages.size === 0 ? [] : [{ type: 'search', queries: [...queries], pages: [...pages.values()] }]

export const search = {
  /** The tool as the protocol names it, and what has its calls told beside those of functions. */
  tool: { googleSearch: {} },
  told: { includeServerSideToolInvocations: true },
  settled,
  part: ({ type, raw }: Block): SearchPart => ({
    type: 'search',
    queries: type === 'search' ? queriesIn(raw['toolCall']) : [],
    pages: [],
    ...keep(raw),
  }),
  /** How often it searched, as it is billed: each query once. */
  count: (blocks: readonly Block[], { queries }: Grounding): number =>
    new Set([...queries, ...blocks.flatMap(({ raw }) => queriesIn(raw['toolCall']))]).size,
  /** The last result has the pages, and the last text those that it rests on: nobody is told where they belong. */
  grounded(parts: readonly AssistantPart[], grounding: Grounding): AssistantPart[] {
    const last = parts.findLast(({ type }) => type === 'search')
    const said = new Set(parts.flatMap((part) => (part.type === 'search' ? part.queries : [])))
    const beside = [...grounding.queries].filter((query) => !said.has(query))
    const pages = [...grounding.pages.values()]
    const cites = grounding.cited.size > 0 ? [...grounding.cited.values()] : pages
    const text = cites.length === 0 ? undefined : parts.findLast((part) => part.type === 'text' && part.text !== '')
    const all = parts.map((part): AssistantPart => {
      if (part.type === 'search' && part === last) return { ...part, queries: [...part.queries, ...beside], pages }
      return part.type === 'text' && part === text ? { ...part, cites } : part
    })
    return last === undefined ? [...told(grounding), ...all] : all
  },
  /** Those of other providers are left out. */
  wire({ metadata }: SearchPart): object[] {
    const own = metadata?.['google']
    const part = own !== undefined && isJsonObject(own) ? own['part'] : undefined
    return part !== undefined && isJsonObject(part) ? [part] : []
  },
} as const
