/** Whether the entries of chained streams follow from each other, and end where their heads say. */
import type { Json, JsonObject } from '../../base/schema.js'
import type { ChainSpec, StreamSpec } from '../contract.js'
import type { LinePlace } from '../format/segment.js'
import type { FindingKind } from './verify-findings.js'
import type { Fault } from '../format/line.js'

type Report = (kind: FindingKind, fault: Fault) => void

/** What was read of one owner's chain; `broken` once something was told about it. */
interface Chain {
  hash: string
  readonly places: LinePlace[]
  broken: boolean
}
interface Head {
  readonly entries: number
  readonly hash: string
  readonly place: LinePlace
}

const chainOf = (chains: Map<string, Chain>, owner: string): Chain => {
  const chain = chains.get(owner) ?? { hash: '', places: [], broken: false }
  chains.set(owner, chain)
  return chain
}

export const watchChains = (report: Report, streams: ReadonlyMap<string, StreamSpec<Json>>) => {
  const chained = new Map<
    string,
    { readonly spec: ChainSpec<Json>; readonly chains: Map<string, Chain>; readonly heads: Map<string, Head> }
  >()
  for (const { name, chained: spec } of streams.values())
    if (spec !== undefined) chained.set(name, { spec, chains: new Map(), heads: new Map() })

  const complain = (chain: Chain | undefined, { file, offset }: LinePlace, rule: string): void => {
    if (chain?.broken === true) return
    if (chain !== undefined) chain.broken = true
    report('chain', { file, offset, rule })
  }
  const entry = (
    stream: string,
    { owner, entry: found }: { owner: string; entry: Json },
    { file, offset }: LinePlace,
  ): void => {
    const known = chained.get(stream)
    if (known === undefined) return
    const chain = chainOf(known.chains, owner)
    const place = { file, offset }
    const number = chain.places.push(place)
    const { prev, hash, right } = known.spec.link(found, owner)
    if (prev !== chain.hash)
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
  const compare = (
    stream: string,
    owner: string,
    { chain, head }: { chain: Chain | undefined; head: Head | undefined },
  ): void => {
    const places = chain?.places ?? []
    const wanted = head?.entries ?? 0
    const beyond = places[wanted]
    if (beyond !== undefined)
      return complain(
        chain,
        beyond,
        `entry ${wanted + 1} of ${owner} in ${stream} stands behind the ${wanted} that its head knows`,
      )
    if (head === undefined) return
    const last = places.at(-1) ?? head.place
    if (places.length < wanted)
      complain(chain, last, `${owner} in ${stream} ends with entry ${places.length}, and its head knows ${wanted}`)
    else if (chain?.hash !== head.hash)
      complain(chain, last, `entry ${wanted} of ${owner} in ${stream} is not the one that its head knows`)
  }
  return {
    entry,
    /** A record that counts as it stands. */
    record,
    /** Call when everything was read. */
    finish: (): void => {
      for (const [stream, { chains, heads }] of chained)
        for (const owner of new Set([...chains.keys(), ...heads.keys()]))
          compare(stream, owner, { chain: chains.get(owner), head: heads.get(owner) })
    },
  }
}
