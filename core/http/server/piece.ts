/**
 * Memory of one long body: it is had from the system as it fills, and given back at once. Buffers come from a heap that
 * keeps what was freed between others, so that a crowd of bodies leaves twice what it needed.
 */
import { unsafeCast } from '../../base/schema.js'

/** What Node 20 has and the library of its language does not name. */
interface Growing extends ArrayBuffer {
  readonly resizable: boolean
  resize(bytes: number): void
}

/** Bytes by which it grows at least. */
const step = 256 * 1024

export interface Piece {
  set(chunk: Uint8Array, at: number): void
  /** The first bytes of it, which have it to themselves. */
  first(size: number): Uint8Array<ArrayBuffer>
}

/** A piece of at most so many bytes; undefined where the system has no more addresses for it. */
export const createPiece = (most: number): Piece | undefined => {
  let memory: Growing
  try {
    memory = unsafeCast<Growing>(Reflect.construct(ArrayBuffer, [0, { maxByteLength: most }]))
  } catch {
    return undefined
  }
  const bytes = new Uint8Array(memory)
  return {
    set(chunk, at) {
      const end = at + chunk.length
      if (end > memory.byteLength) memory.resize(Math.min(most, Math.ceil(end / step) * step))
      bytes.set(chunk, at)
    },
    first(size) {
      memory.resize(size)
      return bytes
    },
  }
}

/** Nobody reads these bytes any more. Where they are a piece, its memory is the system's again. */
export const giveBack = ({ buffer }: Uint8Array): void => {
  const memory = unsafeCast<Growing>(buffer)
  if (memory.resizable && memory.byteLength > 0) memory.resize(0)
}

/** The same bytes in memory of the usual kind, which whoever has them may do anything with. */
export const fixed = (bytes: Uint8Array): Uint8Array => {
  if (!unsafeCast<Growing>(bytes.buffer).resizable) return bytes
  const own = Uint8Array.from(bytes)
  giveBack(bytes)
  return own
}
