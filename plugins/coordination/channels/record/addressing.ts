/** Whom a message speaks to without saying so in a field (channels-18). Pure. */
import { comparable } from '../../../../core/plugin.js'

/** Most members that a message speaks to. */
export const mostAddressed = 100
/** Most characters of a name by which somebody can be spoken to. */
const longestAlias = 500
/** Most at signs that are looked at, and most names that are looked for behind them. */
const [mostMentions, mostTries] = [1_000, 4_000]

const around = /^[@,:;!?.]+|[@,:;!?.]+$/gu
/** Where a name ends at the beginning of a text, and behind an at sign. */
const behind = /[\s,:;!?.]/u
const outside = /[^\p{L}\p{M}\p{N}_-]/u

/** A name as it is looked for; empty where nothing of it is left. */
export const aliasOf = (name: string): string => comparable(name).trim().replaceAll(around, '').trim()

/** Members with this alias: nobody is meant where there are several. */
export type FindAlias = (alias: string) => readonly string[]

/** Names with which a text may begin, the longest first. */
const names = function* (text: string, ends: RegExp): Generator<string> {
  const head = text.slice(0, longestAlias)
  let last = ''
  for (let end = head.length; end > 0; end -= 1) {
    const next = text[end]
    if (next !== undefined && !ends.test(next)) continue
    const alias = head.slice(0, end).trim().replaceAll(around, '').trim()
    if (alias !== '' && alias !== last) yield alias
    last = alias
  }
}

/** Who is called: the longest name that is somebody's, if it is the name of one. */
const called = (some: Iterable<string>, find: FindAlias): readonly string[] => {
  for (const alias of some) {
    const found = find(alias)
    if (found.length > 0) return found.length === 1 ? found : []
  }
  return []
}

/** What stands behind each at sign that is not in a word, up to the next one or the end of its line. */
const mentioned = function* (text: string): Generator<string> {
  let left = mostMentions
  for (const [, said = ''] of text.matchAll(/(?<![\p{L}\p{M}\p{N}_.+-])@([^@\r\n]+)/gu)) {
    if (left === 0) return
    left -= 1
    yield said.trimStart() === said ? said : ''
  }
}

/** Ids of members, in the order in which they are called, each once. */
export const addressedIn = (said: string, find: FindAlias): readonly string[] => {
  const text = comparable(said).trim()
  const all = new Set(called(names(text, behind), find))
  let tries = mostTries
  const tried: FindAlias = (alias) => ((tries -= 1) < 0 ? [] : find(alias))
  const seen = new Set<string>()
  for (const mention of mentioned(text)) {
    if (all.size >= mostAddressed || tries <= 0) break
    if (seen.has(mention)) continue
    seen.add(mention)
    for (const id of called(names(mention, outside), tried)) all.add(id)
  }
  return [...all]
}
