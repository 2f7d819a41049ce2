/** Whether the entries of every owner are numbered 1, 2, 3 …, over pages and log. */
import { join } from 'node:path'
import { pageName } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { LinePlace } from '../format/segment.js'
import { extentOf, extentSection, lastIn, type EntryLine } from '../pages/entry-codec.js'
import type { Row } from '../tables/rows.js'
import type { Tables } from '../tables/tables.js'
import { survey, type SurveyPlace } from './survey/survey.js'
import type { FindingKind, PagePlace, PageStoreName, SoundTables } from './survey/visitor.js'

/** First entries of the stream fell: those of an owner may begin with any number. */
type MayBegin = (stream: string) => boolean
type Report = (kind: FindingKind, fault: Fault) => void

interface Following {
  readonly stream: string
  readonly owner: string
  readonly from: number
  readonly length: number
}
const misplaced = ({ stream, owner, from, length }: Following): string =>
  `entry ${from} of ${owner} in ${stream} stands where ${length + 1} belongs`

/** By the lines themselves: this keeps a number for each owner. */
const watchEntries = (report: Report, mayBegin: MayBegin) => {
  const lengths = new Map<string, Map<string, number>>()
  const counts = new Map<string, number>()
  const follow = (
    at: { readonly stream: string; readonly owner: string; readonly from: number; readonly count: number },
    kind: FindingKind,
    { file, offset }: LinePlace,
  ): void => {
    const owners = lengths.get(at.stream) ?? new Map<string, number>()
    lengths.set(at.stream, owners)
    const length = owners.get(at.owner) ?? (mayBegin(at.stream) ? at.from - 1 : 0)
    if (at.from !== length + 1) report(kind, { file, offset, rule: misplaced({ ...at, length }) })
    owners.set(at.owner, at.from + at.count - 1)
    counts.set(at.stream, (counts.get(at.stream) ?? 0) + at.count)
  }
  return {
    count: (stream: string): number => counts.get(stream) ?? 0,
    owners: (stream: string): number => lengths.get(stream)?.size ?? 0,
    entries: (stream: string, { owner, from, entries }: EntryLine<unknown>, place: PagePlace) =>
      follow({ stream, owner, from, count: entries.length }, 'page', place),
    append: (stream: string, { owner, seq }: { owner: string; seq: number }, place: LinePlace): void =>
      follow({ stream, owner, from: seq, count: 1 }, 'log', place),
  }
}

interface RowWatchParts {
  readonly stream: string
  readonly tables: Tables
  readonly pathOf: (page: number) => string
  readonly mayBegin: boolean
}

/** By sorted rows of one stream that tell what its pages hold: nothing is kept but the owner that is read. */
class RowWatch {
  readonly #parts: RowWatchParts
  /** Of owners that the log appends to. */
  readonly #lengths = new Map<string, number>()
  readonly #faults: { readonly kind: FindingKind; readonly fault: Fault }[] = []
  #owner: string | undefined
  #owners = 0
  #length = 0
  #count = 0
  /** The rows are those of the lines that were read. */
  isTrue = false

  constructor(parts: RowWatchParts) {
    this.#parts = parts
  }

  /** What it holds against the pages and the log, as far as its rows are true. */
  get faults() {
    return this.#faults
  }

  /** Entries. */
  get count(): number {
    return this.#count
  }

  get owners(): number {
    return this.#owners + this.#lengths.size
  }

  row(row: Row): void {
    const [owner, extent] = [String(row[0]), extentOf(row)]
    const from = extent.count === 0 ? extent.first + 1 : extent.first
    if (owner !== this.#owner) {
      this.#owner = owner
      this.#owners += 1
      this.#length = this.#parts.mayBegin ? from - 1 : 0
    }
    const place = { file: this.#parts.pathOf(extent.page), offset: extent.offset }
    this.#follow({ owner, from, length: this.#length }, 'page', place)
    this.#count += extent.count
    this.#length = lastIn(extent)
  }

  append({ owner, seq }: { owner: string; seq: number }, place: LinePlace): void {
    const length = this.#lengths.get(owner) ?? this.#lengthOf(owner) ?? (this.#parts.mayBegin ? seq - 1 : 0)
    this.#follow({ owner, from: seq, length }, 'log', place)
    this.#count += 1
    this.#lengths.set(owner, seq)
  }

  #follow(at: Omit<Following, 'stream'>, kind: FindingKind, { file, offset }: LinePlace): void {
    if (at.from === at.length + 1) return
    this.#faults.push({ kind, fault: { file, offset, rule: misplaced({ ...at, stream: this.#parts.stream }) } })
  }

  #lengthOf(owner: string): number | undefined {
    const row = this.#parts.tables.findLast(extentSection, [owner])
    return row === undefined ? undefined : lastIn(extentOf(row))
  }
}

/** Streams whose tables are sound and true are checked by their rows, all others by their lines. */
export const watchStreams = (report: Report, place: SurveyPlace, mayBegin: MayBegin) => {
  const byLines = watchEntries(report, mayBegin)
  const byRows = new Map<string, RowWatch>()
  const names = new Set(Object.keys(place.manifest.streams))
  const readAgain = (stream: string): void => {
    const { manifest } = place
    const pages = manifest.streams[stream]?.pages ?? []
    const streams = { [stream]: { pages, tables: [], index: null } }
    survey({
      ...place,
      manifest: { ...manifest, streams, collections: {}, tombstones: {} },
      visitor: {
        fault: () => {},
        entries: byLines.entries,
        op: (op, _line, at) => {
          if (op[0] === 'app' && op[1] === stream) byLines.append(stream, { owner: op[2], seq: op[3] }, at)
        },
      },
    })
  }
  return {
    tables: ({ kind, name }: PageStoreName, { tables }: SoundTables): void => {
      const pathOf = (page: number): string => join(place.paths.streams, name, pageName(page))
      if (kind === 'streams') byRows.set(name, new RowWatch({ stream: name, tables, pathOf, mayBegin: mayBegin(name) }))
    },
    row: ({ kind, name }: PageStoreName, row: Row): void => {
      if (kind === 'streams') byRows.get(name)?.row(row)
    },
    matched: ({ kind, name }: PageStoreName): void => {
      const rows = kind === 'streams' ? byRows.get(name) : undefined
      if (rows !== undefined) rows.isTrue = true
    },
    entries: (stream: string, line: EntryLine<unknown>, at: PagePlace): void => {
      if (!byRows.has(stream)) byLines.entries(stream, line, at)
    },
    append: (stream: string, entry: { readonly owner: string; readonly seq: number }, at: LinePlace): void => {
      names.add(stream)
      const rows = byRows.get(stream)
      if (rows === undefined) byLines.append(stream, entry, at)
      else if (rows.isTrue) rows.append(entry, at)
    },
    /** Call behind `finish`. At least as many as there are. */
    owners: (stream: string): number => (byRows.get(stream)?.owners ?? 0) + byLines.owners(stream),
    /** Call when everything was read. */
    finish: (): void => {
      for (const [stream, rows] of byRows) {
        if (rows.isTrue) for (const { kind, fault } of rows.faults) report(kind, fault)
        else readAgain(stream)
      }
    },
    counts: (): Record<string, number> =>
      Object.fromEntries(
        Array.from(names, (name) => {
          const rows = byRows.get(name)
          return [name, rows?.isTrue === true ? rows.count : byLines.count(name)]
        }),
      ),
  }
}
