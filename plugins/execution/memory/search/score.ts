/** How well a document answers a query (memory-12). */
import { fold, termsOf } from './terms.js'

const weights = { content: 4, kind: 1, scope: 1 } as const
export type Field = keyof typeof weights
export const fields: readonly Field[] = ['content', 'kind', 'scope']

/** What is searched of something that is remembered. */
export type Texts = Readonly<Record<Field, string>>
/** A query as it is compared: the whole, folded, and its terms, each once. */
export interface Query {
  readonly phrase: string
  readonly terms: readonly string[]
}
export interface Match {
  readonly score: number
  readonly matched_fields: Field[]
}

/** A query with something in it; undefined if there is nothing but blanks. */
export const readQuery = (text: string | undefined): Query | undefined => {
  const phrase = fold(text ?? '').trim()
  return phrase === '' ? undefined : { phrase, terms: [...new Set(termsOf(phrase))] }
}

const wholeHit = 100
const termHit = 10

/**
 * The sum over the fields: 100 for the whole query in it, 10 for each term that is one of its terms, times its weight.
 */
export const sumUp = (inField: (field: Field) => { readonly whole: boolean; readonly terms: number }): Match => {
  const matched_fields: Field[] = []
  let score = 0
  for (const field of fields) {
    const { whole, terms } = inField(field)
    if (!whole && terms === 0) continue
    matched_fields.push(field)
    score += weights[field] * ((whole ? wholeHit : 0) + termHit * terms)
  }
  return { score, matched_fields }
}

/** Scores one document by reading it. */
export const scoreOf = (texts: Texts, { phrase, terms }: Query): Match =>
  sumUp((field) => {
    const own = new Set(termsOf(texts[field]))
    return { whole: fold(texts[field]).includes(phrase), terms: terms.filter((term) => own.has(term)).length }
  })
