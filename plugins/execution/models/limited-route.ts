/** A connection with no more than some calls under way. */
import type { ModelConnection, ModelEvent, ModelRequest } from './contract.js'

const aborted: ModelEvent = {
  type: 'done',
  outcome: 'failed',
  failure: { class: 'aborted', retryable: false, message: 'The call was ended while it waited for its turn.' },
}

/** The others wait in the order in which they came. 0 is no limit. */
export const limitedRoute = (connection: ModelConnection, most: number): ModelConnection => {
  if (most === 0) return connection
  const waiting = new Set<() => void>()
  let free = most
  const leave = (): void => {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (free > 0) free -= 1
    else if (!(await turn(waiting, signal))) return yield aborted
    try {
      yield* connection.stream(request, signal)
    } finally {
      leave()
    }
  }
  return { readiness: () => connection.readiness(), stream }
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
