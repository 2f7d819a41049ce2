/**
 * What values weigh: about the bytes of their JSON, without making it. A value is weighed once, as what is in the
 * journal or on its way to it no longer changes: a long conversation is looked at again at each step of its run.
 */
import type { Json } from '../../../../core/plugin.js'
import type { ModelMessage } from '../../models/contract.js'
import { weighFile } from '../prompt/mention.js'

const weights = new WeakMap<object, number>()

const remembered = <T extends object>(value: T, weighIt: (value: T) => number): number => {
  const known = weights.get(value)
  if (known !== undefined) return known
  const bytes = weighIt(value)
  weights.set(value, bytes)
  return bytes
}

const short = new Set('"\\\b\f\n\r\t')
/** Bytes of each ASCII character in JSON. */
const asciiBytes = Uint8Array.from({ length: 128 }, (_, unit) => {
  if (short.has(String.fromCharCode(unit))) return 2
  return unit < 0x20 ? 6 : 1
})

/** Half of a pair that stands alone is escaped. */
const isPair = (text: string, at: number): boolean => {
  const second = text.charCodeAt(at + 1)
  return text.charCodeAt(at) < 0xdc00 && second >= 0xdc00 && second <= 0xdfff
}

/** Bytes of a text in JSON, its quotes and escapes with it: that is what the log has to hold. */
const weighText = (text: string): number => {
  let bytes = 2
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) bytes += asciiBytes[unit] ?? 1
    else if (unit < 0x800) bytes += 2
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 3
    else if (isPair(text, at)) {
      bytes += 4
      at += 1
    } else bytes += 6
  }
  return bytes
}

const weighValue = (value: Json | undefined): number => {
  if (typeof value === 'string') return weighText(value)
  if (typeof value !== 'object' || value === null) return 5
  const known = weights.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + weighValue(item) + 1, 2)
  return Object.entries(value).reduce((sum, [key, item]) => sum + weighText(key) + 2 + weighValue(item), 2)
}

/** Roughly the bytes of a value's JSON. The value must not change afterwards. */
export const weighJson = (value: Json | undefined): number =>
  typeof value === 'object' && value !== null ? remembered(value, weighValue) : weighValue(value)

/** Roughly the bytes of a message, which must not change afterwards. It is weighed once, so nothing is remembered. */
export const weigh = ({ content }: ModelMessage): number => {
  let bytes = 32
  for (const part of content) bytes += weighPart(part) + ('metadata' in part ? weighJson(part.metadata) : 0)
  return bytes
}

const weighPart = (part: ModelMessage['content'][number]): number => {
  switch (part.type) {
    case 'tool_call':
      return weighJson(part.input) + (part.unparsed === undefined ? 0 : Buffer.byteLength(part.unparsed))
    case 'tool_result':
      return weighJson(part.output)
    case 'search':
      return weighJson([part.queries, part.pages])
    default:
      return Buffer.byteLength(part.text) + ('file' in part && part.file !== undefined ? weighFile(part.file) : 0)
  }
}
