/**
 * Reads everything a root holds, in the order in which it counts: tombstones,
 * stream pages, the log behind them, record pages from the newest line back.
 * Looks only. Checking, showing and salvage are visitors of this one walk.
 */
import { join } from 'node:path'
import type { Json, JsonObject } from '../../base/schema.js'
import type { Disk } from '../disk/disk.js'
import { indexName, pageName, segmentName, type Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { createFileLines, type FileLines } from '../format/file-lines.js'
import { lengthAt, scanLineFile, valueAt, type LineFileHeader } from '../format/line-file.js'
import type { Manifest, PagesRef } from '../format/manifest.js'
import { replayLog, type Replay } from '../log/replay.js'
import type { LinePlace, LogLine, Op } from '../format/segment.js'
import type { EntryLine } from '../pages/entry-codec.js'
import { OpenPages } from '../pages/open-pages.js'
import type { RecordLine } from '../pages/record-codec.js'
import type { Tables } from '../tables/tables.js'
import { tombstonePath } from '../pages/tombstones.js'
import { createHas, createNewest, openTables, type Has, type Lookup } from './survey-lookup.js'
import type { FindingKind } from './verify-findings.js'
import type { Watermark } from '../format/watermark.js'

/** A line of a page. */
export interface PagePlace extends LinePlace {
  readonly page: number
  readonly length: number
}

export interface SurveyVisitor {
  fault(kind: FindingKind, fault: Fault): void
  /** Bytes and lines that were read. */
  count?(counts: { readonly files?: number; readonly items?: number; readonly bytes?: number }): void
  /** Runs one part of the walk. */
  look?<R>(area: string, run: () => R): R
  tombstone?(collection: string, id: string, reason: string): void
  /** Entries of one owner as a page holds them. */
  entries?(stream: string, line: EntryLine<Json>, place: PagePlace): void
  /** An operation of the log behind the checkpoint. */
  op?(op: Op, line: LogLine, place: LinePlace): void
  /** The newest line of a record on the pages, unless the log or a tombstone says otherwise: `counts` is false then. */
  record?(collection: string, line: RecordLine<JsonObject>, place: PagePlace & { readonly counts: boolean }): void
  /** The log was read: told before any record, what tells which records are there. */
  found?(has: Has): void
  /** The tables of a collection or stream, all of whose lines are sound. */
  tables?(pageStore: { readonly kind: 'data' | 'streams'; readonly name: string }, tables: SoundTables): void
}

/** Tables to read from, and the file of the newest. */
export interface SoundTables {
  readonly tables: Tables
  readonly file: string
}

export interface SurveyOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly manifest: Manifest
  readonly watermark: Watermark | undefined
  readonly visitor: SurveyVisitor
  /** Tables that are open. */
  readonly files: OpenPages
}

interface Expected {
  readonly path: string
  readonly length: number
  readonly kind: FindingKind
  readonly header: Partial<LineFileHeader>
}

const headerRule = (header: LineFileHeader, expected: Partial<LineFileHeader>): string | undefined =>
  Object.entries(expected).some(([member, value]) => header[member] !== value)
    ? 'the header is that of another file'
    : undefined

export interface SoundLines {
  readonly header: LineFileHeader
  readonly starts: readonly number[]
  readonly lines: FileLines
  /** Every line that counts is sound. */ readonly isWhole: boolean
}

