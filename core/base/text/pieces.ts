/** A text that comes in pieces: what may be the beginning of a secret waits until it is known to be none. */
import { atOnce } from '../turns.js'
import { wellFormedJson } from './well-formed.js'
import { createKnownValues, type KnownValues } from './known-values.js'

export interface TextPieces {
  /** What may be shown after this piece. */
  add(piece: string): string
  /** What was held back. The text has ended, and another may begin. */
  end(): string
}

/** A sign outside the basic plane is two halves. */
const cutsSign = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800

/** Shows no half of a sign and, in place of each known value, the mark. */
export const createPieces = (known: KnownValues, mark: string): TextPieces => {
  let held = ''
  const add = (piece: string): string => {
    const text = held === '' ? piece : held + piece
    const safe = Math.min(known.safeLength(text), cutsSign(text) ? text.length - 1 : text.length)
    held = safe === text.length ? '' : text.slice(safe)
    return shown(held === '' ? text : text.slice(0, safe))
  }
  const shown = (text: string): string => (known.isFree(text) ? text : atOnce(known.replacing(text, mark)))
  const end = (): string => {
    const rest = held
    held = ''
    return wellFormedJson(shown(rest))
  }
  return { add, end }
}

/** Of a text in which no value is known. */
export const plainPieces = (): TextPieces => createPieces(createKnownValues(), '')
