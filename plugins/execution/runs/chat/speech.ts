/** What a model says, while it says it and as the journal has it: each word is shown once. */
import type { Sheet } from './sheet.js'

export interface Speech {
  /** The model is asked in this turn, for the first time or again. */
  begin(turn: number): void
  piece(turn: number, text: string): void
  /** What was said may be missing here: pieces count again from the next beginning on. */
  missed(): void
  /** The message as the journal has it. */
  settle(text: string): void
}

const anew = '(it begins anew)'

export const createSpeech = (sheet: Sheet): Speech => {
  /** What is shown of a message that the journal has not brought yet. */
  let shown = ''
  /** What an attempt after that has said so far, while it repeats what is shown. */
  let repeated: string | undefined
  /** Turns whose message is shown: the journal may be ahead of the pieces. */
  let settled = 0
  /** Whoever has not heard the beginning cannot tell where a piece belongs: the journal has all of it. */
  let hasHeardBegin = false
  const goOn = (text: string): void => {
    if (text !== '') sheet.say(shown !== '' && !sheet.isOpen() ? `… ${text.trimStart()}` : text)
  }
  const replace = (text: string): void => {
    if (text.startsWith(shown)) return goOn(text.slice(shown.length))
    sheet.line(anew)
    sheet.say(text)
  }
  return {
    begin(turn) {
      hasHeardBegin = true
      if (turn > settled && shown !== '') repeated = ''
    },
    missed() {
      hasHeardBegin = false
      repeated = undefined
    },
    piece(turn, text) {
      if (turn <= settled || !hasHeardBegin) return
      const said = (repeated ?? shown) + text
      if (repeated !== undefined && shown.startsWith(said)) {
        repeated = said
        return
      }
      replace(said)
      shown = said
      repeated = undefined
    },
    settle(text) {
      replace(text)
      sheet.end()
      settled += 1
      shown = ''
      repeated = undefined
    },
  }
}
