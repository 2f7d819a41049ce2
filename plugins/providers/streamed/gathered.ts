/** What every protocol keeps of an answer while it comes. */
import type { ModelEvent, ModelFailure } from '../../execution/models/contract.js'
import type { Answer } from './answer.js'
import type { Finish } from './ending.js'
import { readEvent } from './event-json.js'
import { failures } from './failure.js'
import { createFreshDeltas, type FreshDeltas } from './fresh-deltas.js'
import type { Link } from './link.js'

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

export const offProtocol = (): ModelFailure => failures.invalid('It does not follow the protocol.')

/** Behind the end of the model nothing makes an answer worse. */
export const refuse = (so: Gathered, failure: ModelFailure): void => {
  if (so.finish === undefined) so.fault ??= failure
}

interface EventTaker {
  /** Takes an event that is a JSON object. */
  take(event: Link): void
  end(): ModelEvent[]
}

/** An answer whose events are JSON objects, each of them. */
export const eventAnswer = (so: Gathered, { take, end }: EventTaker): Answer => ({
  take(data) {
    if (so.isDone || so.fault !== undefined) return
    const event = readEvent(data)
    if (event === 'excess') refuse(so, failures.excessive())
    else if (event === 'garbage') refuse(so, offProtocol())
    else take(event)
  },
  overflow: () => refuse(so, failures.excessive()),
  fresh: so.fresh.take,
  state: () => stateOf(so),
  end,
})
