/** What every protocol keeps of an answer while it comes. */
import type { ModelFailure } from '../../execution/models/contract.js'
import type { Finish } from './ending.js'
import { createFreshDeltas, type FreshDeltas } from './fresh-deltas.js'

export interface Gathered {
  readonly fresh: FreshDeltas
  fault: ModelFailure | undefined
  finish: Finish | undefined
  /** The server said that nothing follows. */
  isDone: boolean
}

export const beginGathering = (): Gathered => ({
  fresh: createFreshDeltas(),
  fault: undefined,
  finish: undefined,
  isDone: false,
})

/** As `Answer.state` tells it. */
export const stateOf = ({ fault, finish, isDone }: Gathered): 'open' | 'finished' | 'done' | 'failed' => {
  if (fault !== undefined) return 'failed'
  if (isDone) return 'done'
  return finish === undefined ? 'open' : 'finished'
}
