/** Whether indexes, streams and operations say what the pages and the log hold. */
import { fingerprint } from '../pages/index-file.js'
import type { CollectionSpec } from '../contract.js'
import { createRecordIndex } from '../memory/record-index.js'
import type { LinePlace, Op } from '../format/segment.js'
import type { EntriesLine, IndexRow, PagePlace, SurveyVisitor } from './survey.js'
import type { FindingKind } from './verify-findings.js'
import type { Fault } from '../format/line.js'

type Report = (kind: FindingKind, fault: Fault) => void

/** Ids that are buried now, by collection. */
export interface GraveWatch {
  grave(collection: string, id: string): void
  op(op: Op, place: LinePlace): void
}

/** A buried id is never written again. */
export const watchGraves = (report: Report): GraveWatch => {
  const graves = new Map<string, Set<string>>()
  const grave = (collection: string, id: string): void =>
    void graves.set(collection, (graves.get(collection) ?? new Set()).add(id))
  const op = (found: Op, place: LinePlace): void => {
    if (found[0] === 'del') grave(found[1], found[2])
    else if (found[0] === 'put' && graves.get(found[1])?.has(found[2]) === true)
      report('log', { ...place, rule: `${found[2]} of ${found[1]} is written after its id was buried` })
  }
  return { grave, op }
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
    entries: (stream: string, { owner, from, entries }: EntriesLine, place: PagePlace) =>
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

const places = (spec: CollectionSpec<object>, id: string, record: object): unknown[] =>
  Object.values(spec.indexes).flatMap((index) => {
    const { group, sort } = createRecordIndex(index).place(id, record)
    return [group ?? null, sort === id ? null : sort]
  })

/** The rows of each index are exactly those that the pages call for. */
export const watchRows = (report: Report, specs: ReadonlyMap<string, CollectionSpec<object>>) => {
  const wanted = new Map<string, Map<string, Expected>>()
  const found = new Map<
    string,
    { rows: Map<string, { readonly row: IndexRow; readonly place: LinePlace }>; current: boolean }
  >()
  const graves = new Map<string, Set<string>>()
  const want = (shelf: string, expected: Expected): void =>
    void wanted.set(shelf, (wanted.get(shelf) ?? new Map<string, Expected>()).set(expected.key, expected))

  const rows: SurveyVisitor['rows'] = ({ kind, name }, list, place) => {
    const shelf = `${kind}/${name}`
    const spec = kind === 'data' ? specs.get(name) : undefined
    const known = found.get(shelf) ?? {
      rows: new Map(),
      current: spec !== undefined && fingerprint(spec) === place.mark,
    }
    found.set(shelf, known)
    for (const row of list) known.rows.set(kind === 'data' ? row[0] : `${row[0]}\n${row[1]}`, { row, place })
  }
  const compare = (shelf: string): void => {
    const known = found.get(shelf)
    if (known === undefined) return
    const buried = graves.get(shelf)
    for (const { key, row, file, offset } of wanted.get(shelf)?.values() ?? []) {
      const there = known.rows.get(key)
      const same =
        there !== undefined &&
        row
          .slice(0, known.current ? undefined : shelf.startsWith('data') ? 4 : 6)
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
      if (wanted.get(shelf)?.has(key) !== true && buried?.has(key) !== true)
        report('index', {
          file: place.file,
          offset: place.offset,
          rule: `the row of ${key.split('\n')[0]} names nothing that is on a page`,
        })
  }
  return {
    rows,
    grave: (collection: string, id: string) =>
      void graves.set(`data/${collection}`, (graves.get(`data/${collection}`) ?? new Set()).add(id)),
    record: (collection: string, { id, r }: { id: string; r: object }, { page, file, offset, length }: PagePlace) => {
      const spec = specs.get(collection)
      const more = spec === undefined ? [] : [spec.settled?.(r) === true ? 1 : 0, ...places(spec, id, r)]
      want(`data/${collection}`, { key: id, row: [id, page, offset, length, ...more], file, offset })
    },
    entries: (stream: string, { owner, from, entries }: EntriesLine, { page, file, offset, length }: PagePlace) =>
      want(`streams/${stream}`, {
        key: `${owner}\n${from}`,
        row: [owner, from, entries.length, page, offset, length],
        file,
        offset,
      }),
    finish: () => {
      for (const shelf of found.keys()) compare(shelf)
    },
  }
}
