/** Files of lines as a walk over a root reads them. */
import { createFileLines, type FileLines } from '../../format/file-lines.js'
import { beginLines, lineOf, type FileIdentity, type SoundLine } from '../../format/line-file.js'
import type { ReadOrder } from '../../pages/page-file.js'
import type { FindingKind, SurveyOptions } from './visitor.js'

/** A file, how many of its bytes count, and how it must begin. */
interface Expected {
  readonly path: string
  readonly length: number
  readonly kind: FindingKind
  readonly header: FileIdentity
  readonly order?: ReadOrder
}

/**
 * Takes the sound lines of a page, index or tombstone file; tells the visitor everything that is wrong with it. True if
 * every line that counts is sound.
 */
export const readLines = (
  { disk, visitor }: SurveyOptions,
  { path, length, kind, header, order = 'oldest first' }: Expected,
  take: (line: SoundLine) => void,
): boolean => {
  const lines = createFileLines(disk, path)
  visitor.count?.({ files: 1 })
  if (lines.length === 0)
    return (
      visitor.fault(kind, {
        file: path,
        offset: 0,
        rule: disk.stat(path) === undefined ? 'the file is missing' : 'the file is empty',
      }),
      false
    )
  const { lines: sound, faults } = beginLines(lines, Math.min(lines.length, length), header)
  for (const line of order === 'oldest first' ? sound : backwards(lines, sound)) take(line)
  if (kind !== 'index') visitor.count?.({ bytes: Math.min(lines.length, length) })
  for (const fault of faults) visitor.fault(kind, fault)
  if (lines.length < length)
    visitor.fault(kind, { file: path, offset: lines.length, rule: `the file ends before its ${length} bytes` })
  if (lines.length > length)
    visitor.fault('behind', {
      file: path,
      offset: length,
      rule: 'bytes behind those that count: a checkpoint was cut off',
    })
  return faults.length === 0 && lines.length >= length
}

const backwards = function* (lines: FileLines, sound: Iterable<SoundLine>): Iterable<SoundLine> {
  const starts = Array.from(sound, ({ offset }) => offset)
  for (const offset of starts.reverse()) yield { offset, bytes: lineOf(lines, offset) }
}
