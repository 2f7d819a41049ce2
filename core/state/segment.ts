/** A segment of the commit log: its header, and the scan that tells a torn tail from damage. */
import { trusted } from '../schema.js'
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

/** `["put", collection, id, record]`, `["del", collection, id, reason]` or `["app", stream, owner, seq, entry]`. */
export type Op =
  | readonly ['put', string, string, object]
  | readonly ['del', string, string, string]
  | readonly ['app', string, string, number, unknown]

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
  /** The most bytes an unfinished batch may have. */ readonly longestTail: number
}

const headerOf = (bytes: Uint8Array, end: number): SegmentHeader => trusted<SegmentHeader>(lineValue(bytes, 0, end))

const headerFault = (
  bytes: Uint8Array,
  expected: SegmentExpectation,
): { header?: SegmentHeader; end: number; rule?: string } => {
  const check = checkLine(bytes, 0, 0)
  if (!check.ok) return { end: 0, rule: `the header: ${check.rule}` }
  const header = headerOf(bytes, check.end)
  const fits =
    header.k === 'segment' &&
    header.root === expected.root &&
    header.no === expected.no &&
    header.first === expected.first
  return fits ? { header, end: check.end } : { end: 0, rule: 'the header is that of another segment' }
}

/** A sound line behind the fault whose batch began after it proves that the faulty line was committed. */
const provesDamage = (
  bytes: Uint8Array,
  from: number,
  { seed, expected }: { seed: number; expected: number },
): boolean => {
  for (let at = from; at < bytes.length;) {
    const check = checkLine(bytes, at, seed)
    if (check.ok && trusted<LogLine>(lineValue(bytes, at, check.end)).b > expected) return true
    if (check.end === undefined) return false
    at = check.end
  }
  return false
}

/** Reads the lines in order and stops at the first fault. */
export const scanSegment = (
  bytes: Uint8Array,
  expected: SegmentExpectation,
  visit: (line: LogLine, place: LinePlace) => void,
): SegmentScan => {
  const { header, end, rule } = headerFault(bytes, expected)
  if (header === undefined)
    return {
      header,
      last: expected.first - 1,
      sound: 0,
      fault: { file: expected.file, offset: 0, rule: rule ?? '' },
      verdict: 'damage',
    }
  const seed = saltSeed(header.salt)
  let at = end
  let last = header.first - 1
  while (at < bytes.length) {
    const check = checkLine(bytes, at, seed)
    const line = check.ok ? trusted<LogLine>(lineValue(bytes, at, check.end)) : undefined
    const broken = check.ok
      ? line?.s === last + 1
        ? undefined
        : `sequence ${line?.s} stands where ${last + 1} belongs`
      : check.rule
    if (broken !== undefined || line === undefined || !check.ok) {
      const torn = bytes.length - at <= expected.longestTail && !provesDamage(bytes, at, { seed, expected: last + 1 })
      return {
        header,
        last,
        sound: at,
        fault: { file: expected.file, offset: at, rule: broken ?? '' },
        verdict: torn ? 'torn' : 'damage',
      }
    }
    visit(line, { file: expected.file, offset: at })
    last = line.s
    at = check.end
  }
  return { header, last, sound: at, fault: undefined, verdict: 'whole' }
}
