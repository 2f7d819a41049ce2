/** A segment of the commit log: its header, and the scan that tells a torn tail from damage. */
import type { Json, JsonObject } from '../../base/schema.js'
import { checkLineAt, type FileLines } from './file-lines.js'
import { checkLine, lineValue, saltSeed, type Fault } from './line.js'

export interface SegmentHeader {
  readonly v: 1
  readonly k: 'segment'
  readonly no: number
  readonly root: string
  /** Sequence of the first line. */
  readonly first: number
  /** Seed of the checksums of all lines but this one, eight hex digits. */
  readonly salt: string
  readonly generation: number
}

/**
 * `["put", collection, id, record]`; `["del", collection, id, reason]`, where the id is buried;
 * `["rem", collection, id, reason]`, where it is forgotten; or `["app", stream, owner, seq, entry]`.
 */
export type Op =
  | readonly ['put', string, string, JsonObject]
  | readonly ['del' | 'rem', string, string, string]
  | readonly ['app', string, string, number, Json]

/** One commit. */
export interface LogLine {
  readonly s: number
  /** First sequence of the batch that was written at once with this line. */
  readonly b: number
  /** Unix ms. */
  readonly t: number
  readonly ops: readonly Op[]
}

/** Where a line begins. */
export interface LinePlace {
  readonly file: string
  readonly offset: number
}

export interface SegmentScan {
  readonly header: SegmentHeader | undefined
  /** Last sequence read; the one before `first` if there is none. */
  readonly last: number
  /** Bytes from the start that are sound. */
  readonly sound: number
  readonly fault: Fault | undefined
  /** How the fault is to be read: `torn` was never acknowledged, `damage` may have been. */
  readonly verdict: 'whole' | 'torn' | 'damage'
}

export interface SegmentExpectation {
  readonly file: string
  readonly root: string
  readonly no: number
  readonly first: number
  /** The most bytes an unfinished batch may have. */
  readonly longestTail: number
  /** Bytes that count; all of the file when absent. */
  readonly end?: number
}

const headerFault = (
  bytes: Uint8Array,
  expected: SegmentExpectation,
): { header?: SegmentHeader; end: number; rule?: string } => {
  const check = checkLine(bytes, 0, 0)
  if (!check.ok) return { end: 0, rule: `the header: ${check.rule}` }
  const header = lineValue<SegmentHeader>(bytes, 0, check.end)
  const fits =
    header.k === 'segment' &&
    header.root === expected.root &&
    header.no === expected.no &&
    header.first === expected.first
  return fits ? { header, end: check.end } : { end: 0, rule: 'the header is that of another segment' }
}

interface Reach {
  readonly lines: FileLines
  readonly seed: number
  /** Bytes that are looked at. */
  readonly end: number
}

const lineAt = ({ lines, seed, end }: Reach, at: number) => {
  const check = checkLineAt(lines, at, { seed, end })
  const { line } = check
  return { check, line: line === undefined ? undefined : lineValue<LogLine>(line, 0, line.length) }
}

/** A sound line behind the fault whose batch began after it proves that the faulty line was committed. */
const provesDamage = (reach: Reach, from: number, expected: number): boolean => {
  for (let at = from; at < reach.end;) {
    const { check, line } = lineAt(reach, at)
    if (line !== undefined && line.b > expected) return true
    if (check.end === undefined) return false
    at = check.end
  }
  return false
}

const brokenRule = ({ check, line }: ReturnType<typeof lineAt>, expected: number): string | undefined => {
  if (!check.ok) return check.rule
  return line?.s === expected ? undefined : `sequence ${line?.s} stands where ${expected} belongs`
}

/** Where a scan ended and why. */
interface Stop {
  readonly at: number
  readonly last: number
  readonly rule: string
  readonly verdict: SegmentScan['verdict']
}

/** Reads the lines in order, up to `end`, and stops at the first fault. */
export const scanSegment = (
  lines: FileLines,
  expected: SegmentExpectation,
  visit: (line: LogLine, place: LinePlace) => void,
): SegmentScan => {
  const end = Math.min(lines.length, expected.end ?? lines.length)
  const { header, end: begin, rule } = headerFault(lines.line(0, end) ?? new Uint8Array(), expected)
  const stopped = ({ at, last, rule: why, verdict }: Stop): SegmentScan => ({
    header,
    last,
    sound: at,
    fault: { file: expected.file, offset: at, rule: why },
    verdict,
  })
  if (header === undefined) return stopped({ at: 0, last: expected.first - 1, rule: rule ?? '', verdict: 'damage' })
  const reach: Reach = { lines, seed: saltSeed(header.salt), end }
  let at = begin
  let last = header.first - 1
  while (at < end) {
    const found = lineAt(reach, at)
    const broken = brokenRule(found, last + 1)
    if (broken !== undefined || found.line === undefined || found.check.end === undefined) {
      const torn = end - at <= expected.longestTail && !provesDamage(reach, at, last + 1)
      return stopped({ at, last, rule: broken ?? '', verdict: torn ? 'torn' : 'damage' })
    }
    visit(found.line, { file: expected.file, offset: at })
    last = found.line.s
    at = found.check.end
  }
  return { header, last, sound: at, fault: undefined, verdict: 'whole' }
}
