/**
 * The index file of a collection or stream: one row per checkpointed record or
 * run of entries, so that a start reads this file and not the pages. It can
 * always be made again from the pages.
 */
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { indexName, numberOf } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { createFileLines, type FileLines } from '../format/file-lines.js'
import { createLineFile, openLineFile, scanLineFile, valueAt, type LineFile } from '../format/line-file.js'
import type { IndexRef } from '../format/manifest.js'
import type { PageOptions, ReadOrder } from './page-file.js'

export const declarationChanged = 'the declaration changed'

export type IndexRead<R> =
  | { readonly ok: true; batches(order: ReadOrder): Iterable<readonly R[]> }
  | { readonly ok: false; readonly fault: Fault }

const batchesIn = function* <R>(lines: FileLines, starts: readonly number[], order: ReadOrder): Iterable<readonly R[]> {
  const isReversed = order === 'newest first'
  for (const start of isReversed ? starts.toReversed() : starts) {
    const { rows } = valueAt<{ rows: readonly R[] }>(lines, start)
    yield isReversed ? rows.toReversed() : rows
  }
}

/** Reads the rows that count; a fault or another fingerprint makes it useless. */
export const readIndex = <R>(
  disk: Disk,
  path: string,
  { length, mark, pieceBytes }: { readonly length: number; readonly mark: string; readonly pieceBytes?: number },
): IndexRead<R> => {
  const lines = createFileLines(disk, path, pieceBytes)
  const { header, starts, faults } = scanLineFile(lines, length)
  const [fault] = faults
  if (fault !== undefined) return { ok: false, fault }
  if (header?.['mark'] !== mark) return { ok: false, fault: { file: path, offset: 0, rule: declarationChanged } }
  return { ok: true, batches: (order) => batchesIn<R>(lines, starts, order) }
}

const rowsPerLine = 128

/** Rows being added by one checkpoint. */
export interface IndexDraft<R> {
  add(row: R): Promise<void>
  finish(): Promise<IndexRef>
  abandon(): Promise<void>
}

const draftOn = <R>(file: LineFile, no: number, before: number): IndexDraft<R> => {
  let rows = before
  let batch: R[] = []
  const put = async (): Promise<void> => {
    if (batch.length === 0) return
    file.add(`{"rows":${JSON.stringify(batch)}`)
    rows += batch.length
    batch = []
    if (file.full) await file.flush()
  }
  return {
    add: async (row) => {
      batch.push(row)
      if (batch.length >= rowsPerLine) await put()
    },
    finish: async () => {
      await put()
      await file.sync()
      await file.close()
      return { no, length: file.length, rows }
    },
    abandon: () => file.close().catch(() => undefined),
  }
}

export interface IndexFiles<R> {
  read(ref: IndexRef): IndexRead<R>
  /** Adds rows behind those that count, or begins a new file. */
  draft(after: IndexRef | undefined): Promise<IndexDraft<R>>
}

export const createIndexFiles = <R>({ disk, folder, ids, root, of }: PageOptions, mark: string): IndexFiles<R> => {
  const path = (no: number): string => join(folder, indexName(no))
  const begin = async (): Promise<IndexDraft<R>> => {
    const no = 1 + Math.max(0, ...disk.list(folder).map((name) => numberOf(name) ?? 0))
    const header = { v: 1, k: 'index', of, salt: ids.random(4), no, root, mark } as const
    return draftOn(await createLineFile(disk, path(no), header), no, 0)
  }
  const goOn = async ({ no, length, rows }: IndexRef): Promise<IndexDraft<R>> =>
    draftOn(await openLineFile(disk, path(no), length), no, rows)
  return {
    read: ({ no, length }) => readIndex(disk, path(no), { length, mark }),
    draft: (after) => (after === undefined ? begin() : goOn(after)),
  }
}
