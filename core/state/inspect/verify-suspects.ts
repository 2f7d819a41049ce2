/** Reads the chains of some owners entry by entry, and names the first wrong entry of each. */
import type { Json, JsonObject } from '../../base/schema.js'
import type { LinePlace } from '../format/segment.js'
import type { Fault } from '../format/line.js'
import { survey, type SurveyPlace } from './survey/survey.js'
import type { FindingKind, SurveyVisitor } from './survey/visitor.js'
import { headOf, type Head, type Suspects } from './verify-chains.js'

type Report = (kind: FindingKind, fault: Fault) => void

/**
 * What was read of one owner's chain; `broken` once something was told about it. Entries before it may have fallen, and
 * their last hash is not known.
 */
interface Chain {
  hash: string | undefined
  entries: number
  last: LinePlace | undefined
  broken: boolean
}
interface PlacedHead extends Head {
  readonly place: LinePlace
}

/** The part of a root that is read again; what else is wrong with it was told before. */
const walk = (
  place: SurveyPlace,
  only: { readonly collection?: string; readonly stream?: string },
  visitor: Omit<SurveyVisitor, 'fault'>,
): void => {
  const { manifest } = place
  const pick = <R>(refs: Readonly<Record<string, R>>, name: string | undefined): Record<string, R> =>
    Object.fromEntries(Object.entries(refs).filter(([of]) => of === name))
  const { collections, streams, tombstones } = manifest
  const part = {
    ...manifest,
    collections: pick(collections, only.collection),
    streams: pick(streams, only.stream),
    tombstones: pick(tombstones, only.collection),
  }
  survey({ ...place, manifest: part, visitor: { ...visitor, fault: () => {} } })
}

const readHeads = (place: SurveyPlace, { spec, has }: Suspects): ReadonlyMap<string, PlacedHead> => {
  const heads = new Map<string, PlacedHead>()
  const put = (id: string, record: JsonObject, { file, offset }: LinePlace): void => {
    const head = has(id) ? headOf(record) : undefined
    if (head !== undefined) heads.set(id, { ...head, place: { file, offset } })
  }
  walk(
    place,
    { collection: spec.heads },
    {
      op: (op, _line, at) => {
        if (op[0] === 'app' || op[1] !== spec.heads) return
        heads.delete(op[2])
        if (op[0] === 'put') put(op[2], op[3], at)
      },
      record: (_collection, { id, r }, at) => {
        if (at.counts) put(id, r, at)
      },
    },
  )
  return heads
}

interface PlacedEntry {
  readonly owner: string
  readonly seq: number
  readonly entry: Json
}

class SuspectChains {
  readonly #suspects: Suspects
  readonly #report: Report
  readonly #heads: ReadonlyMap<string, PlacedHead>
  readonly #chains = new Map<string, Chain>()

  constructor(suspects: Suspects, heads: ReadonlyMap<string, PlacedHead>, report: Report) {
    this.#suspects = suspects
    this.#heads = heads
    this.#report = report
  }

  entry({ owner, seq, entry }: PlacedEntry, { file, offset }: LinePlace): void {
    const { spec, stream } = this.#suspects
    const chain = this.begin(owner, seq)
    chain.last = { file, offset }
    chain.entries += 1
    const number = chain.entries
    const { prev, hash, right } = spec.link(entry, owner)
    const wanted = this.#heads.get(owner)?.entries ?? 0
    if (chain.hash !== undefined && prev !== chain.hash)
      this.#complain(
        chain,
        chain.last,
        `entry ${number} of ${owner} in ${stream} does not follow from ` +
          `${number === 1 ? 'nothing: others stood before it' : `entry ${number - 1}`}`,
      )
    else if (hash !== right)
      this.#complain(chain, chain.last, `entry ${number} of ${owner} in ${stream} is not what its hash was made of`)
    else if (number > wanted)
      this.#complain(
        chain,
        chain.last,
        `entry ${number} of ${owner} in ${stream} stands behind the ${wanted} that its head knows`,
      )
    chain.hash = hash
  }

  finish(): void {
    const { stream } = this.#suspects
    for (const [owner, head] of this.#heads) {
      const chain = this.begin(owner, 1)
      const last = chain.last ?? head.place
      if (chain.entries < head.entries)
        this.#complain(
          chain,
          last,
          `${owner} in ${stream} ends with entry ${chain.entries}, and its head knows ${head.entries}`,
        )
      else if (chain.hash !== undefined && chain.hash !== head.hash)
        this.#complain(chain, last, `entry ${head.entries} of ${owner} in ${stream} is not the one that its head knows`)
    }
  }

  /** The chain of an owner, of which the entry of this number is the first that is read. */
  begin(owner: string, seq: number): Chain {
    const known = this.#chains.get(owner)
    if (known !== undefined) return known
    const fell = this.#suspects.mayBegin && seq > 1
    const made: Chain = { hash: fell ? undefined : '', entries: fell ? seq - 1 : 0, last: undefined, broken: false }
    this.#chains.set(owner, made)
    return made
  }

  #complain(chain: Chain, { file, offset }: LinePlace, rule: string): void {
    if (chain.broken) return
    chain.broken = true
    this.#report('chain', { file, offset, rule })
  }
}

/** Names the first wrong entry of each of these chains. */
export const readSuspects = (place: SurveyPlace, suspects: Suspects, report: Report): void => {
  const { stream, has } = suspects
  const chains = new SuspectChains(suspects, readHeads(place, suspects), report)
  walk(
    place,
    { stream },
    {
      entries: (_stream, { owner, from, entries }, at) => {
        if (!has(owner)) return
        chains.begin(owner, from)
        entries.forEach((entry, n) => chains.entry({ owner, seq: from + n, entry }, at))
      },
      op: (op, _line, at) => {
        if (op[0] === 'app' && op[1] === stream && has(op[2]))
          chains.entry({ owner: op[2], seq: op[3], entry: op[4] }, at)
      },
    },
  )
  chains.finish()
}
