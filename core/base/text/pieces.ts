/** A text that comes in pieces: what is shown of them is, joined, what is kept of the whole. */
import { wellFormedJson } from './well-formed.js'

export interface TextPieces {
  /** What may be shown after this piece. */
  add(piece: string): string
  /** What was held back. The text has ended, and another may begin. */
  end(): string
}

/** A sign outside the basic plane is two halves. */
const cutsSign = (text: string): boolean => (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800

/** Half of a sign waits for the other one; where that does not come, U+FFFD stands for it. */
export const createPieces = (): TextPieces => {
  let held = ''
  return {
    add(piece) {
      const text = held === '' ? piece : held + piece
      held = cutsSign(text) ? text.slice(-1) : ''
      return wellFormedJson(held === '' ? text : text.slice(0, -1))
    },
    end() {
      const rest = held
      held = ''
      return wellFormedJson(rest)
    },
  }
}
