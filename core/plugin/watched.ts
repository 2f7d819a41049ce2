/** Commands that show how something stands, once or until it is over. */
import type { CommandFlag, CommandInput } from './command.js'

/** The flag of such commands. */
export const watchFlag: Readonly<Record<'watch', CommandFlag>> = {
  watch: { kind: 'switch', summary: 'Show it again whenever it changes, until nothing of it goes on or Ctrl-C.' },
}

/** How something stands now. */
export interface Standing {
  readonly text: string
  readonly isOver: boolean
}

/** Between two looks, milliseconds. */
const pauseMs = 1000

/** Shows it in place of what was shown before, as often as it changes. */
export const watchStanding = async (
  { redraw, pause, signal, exitWith }: CommandInput,
  look: () => Promise<Standing>,
): Promise<void> => {
  let last: string | undefined
  while (!signal.aborted) {
    const { text, isOver } = await look()
    if (text !== last) redraw((last = text))
    if (isOver) return
    await pause(pauseMs, signal)
  }
  exitWith(130)
}
