/** Lines that are asked for one by one: what comes before it is asked for waits. */
import type { Hearing, Said } from '../../plugin/command.js'

export interface Question {
  readonly prompt: string
  readonly remembered: boolean
  readonly complete: (line: string) => readonly string[]
  readonly answer: (said: Said | undefined) => void
}

export interface Lines {
  /** The open question. */
  asked(): Question | undefined
  /** Opens a question; `show` is told of an answer that was there before it. */
  ask(question: Question, show: (prompt: string, text: string) => void): void
  tell(said: Said | undefined): void
  /** One line of input; true if what it belongs to goes on. */
  add(line: string, goesOn: boolean): boolean
  /** The lines of a text that has not ended. */
  begun(): readonly string[]
  /** Forgets them; false if there are none. */
  drop(): boolean
  end(): void
}

export const createLines = (): Lines => {
  const waiting: Said[] = []
  let begun: string[] = []
  let question: Question | undefined
  let over = false
  const tell = (said: Said | undefined): void => {
    const open = question
    question = undefined
    if (open !== undefined) open.answer(said)
    else if (said !== undefined) waiting.push(said)
  }
  return {
    asked: () => question,
    begun: () => begun,
    ask(given, show) {
      const said = waiting.shift() ?? (over ? { type: 'end' as const } : undefined)
      question = given
      if (said === undefined) return
      if (said.type === 'text') show(given.prompt, said.text)
      tell(said)
    },
    tell,
    add(line, goesOn) {
      const more = line.endsWith('\\')
      begun.push(more ? line.slice(0, -1) : line)
      if (more || goesOn) return true
      const text = begun.join('\n')
      begun = []
      tell({ type: 'text', text })
      return false
    },
    drop() {
      const had = begun.length > 0
      begun = []
      return had
    },
    end() {
      if (begun.length > 0) tell({ type: 'text', text: begun.join('\n') })
      begun = []
      over = true
      if (question !== undefined) tell({ type: 'end' })
    },
  }
}

export interface Shown {
  open(question: Pick<Question, 'prompt' | 'remembered'>): void
  shut(question: Pick<Question, 'remembered'>): void
  show(prompt: string, text: string): void
}

/** Asks through `lines`; `open` shows the question, `shut` takes it back. */
export const hearing =
  (lines: Lines, { open, shut, show }: Shown) =>
  (prompt: string, { signal, remembered = false, complete = () => [] }: Hearing = {}): Promise<Said | undefined> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(undefined)
      const takeBack = (): void => {
        shut({ remembered })
        lines.tell(undefined)
      }
      const answer = (said: Said | undefined): void => {
        signal?.removeEventListener('abort', takeBack)
        resolve(said)
      }
      signal?.addEventListener('abort', takeBack, { once: true })
      lines.ask({ prompt, remembered, complete, answer }, show)
      if (lines.asked() !== undefined) open({ prompt, remembered })
    })
