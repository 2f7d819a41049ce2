/** Whether indexes, streams and operations say what the pages and the log hold. */
import { entryRow, type EntryLine } from '../pages/entry-codec.js'
import { fingerprint, recordRow, type RecordLine } from '../pages/record-codec.js'
import type { CollectionSpec } from '../contract.js'
import type { LinePlace, Op } from '../format/segment.js'
import type { IndexRow, PagePlace, SurveyVisitor } from './survey.js'
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

/** Every owner's entries are numbered 1, 2, 3 …, over pages and log. */
export const watchEntries = (report: Report) => {
  const lengths = new Map<string, Map<string, number>>()
  const follow = (
    at: { readonly stream: string; readonly owner: string; readonly from: number; readonly count: number },
    kind: FindingKind,
    place: LinePlace,
  ): void => {
    const owners = lengths.get(at.stream) ?? new Map<string, number>()
    lengths.set(at.stream, owners)
    const length = owners.get(at.owner) ?? 0
    if (at.from !== length + 1)
      report(kind, {
        file: place.file,
        offset: place.offset,
        rule: `entry ${at.from} of ${at.owner} in ${at.stream} stands where ${length + 1} belongs`,
      })
    owners.set(at.owner, at.from + at.count - 1)
  }
  return {
    counts: () =>
      Object.fromEntries(
        [...lengths].map(([stream, owners]) => [stream, [...owners.values()].reduce((sum, length) => sum + length, 0)]),
      ),
    entries: (stream: string, { owner, from, entries }: EntryLine<unknown>, place: PagePlace) =>
      follow({ stream, owner, from, count: entries.length }, 'page', place),
    op: (op: Op, place: LinePlace) => {
      if (op[0] === 'app') follow({ stream: op[1], owner: op[2], from: op[3], count: 1 }, 'log', place)
    },
  }
}

interface Expected {
  readonly key: string
  readonly row: readonly unknown[]
  readonly file: string
  readonly offset: number
}

/** The rows of each index are exactly those that the pages call for. */
export const watchRows = (report: Report, specs: ReadonlyMap<string, CollectionSpec<object>>) => {
  const wanted = new Map<string, Map<string, Expected>>()
  const found = new Map<
    string,
    { rows: Map<string, { readonly row: IndexRow; readonly place: LinePlace }>; current: boolean }
  >()
  const tombstones = new Map<string, Set<string>>()
  const want = (pageStore: string, expected: Expected): void =>
    void wanted.set(pageStore, (wanted.get(pageStore) ?? new Map<string, Expected>()).set(expected.key, expected))

  const rows: SurveyVisitor['rows'] = ({ kind, name }, list, place) => {
    const pageStore = `${kind}/${name}`
    const spec = kind === 'data' ? specs.get(name) : undefined
    const known = found.get(pageStore) ?? {
      rows: new Map(),
      current: spec !== undefined && fingerprint(spec) === place.mark,
    }
    found.set(pageStore, known)
    for (const row of list) known.rows.set(kind === 'data' ? row[0] : `${row[0]}\n${row[1]}`, { row, place })
  }
  const compare = (pageStore: string): void => {
    const known = found.get(pageStore)
    if (known === undefined) return
    const deleted = tombstones.get(pageStore)
    for (const { key, row, file, offset } of wanted.get(pageStore)?.values() ?? []) {
      const there = known.rows.get(key)
      const same =
        there !== undefined &&
        row
          .slice(0, known.current ? undefined : pageStore.startsWith('data') ? 4 : 6)
          .every((cell, at) => cell === there.row[at])
      if (!same)
        report('index', {
          file: there?.place.file ?? file,
          offset: there?.place.offset ?? offset,
          rule:
            there === undefined
              ? `${key.split('\n')[0]} has no row in the index`
              : `the row of ${key.split('\n')[0]} is not what its page says`,
        })
    }
    for (const [key, { place }] of known.rows)
      if (wanted.get(pageStore)?.has(key) !== true && deleted?.has(key) !== true)
        report('index', {
          file: place.file,
          offset: place.offset,
          rule: `the row of ${key.split('\n')[0]} names nothing that is on a page`,
        })
  }
  return {
    rows,
    tombstone: (collection: string, id: string) =>
      void tombstones.set(`data/${collection}`, (tombstones.get(`data/${collection}`) ?? new Set()).add(id)),
    record: (collection: string, line: RecordLine<object>, place: PagePlace) => {
      const spec = specs.get(collection)
      const { file, page, offset, length } = place
      const row = spec === undefined ? [line.id, page, offset, length] : recordRow(spec, line, place)
      want(`data/${collection}`, { key: line.id, row, file, offset })
    },
    entries: (stream: string, { owner, from, entries }: EntryLine<unknown>, place: PagePlace) => {
      const { file, offset } = place
      const row = entryRow(owner, { ...place, first: from, count: entries.length })
      want(`streams/${stream}`, { key: `${owner}\n${from}`, row, file, offset })
    },
    finish: () => {
      for (const pageStore of found.keys()) compare(pageStore)
    },
  }
}
