/** The characters of a page: what it was told to be in, what it says itself, and what it looks like. */
import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

const decoderOf = (label: string | undefined): TextDecoder | undefined => {
  try {
    return label === undefined ? undefined : new TextDecoder(label)
  } catch {
    return undefined
  }
}

const labelIn = (text: string): string | undefined => /charset\s*=\s*["']?\s*([\w.:-]{1,40})/iu.exec(text)?.[1]

const marks: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
]

const markOf = (bytes: Uint8Array): string | undefined =>
  marks.find(([mark]) => mark.every((byte, n) => bytes[n] === byte))?.[1]

/** What the first bytes of HTML or XML say. */
const declared = (bytes: Uint8Array): string | undefined => {
  const head = Buffer.from(bytes.subarray(0, 2_048)).toString('latin1')
  const meta = /<meta\b[^>]{0,500}>/giu
  for (const [tag] of head.matchAll(meta)) {
    const label = labelIn(tag)
    if (label !== undefined) return label
  }
  return /^<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]{1,40})/iu.exec(head)?.[1]
}

/** The end of UTF-8 that was cut in the middle of a character. */
const wholePart = (bytes: Uint8Array): Uint8Array => {
  for (let cut = 0; cut < 4; cut += 1) {
    const part = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(part)) return part
  }
  return bytes
}

/** What is known of the bytes: the header, and whether they end in the middle. */
export interface PageSource {
  readonly contentType: string
  readonly isCut: boolean
}

export const decodePage = (bytes: Uint8Array, { contentType, isCut }: PageSource): string => {
  const told = decoderOf(markOf(bytes)) ?? decoderOf(labelIn(contentType)) ?? decoderOf(declared(bytes))
  if (told !== undefined) return told.decode(bytes)
  const whole = isCut ? wholePart(bytes) : bytes
  return new TextDecoder(isUtf8(whole) ? 'utf-8' : 'windows-1252').decode(whole)
}
