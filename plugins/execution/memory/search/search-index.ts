/**
 * Finds the terms of many documents without reading them. Derived, in memory,
 * made of what searches look at; the answer is that of reading every document.
 */
import type { Clock } from '../../../../core/plugin.js'
import type { Document, Scored } from './documents.js'
import { createPacer } from './pacer.js'
import { fields, scoreOf, sumUp, type Field, type Query } from './score.js'
import { fold, isStopPart, termsOf } from './terms.js'

/** Documents held, at most; those that came first go first. */
const capacity = 20_000

export interface SearchIndex {
  readonly size: number
  /** Scores documents; those without a hit are left out. Indexes what it does not know, in slices. */
  rank(documents: readonly Document[], query: Query): Promise<Scored[]>
}

/** A document as it was indexed, and its texts as a whole query is looked for in them. */
interface Held {
  readonly document: Document
  readonly folded: Readonly<Record<Field, string>>
}
/** In which of its fields each document has a term: one bit a field. */
type Postings = Map<string, Map<Held, number>>

const same = (a: Document, b: Document): boolean => a === b || fields.every((field) => a[field] === b[field])

/** Adds a document, or takes it out. */
const post = (postings: Postings, held: Held): void =>
  fields.forEach((field, bit) => {
    for (const term of termsOf(held.folded[field])) {
      const known = postings.get(term) ?? new Map<Held, number>()
      known.set(held, (known.get(held) ?? 0) | (1 << bit))
      postings.set(term, known)
    }
  })
const unpost = (postings: Postings, held: Held): void =>
  fields.forEach((field) => {
    for (const term of termsOf(held.folded[field])) {
      const known = postings.get(term)
      known?.delete(held)
      if (known?.size === 0) postings.delete(term)
    }
  })

/** Terms found by field: one number, with room for 4095 in each. */
const room = 4096
const increments = Array.from({ length: 1 << fields.length }, (_, bits) =>
  fields.reduce((sum, _field, bit) => sum + ((bits >> bit) & 1) * room ** bit, 0),
)

export const createSearchIndex = (clock: Clock): SearchIndex => {
  const held = new Map<string, Held>()
  const postings: Postings = new Map()

  const drop = (key: string, one: Held): void => {
    held.delete(key)
    unpost(postings, one)
  }
  const hold = (document: Document): void => {
    const known = held.get(document.key)
    if (known !== undefined && same(known.document, document)) return
    if (known !== undefined) drop(document.key, known)
    for (const [oldest, one] of held) {
      if (held.size < capacity) break
      drop(oldest, one)
    }
    const added = {
      document,
      folded: { content: fold(document.content), kind: fold(document.kind), scope: fold(document.scope) },
    }
    held.set(document.key, added)
    post(postings, added)
  }
  return {
    get size() {
      return held.size
    },
    async rank(documents, query) {
      const pace = createPacer(clock)
      for (const document of documents) {
        hold(document)
        if (pace.due()) await pace.rest()
      }
      const found = new Map<Held, number>()
      for (const term of query.terms) {
        for (const [one, bits] of postings.get(term) ?? [])
          found.set(one, (found.get(one) ?? 0) + (increments[bits] ?? 0))
        if (pace.due()) await pace.rest()
      }
      const mayHold = holders(postings, query)
      const all: Scored[] = []
      for (const document of documents) {
        const known = held.get(document.key)
        if (known === undefined || !same(known.document, document)) all.push({ document, ...scoreOf(document, query) })
        else if (found.has(known) || mayHold(known))
          all.push({ document, ...scoreHeld(known, query, found.get(known) ?? 0) })
        if (pace.due()) await pace.rest()
      }
      return all.filter(({ score }) => score > 0)
    },
  }
}

const scoreHeld = ({ folded }: Held, { phrase }: Query, found: number) =>
  sumUp((field) => ({
    whole: folded[field].includes(phrase),
    terms: Math.floor(found / room ** fields.indexOf(field)) % room,
  }))

/**
 * Which documents may have the whole query in them: those with a term that has
 * the longest word of the query in it. A word that is part of a stop word is in
 * texts whose terms do not show it, and other scripts have no such words.
 */
const holders = (postings: Postings, { phrase }: Query): ((held: Held) => boolean) => {
  const [longest = ''] = (phrase.match(/[a-z0-9]+/gu) ?? []).toSorted((a, b) => b.length - a.length)
  if (longest === '' || isStopPart(longest)) return () => true
  const found = new Set<Held>()
  for (const [term, documents] of postings)
    if (term.includes(longest)) for (const one of documents.keys()) found.add(one)
  return (held) => found.has(held)
}
