/** Whether streams and operations follow from each other. */
import type { EntryLine } from '../pages/entry-codec.js'
import type { LinePlace, Op } from '../format/segment.js'
import type { PagePlace } from './survey.js'
import type { FindingKind } from './verify-findings.js'
import type { Fault } from '../format/line.js'

type Report = (kind: FindingKind, fault: Fault) => void

/** Ids that have a tombstone, by collection. */
export interface TombstoneWatch {
  tombstone(collection: string, id: string): void
  op(op: Op, place: LinePlace): void
}

/** A deleted id is never written again. */
export const watchTombstones = (report: Report): TombstoneWatch => {
  const tombstones = new Map<string, Set<string>>()
  const tombstone = (collection: string, id: string): void =>
    void tombstones.set(collection, (tombstones.get(collection) ?? new Set()).add(id))
  const op = (found: Op, place: LinePlace): void => {
    if (found[0] === 'del') tombstone(found[1], found[2])
    else if (found[0] === 'put' && tombstones.get(found[1])?.has(found[2]) === true)
      report('log', { ...place, rule: `${found[2]} of ${found[1]} is written after its id was buried` })
  }
  return { tombstone, op }
}

/** Every owner's entries are numbered 1, 2, 3 …, over pages and log; where first ones fell, from any number on. */
export const watchEntries = (report: Report, mayBegin: (stream: string) => boolean) => {
  const lengths = new Map<string, Map<string, number>>()
  const counts = new Map<string, number>()
  const follow = (
    at: { readonly stream: string; readonly owner: string; readonly from: number; readonly count: number },
    kind: FindingKind,
    place: LinePlace,
  ): void => {
    const owners = lengths.get(at.stream) ?? new Map<string, number>()
    lengths.set(at.stream, owners)
    const length = owners.get(at.owner) ?? (mayBegin(at.stream) ? at.from - 1 : 0)
    if (at.from !== length + 1)
      report(kind, {
        file: place.file,
        offset: place.offset,
        rule: `entry ${at.from} of ${at.owner} in ${at.stream} stands where ${length + 1} belongs`,
      })
    owners.set(at.owner, at.from + at.count - 1)
    counts.set(at.stream, (counts.get(at.stream) ?? 0) + at.count)
  }
  return {
    counts: () => Object.fromEntries(counts),
    entries: (stream: string, { owner, from, entries }: EntryLine<unknown>, place: PagePlace) =>
      follow({ stream, owner, from, count: entries.length }, 'page', place),
    op: (op: Op, place: LinePlace) => {
      if (op[0] === 'app') follow({ stream: op[1], owner: op[2], from: op[3], count: 1 }, 'log', place)
    },
  }
}
