/** Looks at the streams of a PDF before anything reads it: how many there are, and how large they become. */
import { inflateSync } from 'node:zlib'
import type { Refuse } from '../../../core/plugin.js'

const mebibyte = 1024 * 1024
const mostObjects = 10_000
const mostStreams = 2_048
/** Of one stream, and of all together, as they are stored and as they become. */
const mostBytes = 12 * mebibyte
/** What stands before a stream is looked for in so many characters. */
const mostDictionary = 4_096

const object = /\b\d{1,10}\s{1,8}\d{1,5}\s{1,8}obj\b/gu
const objectStream = /\/N\s{0,8}(\d{1,9})/u
const streamBegin = /stream\r?\n/gu

const countObjects = (text: string): number => {
  let count = 0
  for (const _found of text.matchAll(object)) count += 1
  return count
}

interface Stream {
  readonly dictionary: string
  readonly start: number
  readonly end: number
}

function* streamsOf(text: string): Generator<Stream> {
  for (const found of text.matchAll(streamBegin)) {
    if (text.startsWith('end', found.index - 3)) continue
    const start = found.index + found[0].length
    const before = text.slice(Math.max(0, found.index - mostDictionary), found.index)
    const dictionary = before.slice(Math.max(0, before.lastIndexOf(' obj')))
    const end = text.indexOf('endstream', start)
    yield { dictionary, start, end: end === -1 ? text.length : end }
  }
}

const filters = (dictionary: string): string[] => {
  const [, list = ''] = /\/F(?:ilter)?\s{0,8}(\[[^\]]{0,400}\]|\/\w{1,40})/u.exec(dictionary) ?? []
  return list.match(/\w+/gu) ?? []
}

/** Base 85 as PDF writes it. */
const fromAscii85 = (bytes: Buffer): Buffer => {
  const digits: number[] = []
  const made: number[] = []
  const flush = (group: number[], most: number): void => {
    const value = group.reduce((sum, digit) => sum * 85 + digit, 0)
    for (let at = 0; at < most; at += 1) made.push(Math.floor(value / 256 ** (3 - at)) & 255)
  }
  for (const byte of bytes) {
    if (byte === 0x7e) break
    if (byte === 0x7a && digits.length === 0) made.push(0, 0, 0, 0)
    else if (byte >= 0x21 && byte <= 0x75 && digits.push(byte - 0x21) === 5) flush(digits.splice(0), 4)
  }
  if (digits.length > 1) {
    const have = digits.length
    flush([...digits, ...Array<number>(5 - have).fill(84)], have - 1)
  }
  return Buffer.from(made)
}

const tooLarge = 'its streams become more than 12 MiB'

/** What a compressed stream becomes; undefined where it is broken, or encrypted. */
const inflated = (bytes: Uint8Array, most: number, refuse: Refuse): Buffer | undefined => {
  try {
    return inflateSync(bytes, { maxOutputLength: Math.max(1, most) })
  } catch (error) {
    if (error instanceof RangeError) return refuse(tooLarge)
    return undefined
  }
}

/** Bytes that a stream becomes, as far as it is compressed by the usual way. */
const grown = (bytes: Buffer, names: readonly string[], inflate: (bytes: Buffer) => Buffer | undefined): number => {
  let now: Buffer | undefined = bytes
  let largest = bytes.length
  for (const name of names) {
    if (/^A(?:SCII)?85/u.test(name)) now = fromAscii85(now)
    else if (/^Fl(?:ate)?/u.test(name)) now = inflate(now)
    else return largest
    if (now === undefined) return largest
    largest = Math.max(largest, now.length)
  }
  return largest
}

/** Refuses what would cost too much to read. */
export const checkPdf = (file: Buffer, refuse: Refuse): void => {
  const text = file.toString('latin1')
  if (!text.slice(0, 1_024).includes('%PDF-')) refuse('it does not begin as one')
  let [objects, streams, stored, become] = [countObjects(text), 0, 0, 0]
  for (const { dictionary, start, end } of streamsOf(text)) {
    streams += 1
    stored += end - start
    if (dictionary.includes('/ObjStm')) objects += Number(objectStream.exec(dictionary)?.[1] ?? 0)
    if (streams > mostStreams) refuse(`it has more than ${mostStreams} streams`)
    if (stored > mostBytes) refuse('its streams have more than 12 MiB')
    // Pictures are not decoded when text is read.
    if (/\/Subtype\s{0,8}\/Image/u.test(dictionary)) continue
    const most = mostBytes - become
    become += grown(file.subarray(start, end), filters(dictionary), (bytes) => inflated(bytes, most, refuse))
    if (become > mostBytes) refuse(tooLarge)
  }
  if (objects > mostObjects) refuse(`it has more than ${mostObjects} objects`)
}