/** The sound lines of a page, index or tombstone file; tells the visitor everything that is wrong with it. */
const readLines = (
  { disk, visitor }: SurveyOptions,
  { path, length, kind, header: wanted }: Expected,
): SoundLines | undefined => {
  const lines = createFileLines(disk, path)
  visitor.count?.({ files: 1, bytes: Math.min(lines.length, length) })
  if (lines.length === 0)
    return (
      visitor.fault(kind, {
        file: path,
        offset: 0,
        rule: disk.stat(path) === undefined ? 'the file is missing' : 'the file is empty',
      }),
      undefined
    )
  const { header, starts, faults } = scanLineFile(lines, Math.min(lines.length, length))
  const rule = header === undefined ? undefined : headerRule(header, wanted)
  for (const fault of faults) visitor.fault(kind, fault)
  if (lines.length < length)
    visitor.fault(kind, { file: path, offset: lines.length, rule: `the file ends before its ${length} bytes` })
  if (lines.length > length)
    visitor.fault('behind', {
      file: path,
      offset: length,
      rule: 'bytes behind those that count: a checkpoint was cut off',
    })
  if (rule !== undefined) visitor.fault(kind, { file: path, offset: 0, rule })
  const isWhole = faults.length === 0 && lines.length >= length
  return header === undefined || rule !== undefined ? undefined : { header, starts, lines, isWhole }
}

const readEveryTombstone = (options: SurveyOptions): Map<string, Set<string>> => {
  const { paths, manifest, visitor } = options
  const tombstones = new Map<string, Set<string>>()
  for (const [of, length] of Object.entries(manifest.tombstones)) {
    const deleted = new Set<string>()
    tombstones.set(of, deleted)
    const found = readLines(options, {
      path: tombstonePath(paths.tombstones, of),
      length,
      kind: 'tombstones',
      header: { k: 'tombstones', of, root: manifest.root },
    })
    if (found === undefined) continue
    for (const start of found.starts) {
      const { id, reason } = valueAt<{ id: string; reason: string }>(found.lines, start)
      deleted.add(id)
      visitor.tombstone?.(of, id, reason)
      visitor.count?.({ items: 1 })
    }
  }
  return tombstones
}

interface PageStore {
  readonly kind: 'data' | 'streams'
  readonly name: string
  readonly folder: string
  readonly ref: PagesRef
}

const pageStores = (kind: PageStore['kind'], { paths, manifest }: SurveyOptions): PageStore[] =>
  Object.entries(kind === 'data' ? manifest.collections : manifest.streams).map(([name, ref]) => ({
    kind,
    name,
    ref,
    folder: join(paths[kind], name),
  }))

const pageHeader = ({ name }: PageStore, no: number, root: string): Partial<LineFileHeader> => ({
  k: 'page',
  of: name,
  no,
  root,
})

/** Checks every line of the tables; undefined where one of them cannot be used. */
const readTables = (options: SurveyOptions, pageStore: PageStore): Tables | undefined => {
  const { visitor, manifest, disk, files } = options
  const { tables: refs } = pageStore.ref
  const path = (no: number): string => join(pageStore.folder, indexName(no))
  const isSound = refs.map(({ no, length }) => {
    const header = { k: 'index', of: pageStore.name, no, root: manifest.root } as const
    return readLines(options, { path: path(no), length, kind: 'index', header })?.isWhole === true
  })
  const last = refs.at(-1)
  if (last === undefined || isSound.includes(false)) return undefined
  const tables = openTables({ disk, files, path }, refs)
  visitor.count?.({ items: refs.reduce((sum, { rows }) => sum + rows, 0) })
  visitor.tables?.(pageStore, { tables, file: path(last.no) })
  return tables
}

/** Those of collections, by their names. */
const readEveryTable = (options: SurveyOptions): ReadonlyMap<string, Tables> => {
  const found = new Map<string, Tables>()
  for (const pageStore of pageStores('streams', options)) readTables(options, pageStore)
  for (const pageStore of pageStores('data', options)) {
    const tables = readTables(options, pageStore)
    if (tables !== undefined) found.set(pageStore.name, tables)
  }
  return found
}

const readStream = (options: SurveyOptions, pageStore: PageStore): void => {
  const { visitor, manifest } = options
  for (const { no, length } of pageStore.ref.pages) {
    const path = join(pageStore.folder, pageName(no))
    const found = readLines(options, { path, length, kind: 'page', header: pageHeader(pageStore, no, manifest.root) })
    if (found === undefined) continue
    for (const offset of found.starts) {
      const line = valueAt<EntryLine<Json>>(found.lines, offset)
      visitor.count?.({ items: line.entries.length })
      const place = { file: path, offset, page: no, length: lengthAt(found.lines, offset) }
      visitor.entries?.(pageStore.name, line, place)
    }
  }
}

