/** Whether a text says something, or only asks, doubts or quotes it. Pure. */

const word = (words: string): string => `(?<![\\p{L}\\p{N}])(?:${words})(?![\\p{L}\\p{N}])`
const doubts = new RegExp(
  [
    // The mark of a question ends a word; in an address it does not.
    '[?？](?=[\\s"\'”’»)\\]!?.]|$)',
    word('doubt(?:s|ed|ful|ing)?|unsure|uncertain|untrue|incorrect|supposedly|allegedly|maybe|perhaps'),
    word("(?:not|\\p{L}+n['’]t)\\s+(?:quite\\s+|so\\s+)?(?:sure|true|right|correct|certain|convinced|believe|think)"),
    word("is\\s+(?:it|this|that)\\s+(?:true|right|correct|so)|(?:it|this|that)(?:\\s+is|['’]s)\\s+(?:false|a\\s+lie)"),
    `${word('wrong')}(?=\\s*(?:[.!,;:)"”]|$))`,
    word('doutes?|douteux|faux|fausse|peut-être|est-ce'),
  ].join('|'),
  'iu',
)
export const asksOrDoubts = (text: string): boolean => doubts.test(text)

const closings: ReadonlyMap<string, string> = new Map(
  ['""', '“”', '„“', '«»', '``'].map(([open = '', end = '']) => [open, end]),
)

/** The sign that ends the quotation which is open behind a text; undefined where none is. */
export const openQuote = (text: string, before?: string): string | undefined => {
  let end = before
  for (const sign of text) end = end === undefined ? closings.get(sign) : sign === end ? undefined : end
  return end
}

/** The text without what it quotes. */
export const unquoted = (text: string): string => {
  let end: string | undefined
  let own = ''
  for (const sign of text) {
    const next = openQuote(sign, end)
    if (end === undefined && next === undefined) own += sign
    end = next
  }
  return own
}

/** Between two sentences. */
export const gap = /(?<=[.!?…]["'”’»)\]]{0,3})\s+|\n/u

/** The sentence in which a text ends, which may be empty yet, and the one before. */
export const lastSentences = (text: string): readonly [before: string, own: string] => {
  const all = text.split(gap)
  return [all.slice(0, -1).findLast((one) => one.trim() !== '') ?? '', all.at(-1) ?? '']
}
