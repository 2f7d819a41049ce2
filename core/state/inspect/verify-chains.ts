/** Whether the entries of chained streams follow from each other, and end where their heads say. */
import type { Json, JsonObject } from '../../base/schema.js'
import type { ChainSpec, StreamSpec } from '../contract.js'
import type { LinePlace } from '../format/segment.js'
import type { FindingKind } from './verify-findings.js'
import type { Fault } from '../format/line.js'

type Report = (kind: FindingKind, fault: Fault) => void

/**
 * What was read of one owner's chain; `broken` once something was told about it. Entries before it fell, and their last
 * hash is not known.
 */
interface Chain {
  hash: string | undefined
  fallen: number
  readonly places: LinePlace[]
  broken: boolean
}
interface Head {
  readonly entries: number
  readonly hash: string
  readonly place: LinePlace
}

interface ChainParts {
  readonly streams: ReadonlyMap<string, StreamSpec<Json>>
  /** First entries of the stream fell. */
  readonly mayBegin: (stream: string) => boolean
}

interface Chained {
  readonly spec: ChainSpec<Json>
  readonly mayBegin: boolean
  readonly chains: Map<string, Chain>
  readonly heads: Map<string, Head>
}

/** The chain of an owner, of which the entry of this number is the first that is read. */
const chainOf = ({ chains, mayBegin }: Chained, owner: string, seq: number): Chain => {
  const begins = mayBegin && seq > 1
  const made: Chain = { hash: begins ? undefined : '', fallen: begins ? seq - 1 : 0, places: [], broken: false }
  const chain = chains.get(owner) ?? made
  chains.set(owner, chain)
  return chain
}

/** Why the entries of an owner do not end where their head says, and where that shows. */
const endFault = (
  what: string,
  { chain, head }: { readonly chain: Chain | undefined; readonly head: Head | undefined },
): readonly [LinePlace, string] | undefined => {
  const { places, fallen, hash } = chain ?? { places: [], fallen: 0, hash: '' }
  const wanted = head?.entries ?? 0
  const beyond = places[Math.max(0, wanted - fallen)]
  if (beyond !== undefined)
    return [beyond, `entry ${wanted + 1} of ${what} stands behind the ${wanted} that its head knows`]
  if (head === undefined) return undefined
  const last = places.at(-1) ?? head.place
  const count = fallen + places.length
  if (count < wanted) return [last, `${what} ends with entry ${count}, and its head knows ${wanted}`]
  if (hash === undefined || hash === head.hash) return undefined
  return [last, `entry ${wanted} of ${what} is not the one that its head knows`]
}

export const watchChains = (report: Report, { streams, mayBegin }: ChainParts) => {
  const chained = new Map<string, Chained>()
  for (const { name, chained: spec } of streams.values())
    if (spec !== undefined) chained.set(name, { spec, mayBegin: mayBegin(name), chains: new Map(), heads: new Map() })

  const complain = (chain: Chain | undefined, { file, offset }: LinePlace, rule: string): void => {
    if (chain?.broken === true) return
    if (chain !== undefined) chain.broken = true
    report('chain', { file, offset, rule })
  }
  const entry = (
    stream: string,
    { owner, seq, entry: found }: { owner: string; seq: number; entry: Json },
    { file, offset }: LinePlace,
  ): void => {
    const known = chained.get(stream)
    if (known === undefined) return
    const chain = chainOf(known, owner, seq)
    const place = { file, offset }
    const number = chain.fallen + chain.places.push(place)
    const { prev, hash, right } = known.spec.link(found, owner)
    if (chain.hash !== undefined && prev !== chain.hash)
      complain(
        chain,
        place,
        `entry ${number} of ${owner} in ${stream} does not follow from ` +
          `${number === 1 ? 'nothing: others stood before it' : `entry ${number - 1}`}`,
      )
    else if (hash !== right)
      complain(chain, place, `entry ${number} of ${owner} in ${stream} is not what its hash was made of`)
    chain.hash = hash
  }
  const record = (
    collection: string,
    { id, record: found }: { id: string; record: JsonObject },
    { file, offset }: LinePlace,
  ): void => {
    const { entries, hash } = found
    if (typeof entries !== 'number' || typeof hash !== 'string') return
    for (const { spec, heads } of chained.values())
      if (spec.heads === collection) heads.set(id, { entries, hash, place: { file, offset } })
  }
  const compare = (stream: string, owner: string, { chains, heads }: Chained): void => {
    const chain = chains.get(owner)
    const found = endFault(`${owner} in ${stream}`, { chain, head: heads.get(owner) })
    if (found !== undefined) complain(chain, ...found)
  }
  return {
    entry,
    /** A line that keeps the number of entries that fell. */
    keeps: (stream: string, { owner, from }: { readonly owner: string; readonly from: number }): void => {
      const known = chained.get(stream)
      if (known !== undefined) chainOf(known, owner, from)
    },
    /** A record that counts as it stands. */
    record,
    /** Call when everything was read. */
    finish: (): void => {
      for (const [stream, one] of chained)
        for (const owner of new Set([...one.chains.keys(), ...one.heads.keys()])) compare(stream, owner, one)
    },
  }
}
