/** The bytes of base64 (RFC 4648, with padding), read between turns of the event loop. */
import { inTurns, type Portions } from '../../../core/plugin.js'

/** Characters of one portion; a multiple of four. */
const portion = 262_144
const letters = /^[A-Za-z0-9+/]*={0,2}$/u

/** Bytes from which on the memory of a file is apart, and how much is asked for then. */
const [large, apart] = [1024 * 1024, 33 * 1024 * 1024]
/**
 * Of what is larger than 32 MiB the allocator of glibc takes nothing for what comes later: the system has it back as
 * soon as it is free. What nothing is written to is no memory yet.
 */
const memoryOf = (size: number): Buffer =>
  Buffer.from(new ArrayBuffer(size < large ? size : Math.max(size, apart)), 0, size)

const decode = function* (text: string): Portions<Uint8Array | undefined> {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = memoryOf((text.length / 4) * 3 - padding)
  for (let at = 0; at < text.length; at += portion) {
    if (at > 0) yield
    const part = text.slice(at, at + portion)
    const last = at + portion >= text.length
    if (!letters.test(part) || (!last && part.includes('='))) return undefined
    bytes.write(part, (at / 4) * 3, 'base64')
  }
  return bytes
}

/** Undefined where it is no base64. */
export const fromBase64 = (text: string): Promise<Uint8Array | undefined> => inTurns(decode(text))
