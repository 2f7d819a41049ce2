/** What a walk over a root tells, and whom. */
import type { Json, JsonObject } from '../../../base/schema.js'
import type { Disk } from '../../disk/disk.js'
import type { Layout } from '../../format/layout.js'
import type { Fault } from '../../format/line.js'
import type { Manifest } from '../../format/manifest.js'
import type { LinePlace, LogLine, Op } from '../../format/segment.js'
import type { Watermark } from '../../format/watermark.js'
import type { EntryLine } from '../../pages/entry-codec.js'
import type { RecordLine } from '../../pages/record-codec.js'
import type { Row } from '../../tables/rows.js'
import type { Tables } from '../../tables/tables.js'
import type { Known, TableRoom } from './lookup.js'

/** What is wrong, in the terms of a repair. */
export type FindingKind =
  | 'root'
  | 'manifest'
  | 'watermark'
  | 'log'
  | 'torn'
  | 'page'
  | 'index'
  | 'tombstones'
  | 'document'
  | 'blob'
  | 'spool'
  | 'mode'
  | 'stranger'
  | 'leftover'
  | 'behind'
  | 'record'
  | 'reference'
  | 'chain'

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
  tombstone?(collection: string, id: string, why: { readonly reason: string; readonly place: LinePlace }): void
  /** Entries of one owner as a page holds them. */
  entries?(stream: string, line: EntryLine<Json>, place: PagePlace): void
  /** An operation of the log behind the checkpoint. */
  op?(op: Op, line: LogLine, place: LinePlace): void
  /** The rows of sound tables that say which lines of pages count, in order of their keys; before those lines. */
  row?(pageStore: PageStoreName, row: Row): void
  /** Every row was found to name a line, and every line of a stream has a row; after those lines. */
  matched?(pageStore: PageStoreName): void
  /** The newest line of a record on the pages, unless the log or a tombstone says otherwise: `counts` is false then. */
  record?(collection: string, line: RecordLine<JsonObject>, place: PagePlace & { readonly counts: boolean }): void
  /** A line that counts and says that the record of this id is gone. */
  removal?(collection: string, id: string): void
  /** A record's line that does not count, where tables say which do. */
  dead?(collection: string, id: string, place: PagePlace): void
  /** The log was read: told before any record, what tells which records are there. */
  found?(known: Known): void
  /** The tables of a collection or stream, all of whose lines are sound; who reads them counts their bytes. */
  tables?(pageStore: PageStoreName, tables: SoundTables): void
  /** Everything was walked; tables can still be read. */
  finish?(): void
}

export interface PageStoreName {
  readonly kind: 'data' | 'streams'
  readonly name: string
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
  readonly room: TableRoom
}
