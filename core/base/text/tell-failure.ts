/** Says in the log that a change could not be kept, as loudly as it deserves. */
import { Problem } from '../errors.js'
import type { Log } from './log.js'
import { thrownText } from './thrown.js'

interface Teller {
  readonly log: Log
  readonly state: { readonly health: { readonly mode: string } }
}

/**
 * What fails because storage refuses changes is told by storage once, and not by everybody. A refusal is its sentence.
 * Anything else is a fault: it keeps its stack, so that it is charged to the plugin that threw it.
 */
export const tellFailure = (
  { log, state }: Teller,
  fact: string,
  { error, ...details }: Readonly<Record<string, unknown>>,
): void => {
  const told = { ...details, error: thrownText(error) }
  if (state.health.mode !== 'ok') log.debug(fact, told)
  else if (error instanceof Problem) log.warn(fact, told)
  else log.error(fact, { ...details, error })
}
