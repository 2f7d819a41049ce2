/**
 * A sealed line: one JSON object whose last member is a CRC-32 of the bytes
 * before it, seeded with the salt of its file, so that a line of another file
 * never fits. The check runs on raw bytes; nothing is serialised again.
 */
import { crc32 } from 'node:zlib'
import { unsafeCast } from '../../base/schema.js'

/** The first byte of a file that breaks a rule. */
export interface Fault {
  readonly file: string
  readonly offset: number
  readonly rule: string
}

/** Bytes that a seal adds to a text without its closing brace: `,"c":"xxxxxxxx"}` and the newline. */
const sealBytes = 17
const newline = 10

const hex = (crc: number): string => crc.toString(16).padStart(8, '0')

/** The number a salt of eight hex digits stands for. */
export const saltSeed = (salt: string): number => Number.parseInt(salt, 16)

/** Collects sealed lines in one buffer, so that many lines are one write. */
export interface LineBuffer {
  /**
   * Adds a line: `text` is an object's JSON without its closing brace, or what follows its beginning `before`. Returns
   * the line's length in bytes.
   */
  add(text: string, seed: number, before?: string): number
  readonly length: number
  /** The lines so far; valid until the next `add` after `clear`. */
  bytes(): Uint8Array
  clear(): void
}

const keep = 8 * 1024 * 1024

export const createLineBuffer = (initial = 16 * 1024): LineBuffer => {
  let buffer = Buffer.allocUnsafe(initial)
  let length = 0
  const reserve = (bytes: number): void => {
    if (length + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, length + bytes))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }
  const add = (text: string, seed: number, before = ''): number => {
    reserve((before.length + text.length) * 3 + sealBytes)
    const start = length
    const from = before === '' ? start : start + buffer.write(before, start, 'utf8')
    const end = from + buffer.write(text, from, 'utf8')
    const seal = `,"c":"${hex(crc32(buffer.subarray(start, end), seed))}"}\n`
    length = end + buffer.write(seal, end, 'latin1')
    return length - start
  }
  const clear = (): void => {
    length = 0
    if (buffer.length > keep) buffer = Buffer.allocUnsafe(initial)
  }
  return {
    add,
    get length() {
      return length
    },
    bytes: () => buffer.subarray(0, length),
    clear,
  }
}

/** One sealed line as bytes. */
export const sealedLine = (text: string, seed: number): Uint8Array => {
  const lines = createLineBuffer(text.length * 3 + sealBytes)
  lines.add(text, seed)
  return Buffer.from(lines.bytes())
}

/** Where a line ends, or the rule it breaks. `end` is behind the newline. */
export type LineCheck =
  | { readonly ok: true; readonly end: number }
  | { readonly ok: false; readonly rule: string; readonly end: number | undefined }

/** Checks the line that starts at `at`. */
export const checkLine = (bytes: Uint8Array, at: number, seed: number): LineCheck => {
  const stop = bytes.indexOf(newline, at)
  if (stop === -1) return { ok: false, rule: 'the line has no end', end: undefined }
  const end = stop + 1
  const sealAt = end - sealBytes
  if (sealAt <= at) return { ok: false, rule: 'the line is too short', end }
  const seal = view(bytes, sealAt, end).toString('latin1')
  if (seal !== `,"c":"${hex(crc32(bytes.subarray(at, sealAt), seed))}"}\n`)
    return { ok: false, rule: 'the checksum does not match', end }
  return { ok: true, end }
}

const view = (bytes: Uint8Array, start: number, end: number): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)

/** The JSON value of a line that was checked: this program wrote it, as what the reader says it is. */
export const lineValue = <T>(bytes: Uint8Array, start: number, end: number): T =>
  unsafeCast<T>(JSON.parse(view(bytes, start, end).toString('utf8')))
