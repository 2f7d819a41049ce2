/**
 * The index file of a collection or stream: one row per checkpointed record or
 * run of entries, so that a start reads this file and not the pages. It can
 * always be made again from the pages.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import { unsafeCast } from '../../base/schema.js'
import type { CollectionSpec } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { indexName, numberOf } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { createFileLines, type FileLines } from '../format/file-lines.js'
import { createLineFile, openLineFile, scanLineFile, valueAt, type LineFile } from '../format/line-file.js'
import type { IndexRef } from '../format/manifest.js'

/** Changes when the shape or an index of a collection does; then the rows are made again. */
export const fingerprint = <T extends object>({ version, indexes, settled }: CollectionSpec<T>): string => {
  const text = JSON.stringify([
    version,
    String(settled),
    Object.entries(indexes).map(([name, { group, sort }]) => [name, String(group), String(sort)]),
  ])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

export type IndexRead<R> =
  | {
      readonly ok: true
      /** Newest batch of rows last. */ readonly batches: Iterable<readonly R[]>
      readonly newestFirst: () => Iterable<readonly R[]>
    }
  | { readonly ok: false; readonly fault: Fault }

const rowsAt = <R>(lines: FileLines, start: number): readonly R[] =>
  unsafeCast<{ rows: readonly R[] }>(valueAt(lines, start)).rows

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
  if (header?.['mark'] !== mark) return { ok: false, fault: { file: path, offset: 0, rule: 'the declaration changed' } }
  function* walk(order: readonly number[]): Iterable<readonly R[]> {
    for (const start of order) yield rowsAt<R>(lines, start)
  }
  return { ok: true, batches: walk(starts), newestFirst: () => walk(starts.toReversed()) }
}

export interface IndexDraft<R> {
  add(row: R): Promise<void>
  finish(): Promise<IndexRef>
  abandon(): Promise<void>
}

export interface IndexFiles<R> {
  path(no: number): string
  /** Adds rows behind those that count, or begins a new file. */
  draft(after: IndexRef | undefined): Promise<IndexDraft<R>>
}

export interface IndexFilesOptions {
  readonly disk: Disk
  readonly folder: string
  readonly ids: Ids
  readonly root: string
  readonly of: string
  readonly mark: string
}

const rowsPerLine = 128

export const createIndexFiles = <R>({ disk, folder, ids, root, of, mark }: IndexFilesOptions): IndexFiles<R> => {
  const path = (no: number): string => join(folder, indexName(no))
  const begin = (no: number): Promise<LineFile> =>
    createLineFile(disk, path(no), { v: 1, k: 'index', of, salt: ids.random(4), no, root, mark })
  const nextNo = (): number => 1 + Math.max(0, ...disk.list(folder).map((name) => numberOf(name) ?? 0))
  const draft = async (after: IndexRef | undefined): Promise<IndexDraft<R>> => {
    const no = after?.no ?? nextNo()
    const file = after === undefined ? await begin(no) : await openLineFile(disk, path(no), after.length)
    let rows = after?.rows ?? 0
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
  return { path, draft }
}
