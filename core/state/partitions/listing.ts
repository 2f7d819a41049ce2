/** What is kept in partitions, as a manifest tells it: of a running daemon, or of a root that nobody holds. */
import type { KeptKind, Partition, PartitionLimits, PartitionShare } from '../contract.js'
import type { KindRef, Manifest, PagesRef, PartitionRef } from '../format/manifest.js'
import type { Stores } from './partitions.js'

/** What a manifest does not tell of a kind. */
export interface KindFacts {
  readonly leads: (collection: string) => boolean
  readonly undeclared: (kind: string) => string | undefined
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Tables of earlier versions, whose pages nobody counted, have at least a row for each record. */
const shareIn = (
  { pages, tables }: PagesRef,
  no: number,
  { name, leads }: Pick<PartitionShare, 'name' | 'leads'>,
): PartitionShare | undefined => {
  const [ownPages, ownTables] = [pages.filter(({ part }) => part === no), tables.filter(({ part }) => part === no)]
  if (ownPages.length === 0 && ownTables.length === 0) return undefined
  const isCounted = ownPages.every(({ records }) => records !== undefined)
  const counted = isCounted ? ownPages.map(({ records = 0 }) => records) : ownTables.map(({ rows }) => rows)
  return {
    name,
    leads,
    records: sum(counted),
    open: sum(ownPages.map(({ open = 0 }) => open)),
    bytes: sum([...ownPages, ...ownTables].map(({ length }) => length)),
  }
}

const sharesIn = (
  stores: Stores,
  { kind, no }: { readonly kind: string; readonly no: number },
  leads: KindFacts['leads'],
): PartitionShare[] =>
  Object.entries(stores).flatMap(([name, ref]) =>
    ref.kept?.kind === kind ? (shareIn(ref, no, { name, leads: leads(name) }) ?? []) : [],
  )

/** By the tables of what leads; those of earlier versions do not tell. */
const sinceIn = (
  { collections }: Pick<Manifest, 'collections'>,
  { kind, no }: { readonly kind: string; readonly no: number },
  leads: KindFacts['leads'],
): { since?: number } => {
  const told = Object.entries(collections).flatMap(([name, { kept, tables }]) =>
    kept?.kind === kind && leads(name)
      ? tables.flatMap(({ part, rows, oldest }) => (part === no && rows > 0 ? [oldest?.since] : []))
      : [],
  )
  const known = told.filter((since) => since !== undefined)
  return known.length === 0 || known.length < told.length ? {} : { since: Math.min(...known) }
}

/** One partition of a kind with everything of it. */
export const partitionIn = (
  { collections, streams }: Manifest,
  { kind, ref: { no, from, to } }: { readonly kind: string; readonly ref: PartitionRef },
  leads: KindFacts['leads'],
): Partition => ({
  no,
  from,
  to,
  ...sinceIn({ collections }, { kind, no }, leads),
  shares: [...sharesIn(collections, { kind, no }, leads), ...sharesIn(streams, { kind, no }, () => false)],
})

export const kindIn = (manifest: Manifest, kind: string, { leads, undeclared }: KindFacts): KeptKind => {
  const { partitions, fell }: KindRef = manifest.kinds[kind] ?? { partitions: [], fell: 0 }
  return {
    kind,
    fell,
    undeclared: undeclared(kind),
    partitions: partitions.map((ref) => partitionIn(manifest, { kind, ref }, leads)),
  }
}

export const kindsIn = (manifest: Manifest, facts: KindFacts): readonly KeptKind[] =>
  Object.keys(manifest.kinds).map((kind) => kindIn(manifest, kind, facts))

/**
 * Whether a partition takes no more at a moment, Unix ms. One of a clock that was ahead ends when that is right again:
 * nothing of it falls before its stamps are old.
 */
export const isDue = ({ from, to, shares }: Partition, limits: PartitionLimits, now: number): boolean =>
  now - from >= limits.age ||
  to - now >= limits.age ||
  sum(shares.map(({ bytes }) => bytes)) >= limits.bytes ||
  sum(shares.map(({ leads, records }) => (leads ? records : 0))) >= limits.records
