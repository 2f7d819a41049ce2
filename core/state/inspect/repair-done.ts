/** How far a repair is: for whoever interrupts it. */
import { Problem } from '../../base/errors.js'
import { count } from '../../base/text/command-text.js'
import { errors } from '../errors.js'

/** Actions that were done, and those that are known to be left. */
export interface Done {
  actions: number
  left: number
}

export const countDone = (done: Done): void => {
  done.actions += 1
  done.left -= 1
}

/** A repair that goes on finds done what was done. */
export const brokenOff = (error: unknown, { actions, left }: Done): unknown => {
  if (!(error instanceof Problem) || error.code !== errors.interrupted.code || actions === 0) return error
  const next = left > 0 ? 'repeat the command for what is left' : 'holdfast state verify tells whether all is clean'
  const stands = `${count(actions, 'repair')} done, and what was done stays: ${next}.`
  return errors.interrupted({ details: { stands } })
}
