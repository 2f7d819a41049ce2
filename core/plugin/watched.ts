/** Commands that show how something stands, once or until it is over. */
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../base/errors.js'
import type { CommandFlag, CommandInput } from './command.js'

/** The flag of such commands. */
export const watchFlag: Readonly<Record<'watch', CommandFlag>> = {
  watch: { kind: 'switch', summary: 'Show it again whenever it changes, until nothing of it goes on or Ctrl-C.' },
}

/** How something stands now. */
export interface Standing {
  readonly text: string
  readonly isOver: boolean
  /** What has come since the last look, and stays above all that follows. */
  readonly above?: string
}

/** True of what a daemon that goes away does to those who ask it: it may be there again soon, and know what it knew. */
export const isLoss = (error: unknown): boolean =>
  !(error instanceof Problem) || error.spec.status === 503 || error.code === 'answer_unreadable'

/** Between two looks, milliseconds. */
const pauseMs = 1000
/** Without a terminal nobody can end the search; milliseconds. */
const longestLossMs = 60_000

/**
 * Shows it in place of what was shown before, as often as it changes. A daemon that goes away after the first look is
 * waited for: by a person as long as they like, by a script for a minute.
 */
export const watchStanding = async (
  { redraw, pause, signal, exitWith, now, attended, client }: CommandInput,
  look: () => Promise<Standing>,
): Promise<void> => {
  let last: { readonly text: string; readonly at: number } | undefined
  const lookAgain = async (): Promise<Standing> => {
    try {
      const standing = await look()
      last = { text: standing.text, at: now() }
      return standing
    } catch (error) {
      if (last === undefined || !isLoss(error) || (!attended && now() - last.at > longestLossMs)) throw error
      return { text: `The daemon at ${client.baseUrl} is away: waiting for it.\n${last.text}`, isOver: false }
    }
  }
  while (!signal.aborted) {
    const { text, isOver, above } = await lookAgain()
    // A process that was stopped meanwhile hears first that it goes on: what it looked for may come a turn before.
    for (const _ of [1, 2]) await setImmediate()
    if (!signal.aborted) redraw(text, above)
    if (isOver) return
    await pause(pauseMs, signal)
  }
  exitWith(130)
}
