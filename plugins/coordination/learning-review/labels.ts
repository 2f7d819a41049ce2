/** What a request says outright is to be learned: `preference: …`, `fact: …`, `decision: …`. Pure. */

export interface Labelled {
  readonly kind: 'preference' | 'fact' | 'decision'
  readonly content: string
}

const label = /(?<![\p{L}\p{N}_-])(preference|fact|decision)\s?:/giu
/** What follows is about the answer. */
const aboutAnswer = /\s(?:reply|respond|answer)\s+exactly(?![\p{L}\p{N}])/iu
const outer = /^[\s.,;:!?"'`“”‘’«»()[\]{}–—-]+|[\s.,;:!?"'`“”‘’«»()[\]{}–—-]+$/gu
const kinds = ['preference', 'fact', 'decision'] as const

/** In order. One that was cut off is left out: half of a sentence may say its opposite. */
export const labelledIn = (text: string): readonly Labelled[] => {
  const found = [...text.matchAll(label)]
  return found.flatMap((match, at) => {
    const rest = text.slice(match.index + match[0].length, found[at + 1]?.index)
    const end = rest.search(aboutAnswer)
    const item = end < 0 ? rest : rest.slice(0, end)
    const kind = kinds.find((one) => one === match[1]?.toLowerCase())
    const content = item.replaceAll(outer, '')
    return kind === undefined || content === '' || item.trimEnd().endsWith('…') ? [] : [{ kind, content }]
  })
}
