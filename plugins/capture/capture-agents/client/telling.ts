/** What a capture says while it goes on: whatever lasts is said once. */
import { visibleLine, type CommandInput } from '../../../../core/plugin.js'

export interface Telling {
  /** Something that happened. */
  say(event: string, message: string): void
  /** How something is: said when it is another than the last time; undefined says that it is well again. */
  state(about: string, message: string | undefined): void
}

/** Each message is one line: much of it is told by others. */
export const createTelling = ({ output, print, now }: Pick<CommandInput, 'output' | 'print' | 'now'>): Telling => {
  const states = new Map<string, string>()
  const say = (event: string, message: string): void =>
    print(output === 'json' ? JSON.stringify({ at_ms: now(), event, message }) : visibleLine(message))
  return {
    say,
    state(about, message) {
      const before = states.get(about)
      if (before === message) return
      if (message === undefined) states.delete(about)
      else states.set(about, message)
      if (message === undefined) say('well_again', `${about}: well again.`)
      else say('trouble', `${about}: ${message}`)
    },
  }
}
