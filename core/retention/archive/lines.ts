/** The lines of an archive: sealed as those of a state root, so that an edit and a cut are found. */
import { createLineBuffer, saltSeed } from '../../state/format/line.js'
import type { FallingLine } from '../../state/contract.js'
import type { JsonObject } from '../../base/schema.js'

/** The first line: what the others are of. */
export interface ArchiveHeader {
  readonly v: 1
  readonly k: 'archive'
  /** The kind. */
  readonly of: string
  /** Eight hex digits that seed the checksums of the other lines. */
  readonly salt: string
  /** Id of the state root. */
  readonly root: string
  /** The partitions that fell: the last one, and the stamps of the first and last change, Unix ms. */
  readonly upto: number
  readonly from: number
  readonly to: number
  /** Unix ms. */
  readonly archived_at_ms: number
}

/** Records and entries of an archive, which its last line counts. */
export type ArchiveCounts = { readonly records: number; readonly entries: number }

export type ArchiveLine =
  | { readonly collection: string; readonly id: string; readonly r: JsonObject }
  | { readonly stream: string; readonly owner: string; readonly from: number; readonly entries: readonly JsonObject[] }
  | ({ readonly end: true } & ArchiveCounts)

/** Bytes that are handed on at once. */
const portion = 256 * 1024

const open = (value: object): string => JSON.stringify(value).slice(0, -1)

const lineOf = (line: FallingLine): object =>
  'collection' in line ? { collection: line.collection, id: line.id, r: line.record } : line

/** An archive as bytes, in portions; `counts` is told the sums behind the last. */
export function* archiveBytes(
  header: ArchiveHeader,
  lines: Iterable<FallingLine>,
  counted: (counts: ArchiveCounts) => void,
): Iterable<Uint8Array> {
  const buffer = createLineBuffer()
  const seed = saltSeed(header.salt)
  let [records, entries] = [0, 0]
  buffer.add(open(header), 0)
  for (const line of lines) {
    if ('collection' in line) records += 1
    else entries += line.entries.length
    buffer.add(open(lineOf(line)), seed)
    if (buffer.length < portion) continue
    yield Buffer.from(buffer.bytes())
    buffer.clear()
  }
  buffer.add(open({ end: true, records, entries }), seed)
  yield Buffer.from(buffer.bytes())
  counted({ records, entries })
}
