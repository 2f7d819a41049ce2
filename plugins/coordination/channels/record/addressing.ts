/** Whom a message speaks to without saying so in a field (channels-18). Pure. */

/** Most members that a message speaks to. */
export const mostAddressed = 100
/** Most characters of a name by which somebody can be spoken to. */
const longestAlias = 500
/** Most words with an at sign that are looked at. */
const mostMentions = 1_000

const around = /^[@,:;!?.]+|[@,:;!?.]+$/gu
/** Where a name at the beginning of a text ends. */
const behind = /[\s,:;!?.]/u

/** A name as it is looked for; empty where nothing of it is left. */
export const aliasOf = (name: string): string => name.toLowerCase().trim().replaceAll(around, '').trim()

/** Members with this alias: nobody is meant where there are several. */
export type FindAlias = (alias: string) => readonly string[]

/** Who is called at the beginning: the longest name that is somebody's, if it is the name of one. */
const calledFirst = (text: string, find: FindAlias): readonly string[] => {
  const head = text.slice(0, longestAlias)
  for (let end = head.length; end > 0; end -= 1) {
    const next = text[end]
    if (next !== undefined && !behind.test(next)) continue
    const found = find(head.slice(0, end))
    if (found.length > 0) return found.length === 1 ? found : []
  }
  return []
}

const mentioned = function* (text: string): Generator<string> {
  let left = mostMentions
  for (const [word] of text.matchAll(/(?<!\S)@\S+/gu)) {
    if (left === 0) return
    left -= 1
    yield aliasOf(word)
  }
}

/** Ids of members, in the order in which they are called, each once. */
export const addressedIn = (said: string, find: FindAlias): readonly string[] => {
  const text = said.trim().toLowerCase()
  const called = new Set(calledFirst(text, find))
  for (const alias of new Set(mentioned(text))) {
    if (called.size >= mostAddressed) break
    const found = alias === '' || alias.length > longestAlias ? [] : find(alias)
    if (found.length === 1) for (const id of found) called.add(id)
  }
  return [...called]
}