const readCollection = (options: SurveyOptions, pageStore: PageStore, lookup: Lookup): void => {
  const { visitor, manifest } = options
  const [deleted, newer] = [lookup.tombstones.get(pageStore.name), lookup.written.get(pageStore.name)]
  const tables = lookup.tables.get(pageStore.name)
  const isNewest = createNewest(tables)
  for (const { no, length, live } of pageStore.ref.pages.toReversed()) {
    const path = join(pageStore.folder, pageName(no))
    const found = readLines(options, { path, length, kind: 'page', header: pageHeader(pageStore, no, manifest.root) })
    if (found === undefined) continue
    let counted = 0
    for (const offset of found.starts.toReversed()) {
      visitor.count?.({ items: 1 })
      const line = valueAt<RecordLine<JsonObject>>(found.lines, offset)
      const place = { file: path, offset, page: no, length: lengthAt(found.lines, offset) }
      if (deleted?.has(line.id) === true || !isNewest(line.id, place)) continue
      counted += place.length
      visitor.record?.(pageStore.name, line, { ...place, counts: newer?.has(line.id) !== true })
    }
    if (tables !== undefined && found.isWhole && counted !== live)
      visitor.fault('index', { file: path, offset: 0, rule: `rows name ${counted} bytes of it, and ${live} count` })
  }
}

const readLog = ({
  disk,
  paths,
  manifest,
  watermark,
  visitor,
}: SurveyOptions): { replay: Replay; written: Lookup['written'] } => {
  const written = new Map<string, Map<string, boolean>>()
  const visit = (line: LogLine, place: LinePlace): void => {
    visitor.count?.({ items: 1 })
    for (const op of line.ops) {
      if (op[0] !== 'app') {
        const ids = written.get(op[1]) ?? new Map<string, boolean>()
        written.set(op[1], ids.set(op[2], op[0] === 'put'))
      }
      visitor.op?.(op, line, place)
    }
  }
  const replay = replayLog({ disk, folder: paths.log, manifest, watermark, visit })
  for (const { segment, length, size } of replay.sound) {
    visitor.count?.({ files: 1, bytes: length })
    const path = join(paths.log, segmentName(segment.no))
    if (segment.length !== null && size > segment.length)
      visitor.fault('behind', {
        file: path,
        offset: segment.length,
        rule: 'bytes behind those that count: a write failed',
      })
  }
  if (replay.torn !== undefined) visitor.fault('torn', replay.torn)
  if (replay.damage !== undefined) visitor.fault('log', replay.damage)
  return { replay, written }
}

/** Tables that are open at a time. */
const openAtOnce = 64

/** Walks the whole root; returns what the log said. */
export const survey = (given: Omit<SurveyOptions, 'files'>): Replay => {
  const options = { ...given, files: new OpenPages(openAtOnce) }
  const look = <R>(area: string, run: () => R): R =>
    options.visitor.look === undefined ? run() : options.visitor.look(area, run)
  const tombstones = look('tombstones', () => readEveryTombstone(options))
  const tables = look('indexes', () => readEveryTable(options))
  look('streams', () => {
    for (const pageStore of pageStores('streams', options)) readStream(options, pageStore)
  })
  const { replay, written } = look('log', () => readLog(options))
  const paged = new Set(pageStores('data', options).flatMap(({ name, ref }) => (ref.pages.length > 0 ? [name] : [])))
  const lookup: Lookup = { tombstones, written, tables, paged }
  options.visitor.found?.(createHas(lookup))
  look('data', () => {
    for (const pageStore of pageStores('data', options)) readCollection(options, pageStore, lookup)
  })
  return replay
}
