/** What searches look like on the wire: each engine has one form of question and one of answers. */
import { isJsonObject, type Json } from '../../../../core/plugin.js'

export const engineNames = ['searxng', 'brave'] as const
export type EngineName = (typeof engineNames)[number]

export interface Found {
  readonly title: string
  readonly url: string
  /** May hold marks of HTML. */
  readonly snippet: string
}

export interface Engine {
  /** Where it is when nobody says. */
  readonly url?: string
  readonly needsKey: boolean
  readonly headers: (key: string) => Readonly<Record<string, string>>
  readonly query: (query: string, count: number) => Readonly<Record<string, string>>
  /** Undefined if it is no answer of this engine. */
  readonly read: (answer: Json) => readonly Found[] | undefined
}

const textIn = (value: Json, name: string): string => {
  const text = isJsonObject(value) ? value[name] : undefined
  return typeof text === 'string' ? text : ''
}

/** Results as a list of objects; those without an address that can be fetched are left out. */
const readList = (list: Json | undefined, snippet: string): readonly Found[] | undefined =>
  Array.isArray(list)
    ? list
        .map((one) => ({ title: textIn(one, 'title'), url: textIn(one, 'url'), snippet: textIn(one, snippet) }))
        .filter(({ url }) => /^https?:\/\/\S+$/u.test(url) && url.length <= 2_000)
    : undefined

export const engines: Readonly<Record<EngineName, Engine>> = {
  searxng: {
    needsKey: false,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    query: (q) => ({ q, format: 'json' }),
    read: (answer) => (isJsonObject(answer) ? readList(answer['results'], 'content') : undefined),
  },
  brave: {
    url: 'https://api.search.brave.com/res/v1/web/search',
    needsKey: true,
    headers: (key) => ({ 'x-subscription-token': key }),
    query: (q, count) => ({ q, count: String(count) }),
    read(answer) {
      if (!isJsonObject(answer)) return undefined
      const { type, web } = answer
      // A search without finds has no list.
      if (web === undefined || web === null) return type === 'search' ? [] : undefined
      return isJsonObject(web) ? readList(web['results'], 'description') : undefined
    },
  },
}
