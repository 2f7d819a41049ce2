/** The lines of an archive: sealed as those of a state root, so that an edit and a cut are found. */
import { createLineBuffer, saltSeed } from '../../state/format/line.js'
import type { FallingLine } from '../../state/contract.js'
import {
  array,
  having,
  integer,
  json,
  jsonObject,
  literal,
  open,
  string,
  timestamp,
  type Infer,
} from '../../base/schema.js'

const count = () => integer({ min: 0 })

/** The first line: what the others are of. */
export const ArchiveHeader = open({
  v: literal(1),
  k: literal('archive'),
  /** The kind. */
  of: string(),
  /** Eight hex digits that seed the checksums of the other lines. */
  salt: string({ pattern: '^[0-9a-f]{8}$' }),
  /** Id of the state root. */
  root: string(),
  /** The partitions that fell: the last one, and the stamps of the first and last change, Unix ms. */
  upto: count(),
  from: timestamp(),
  to: timestamp(),
  /** Unix ms. */
  archived_at_ms: timestamp(),
})
export type ArchiveHeader = Readonly<Infer<typeof ArchiveHeader>>

const RecordLine = open({ collection: string(), id: string(), r: jsonObject() })
const EntriesLine = open({ stream: string(), owner: string(), from: integer({ min: 1 }), entries: array(json()) })
const EndLine = open({ end: literal(true), records: count(), entries: count() })

/** Records and entries of an archive, which its last line counts. */
export type ArchiveCounts = { readonly records: number; readonly entries: number }

/** Any line but the first. */
export const ArchiveLine = having('collection', RecordLine, having('stream', EntriesLine, EndLine))
export type ArchivedLine = Infer<typeof RecordLine> | Infer<typeof EntriesLine>

/** Bytes that are handed on at once. */
const portion = 256 * 1024

const unclosed = (value: object): string => JSON.stringify(value).slice(0, -1)

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
  buffer.add(unclosed(header), 0)
  for (const line of lines) {
    if ('collection' in line) records += 1
    else entries += line.entries.length
    buffer.add(unclosed(lineOf(line)), seed)
    if (buffer.length < portion) continue
    yield Buffer.from(buffer.bytes())
    buffer.clear()
  }
  buffer.add(unclosed({ end: true, records, entries }), seed)
  yield Buffer.from(buffer.bytes())
  counted({ records, entries })
}
