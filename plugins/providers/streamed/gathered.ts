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

/** Behind the end of the model nothing that does not follow the protocol makes an answer worse. */
export const refuse = (so: Gathered, failure: ModelFailure): void => {
  if (so.finish === undefined) so.fault ??= failure
}

const flawed: ReadonlySet<Finish | undefined> = new Set<Finish>(['length', 'filtered', 'broken'])

/** Whether no word of its server has made it less than whole: from then on it stays as it was told (models-24). */
export const isWhole = ({ finish }: Gathered): boolean => !flawed.has(finish)

/** Behind the first reason to end only one counts that says the answer is not whole (models-70). */
export const finishWith = (so: Gathered, finish: Finish): void => {
  if (so.finish === undefined || (flawed.has(finish) && isWhole(so))) so.finish = finish
}

/** What servers send behind the last event; nothing behind it counts. */
export const isLastEvent = (data: string): boolean => data.length < 100 && data.trim() === '[DONE]'

interface EventTaker {
  /** Takes an event that is a JSON object. */
  take(event: Link): void
  end(): ModelEvent[]
}

/** An answer whose events are JSON objects, each of them. */
export const eventAnswer = (so: Gathered, { take, end }: EventTaker): Answer => ({
  take(data) {
    if (so.isDone || so.fault !== undefined) return
    if (so.finish !== undefined && isLastEvent(data)) {
      so.isDone = true
      return
    }
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
