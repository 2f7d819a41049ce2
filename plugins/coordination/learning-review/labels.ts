/** What a request says outright is to be learned: `preference: …`, `fact: …`, `decision: …`. Pure. */
import { asksOrDoubts, lastSentences, openQuote } from './doubts.js'
import { denies } from './words.js'

export interface Labelled {
  readonly kind: 'preference' | 'fact' | 'decision'
  readonly content: string
}

const kinds = ['preference', 'fact', 'decision'] as const
const name = `(${kinds.join('|')})\\s?:`
const anywhere = new RegExp(`(?<![\\p{L}\\p{N}_-])${name}`, 'iu')
const atEnd = new RegExp(`${anywhere.source}[\\s"'“«\`]*$`, 'iu')
/** Behind the mark of a list, and what tells to remember it. */
const atBeginning = new RegExp(
  '^[ \\t]*(?:(?:[-*+•]|\\d{1,3}[.)])[ \\t]+)?' +
    '(?:(?:please[ \\t,]+)?(?:remember|note|keep in mind)(?:[ \\t]+(?:this|that|the following))?' +
    '[ \\t]*[:.,!-]?[ \\t]*)?' +
    `(?=${name})`,
  'iu',
)
/** The first of a line, and each behind another clause. */
const inLine = new RegExp(`(?<=^|[.,;:!]["'”’»)]{0,2}[ \\t]{0,4}|[ \\t](?:and|et)[ \\t])${name}`, 'giu')
/** What follows is about the answer. */
const aboutAnswer = /\s(?:reply|respond|answer)\s+exactly(?![\p{L}\p{N}])/iu
const outer = /^[\s.,;:!?"'`“”‘’«»()[\]{}–—-]+|[\s.,;:!?"'`“”‘’«»()[\]{}–—-]+$/gu

/** Also where it counts for nothing. */
export const hasLabel = (text: string): boolean => anywhere.test(text)
/** The text without the label in which it ends, if it does. */
export const withoutLabel = (text: string): string => text.replace(atEnd, '')

/** One that was cut off is left out: half of a sentence may say its opposite. */
const itemsOf = (line: string): readonly Labelled[] => {
  const [opening] = atBeginning.exec(line) ?? []
  if (opening === undefined || asksOrDoubts(line)) return []
  const said = line.slice(opening.length)
  const found = [...said.matchAll(inLine)]
  return found.flatMap((match, at) => {
    const rest = said.slice(match.index + match[0].length, found[at + 1]?.index)
    const end = rest.search(aboutAnswer)
    const item = end < 0 ? rest : rest.slice(0, end)
    const kind = kinds.find((one) => one === match[1]?.toLowerCase())
    const content = item.replaceAll(outer, '').replaceAll(/\s+/gu, ' ')
    return kind === undefined || content === '' || item.trimEnd().endsWith('…') ? [] : [{ kind, content }]
  })
}

/** In order: what lines begin with that quote nothing, and behind which the sentence before leaves no doubt. */
export const labelledIn = (text: string): readonly Labelled[] => {
  let quote: string | undefined
  let before = ''
  return text.split(/\r?\n/u).flatMap((line) => {
    const isSaid = quote === undefined && !asksOrDoubts(before) && !denies(before)
    const found = isSaid ? itemsOf(line) : []
    quote = openQuote(line.replaceAll('~~~', '`'), quote)
    if (line.trim() !== '') before = found.length > 0 ? '' : lastSentences(line.trimEnd())[1]
    return found
  })
}
