/**
 * Whether the entries of chained streams follow from each other, and end where their heads say. Nothing is kept of an
 * owner: each line of entries calls for the hash before it and offers its last one, a head calls for the last of all,
 * and what is offered and called for cancels out. Where it does not, the owners in question are read once more, and so
 * are all of a stream whose first entries fell: what their chains begin with is not there.
 */
import type { Json, JsonObject } from '../../base/schema.js'
import type { ChainSpec, StreamSpec } from '../contract.js'
import type { EntryLine } from '../pages/entry-codec.js'
import { add, digestOf, noDigest } from './survey/row-digest.js'

/** Owners fall into so many groups, and only the groups that do not cancel out are read again. */
const groups = 1024
const groupOf = (owner: string): number => (digestOf([owner]).a >>> 0) % groups

/** The chains of one stream. */
class ChainSum {
  readonly spec: ChainSpec<Json>
  readonly #mayBegin: boolean
  readonly #sums = Array.from({ length: groups }, noDigest)
  readonly #broken = new Set<number>()

  constructor(spec: ChainSpec<Json>, mayBegin: boolean) {
    this.spec = spec
    this.#mayBegin = mayBegin
  }

  /** Entries of one owner that follow each other. */
  entries({ owner, from, entries }: EntryLine<Json>): void {
    if (this.#mayBegin) return
    const group = groupOf(owner)
    let before: string | undefined
    for (const entry of entries) {
      const { prev, hash, right } = this.spec.link(entry, owner)
      if (hash !== right || (before === undefined ? from === 1 && prev !== '' : prev !== before))
        this.#broken.add(group)
      if (before === undefined && from !== 1) this.#add([owner, from, prev], -1)
      before = hash
    }
    if (before !== undefined) this.#add([owner, from + entries.length, before], 1)
  }

  head(owner: string, { entries, hash }: Head): void {
    this.#add([owner, entries + 1, hash], -1)
  }

  /** Groups in which something may be wrong. */
  wrong(): readonly number[] {
    return this.#sums.flatMap(({ a, b }, at) =>
      this.#mayBegin || a !== 0 || b !== 0 || this.#broken.has(at) ? [at] : [],
    )
  }

  #add(cells: readonly [string, number, string], times: 1 | -1): void {
    const sum = this.#sums[groupOf(cells[0])]
    if (sum !== undefined) add(sum, cells, times)
  }
}

/** What a record says of a chain's end. */
export interface Head {
  readonly entries: number
  readonly hash: string
}
export const headOf = ({ entries, hash }: JsonObject): Head | undefined =>
  typeof entries === 'number' && typeof hash === 'string' ? { entries, hash } : undefined

/** Owners of a stream of which some chain may be wrong. */
export interface Suspects {
  readonly stream: string
  readonly spec: ChainSpec<Json>
  readonly mayBegin: boolean
  readonly has: (owner: string) => boolean
}

/** Owners whose chains are kept at a time. */
const ownersAtOnce = 100_000

interface ChainParts {
  readonly streams: ReadonlyMap<string, StreamSpec<Json>>
  /** First entries of the stream fell. */
  readonly mayBegin: (stream: string) => boolean
}

export const watchChains = ({ streams, mayBegin }: ChainParts) => {
  const chained = new Map(
    Array.from(streams.values()).flatMap(({ name, chained: spec }) =>
      spec === undefined ? [] : [[name, new ChainSum(spec, mayBegin(name))] as const],
    ),
  )
  return {
    entries: (stream: string, line: EntryLine<Json>): void => chained.get(stream)?.entries(line),
    /** A record that counts as it stands. */
    record: (collection: string, { id, record }: { id: string; record: JsonObject }): void => {
      for (const chain of chained.values()) {
        const head = chain.spec.heads === collection ? headOf(record) : undefined
        if (head !== undefined) chain.head(id, head)
      }
    },
    /** Call when everything was read, with the number of a stream's owners; so few at a time that they can be kept. */
    suspects: (owners: (stream: string) => number): readonly Suspects[] =>
      [...chained].flatMap(([stream, chain]) => {
        const wrong = chain.wrong()
        const atOnce = Math.max(1, Math.floor((groups * ownersAtOnce) / Math.max(1, owners(stream))))
        const turns = Array.from({ length: Math.ceil(wrong.length / atOnce) }, (_, at) => at * atOnce)
        return turns.map((at) => {
          const these = new Set(wrong.slice(at, at + atOnce))
          const has = (owner: string): boolean => these.has(groupOf(owner))
          return { stream, spec: chain.spec, mayBegin: mayBegin(stream), has }
        })
      }),
  }
}
