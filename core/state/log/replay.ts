/** Reads the log behind the checkpoint and decides about its end. Looks only; changes no file. */
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { createFileLines, type FileLines } from '../format/file-lines.js'
import { segmentName } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { Manifest, SegmentRef } from '../format/manifest.js'
import { scanSegment, type LinePlace, type LogLine, type SegmentScan } from '../format/segment.js'
import type { Watermark } from '../format/watermark.js'

/**
 * The most bytes that one unfinished batch can leave behind: a batch, and the line that overfilled it. Earlier versions
 * counted characters and wrote up to 36 MiB.
 */
export const longestTail = 40 * 1024 * 1024

export interface ReplayOptions {
  readonly disk: Disk
  readonly folder: string
  readonly manifest: Manifest
  readonly watermark: Watermark | undefined
  readonly visit: (line: LogLine, place: LinePlace) => void
}

export interface Replay {
  /** Last sound sequence. */
  readonly sequence: number
  readonly t: number
  readonly lines: number
  /** Sound bytes of all segments. */
  readonly bytes: number
  /** Bytes of each segment that are sound, in the manifest's order, up to the first fault. */
  readonly sound: readonly { readonly segment: SegmentRef; readonly length: number; readonly size: number }[]
  /** A tail that was never acknowledged. */
  readonly torn: Fault | undefined
  /** The first byte that may have been acknowledged and cannot be read. */
  readonly damage: Fault | undefined
}

type Mutable = {
  sequence: number
  t: number
  lines: number
  bytes: number
  sound: { segment: SegmentRef; length: number; size: number }[]
  torn: Fault | undefined
  damage: Fault | undefined
}

/** The lines of a segment, and the fault of the file as a whole. */
const openSegmentLines = (
  disk: Disk,
  path: string,
  { length }: SegmentRef,
): { readonly lines: FileLines; readonly fault?: Fault } => {
  const lines = createFileLines(disk, path)
  if (disk.stat(path) === undefined) return { lines, fault: { file: path, offset: 0, rule: 'the file is missing' } }
  if (length === null || lines.length >= length) return { lines }
  return { lines, fault: { file: path, offset: lines.length, rule: `the file ends before its ${length} bytes` } }
}

const judge = (scan: SegmentScan, replay: Mutable, sealed: boolean): void => {
  if (scan.fault === undefined) return
  if (scan.verdict === 'torn' && !sealed) replay.torn = scan.fault
  else replay.damage = scan.fault
}

/** The daemon closed in order, and the log ends where it said. */
export const endsClean = ({ sequence, torn }: Replay, generation: number, watermark: Watermark | undefined): boolean =>
  watermark?.clean === true &&
  watermark.generation === generation &&
  watermark.sequence === sequence &&
  torn === undefined

/**
 * A log that ends before what was acknowledged is damaged, and so is one that has bytes behind its clean end which are
 * no lines. Sound lines there are commits like any other: their mark was made too early.
 */
const judgeEnd = (replay: Mutable, { manifest, watermark, folder }: ReplayOptions): void => {
  const last = replay.sound.at(-1)
  const file = last === undefined ? folder : join(folder, segmentName(last.segment.no))
  const offset = last?.length ?? 0
  const least = Math.max(manifest.sequence, watermark?.sequence ?? 0)
  if (replay.sequence < least) {
    replay.damage = { file, offset, rule: `the log ends at ${replay.sequence}, but ${least} was acknowledged` }
  } else if (
    watermark?.clean === true &&
    watermark.generation === manifest.generation &&
    replay.torn !== undefined &&
    replay.sequence === watermark.sequence
  ) {
    replay.damage = {
      file,
      offset: replay.torn.offset,
      rule: `the log goes on behind its clean end at ${watermark.sequence}`,
    }
  }
}

export const replayLog = (options: ReplayOptions): Replay => {
  const { disk, folder, manifest, visit } = options
  const replay: Mutable = {
    sequence: manifest.sequence,
    t: manifest.t,
    lines: 0,
    bytes: 0,
    sound: [],
    torn: undefined,
    damage: undefined,
  }
  let expectedFirst: number | undefined
  const take = (line: LogLine, place: LinePlace): void => {
    if (line.s <= manifest.sequence) return
    visit(line, place)
    replay.lines += 1
    replay.sequence = line.s
    replay.t = line.t
  }
  for (const segment of manifest.segments) {
    const file = join(folder, segmentName(segment.no))
    const { lines, fault } = openSegmentLines(disk, file, segment)
    const gap = expectedFirst === undefined ? segment.first > manifest.sequence + 1 : segment.first !== expectedFirst
    if (gap)
      replay.damage = {
        file,
        offset: 0,
        rule: `the segment starts at ${segment.first} where ${expectedFirst ?? manifest.sequence + 1} belongs`,
      }
    else if (fault?.offset === 0) replay.damage = fault
    if (replay.damage !== undefined) break
    const scan = scanSegment(
      lines,
      {
        file,
        root: manifest.root,
        no: segment.no,
        first: segment.first,
        longestTail,
        ...(segment.length !== null && { end: segment.length }),
      },
      take,
    )
    replay.sound.push({ segment, length: scan.sound, size: lines.length })
    replay.bytes += scan.sound
    judge(scan, replay, segment.length !== null)
    if (scan.fault === undefined && fault !== undefined) replay.damage = fault
    if (replay.damage !== undefined) break
    expectedFirst = scan.last + 1
  }
  if (replay.damage === undefined) judgeEnd(replay, options)
  return replay
}
