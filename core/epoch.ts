/** Event ids of one start are above those of every start before it (events-5). */
import type { Clock } from './base/clock.js'
import { epochAfter } from './events/epoch.js'
import type { Log } from './base/text/log.js'
import type { State } from './state/contract.js'

export interface Epoch {
  readonly value: number
  /** Keeps the value for the next start; storage that refuses writes is no reason not to start. */
  save(): Promise<void>
}

const name = 'event-epoch'

const previous = (state: State, log: Log): number => {
  try {
    const epoch = state.document<{ epoch: number }>(name).read()?.epoch
    return Number.isSafeInteger(epoch) ? Number(epoch) : 0
  } catch (error) {
    log.warn('the last event epoch cannot be read', { error })
    return 0
  }
}

export const nextEpoch = (state: State, clock: Clock, log: Log): Epoch => {
  const epoch = epochAfter(previous(state, log), clock.now())
  const save = async (): Promise<void> => {
    try {
      await state.document<{ epoch: number }>(name).write({ epoch })
    } catch (error) {
      log.warn('the event epoch was not kept', { error })
    }
  }
  return { value: epoch, save }
}
