/** Between a call, which is told what comes when it comes, and its reader, who asks for one event after the other. */
import type { ModelEvent } from '../../execution/models/contract.js'
import type { Delta } from './contract.js'

type Result = IteratorResult<ModelEvent, undefined>

export interface Outlet {
  /** What nobody has asked for yet is joined with what follows. */
  put(delta: Delta): void
  /** The last events; what comes later is dropped. */
  end(events: readonly ModelEvent[]): void
  next(): Promise<Result>
}

export const createOutlet = (): Outlet => {
  let ready: ModelEvent[] = []
  let waiting: ((result: Result) => void)[] = []
  let isEnded = false
  const give = (event: ModelEvent): void => {
    const reader = waiting.shift()
    if (reader === undefined) ready.push(event)
    else reader({ value: event, done: false })
  }
  return {
    put(delta) {
      if (isEnded) return
      const last = ready.at(-1)
      if (last?.type === delta.type) ready[ready.length - 1] = { type: delta.type, text: last.text + delta.text }
      else give(delta)
    },
    end(events) {
      if (isEnded) return
      isEnded = true
      for (const event of events) give(event)
      for (const reader of waiting) reader(over)
      waiting = []
    },
    next() {
      const event = ready[0]
      if (event !== undefined) {
        ready = ready.slice(1)
        return Promise.resolve({ value: event, done: false })
      }
      return isEnded ? Promise.resolve(over) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

const over: Result = { value: undefined, done: true }
