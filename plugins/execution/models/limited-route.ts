/** A connection with no more than some calls under way, and none while its server wants none. */
import type { TurnEvent } from './bounds/rate-limit.js'
import type { ModelConnection, ModelEvent, ModelRequest } from './contract.js'
import type { RoutePace } from './route-pace.js'

const aborted: ModelEvent = {
  type: 'done',
  outcome: 'failed',
  failure: { class: 'aborted', retryable: false, message: 'The call was ended while it waited for its turn.' },
}

/** The others wait in the order in which they came. 0 is no limit. */
export const limitedRoute = (connection: ModelConnection, most: number, pace: RoutePace): ModelConnection => {
  const slots = most === 0 ? unlimited : createSlots(most)
  async function* waiting(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (;;) {
      if (pace.heldFor(request.model) > 0 && !(yield* pace.open(request.model, signal))) return yield aborted
      const entered = slots.enter(signal)
      if (entered !== true && !(yield* inLine(entered, slots))) return yield aborted
      if (pace.heldFor(request.model) === 0) break
      // Nobody keeps a place while waiting for the server: calls of another model may need it.
      slots.leave()
    }
    try {
      yield* connection.stream(request, signal)
    } finally {
      slots.leave()
    }
  }
  return {
    readiness: () => connection.readiness(),
    // No generator where nobody waits: it would cost each event two promises more.
    stream: (request, signal) =>
      most === 0 && pace.heldFor(request.model) === 0 ? connection.stream(request, signal) : waiting(request, signal),
  }
}

/** True when its turn has come. Whoever asks no more meanwhile takes nobody's place. */
async function* inLine(entered: Promise<boolean> | boolean, slots: Slots): AsyncGenerator<TurnEvent, boolean> {
  let isTold = false
  try {
    yield { type: 'turn', waits: true }
    const came = await entered
    yield { type: 'turn', waits: false }
    isTold = true
    return came
  } finally {
    if (!isTold && (await entered)) slots.leave()
  }
}

interface Slots {
  /** True when one is free; false when the signal came first. */
  enter(signal: AbortSignal): Promise<boolean> | boolean
  leave(): void
}

const unlimited: Slots = { enter: () => true, leave: () => {} }

const createSlots = (most: number): Slots => {
  const waiting = new Set<() => void>()
  let free = most
  return {
    enter(signal) {
      if (free === 0) return turn(waiting, signal)
      free -= 1
      return true
    },
    leave() {
      const [next] = waiting
      if (next === undefined) free += 1
      else next()
    },
  }
}

/** True when it comes; false when the signal came first. */
const turn = (waiting: Set<() => void>, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const end = (came: boolean) => (): void => {
      waiting.delete(come)
      signal.removeEventListener('abort', give)
      resolve(came)
    }
    const [come, give] = [end(true), end(false)]
    if (signal.aborted) return resolve(false)
    waiting.add(come)
    signal.addEventListener('abort', give)
  })
