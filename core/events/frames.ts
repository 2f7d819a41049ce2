/**
 * Data, JSON and SSE text of the events in the window: made on first use, so that an event that nobody reads costs no
 * serialisation.
 */
import type { EventKeys, PublishedEvent } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { EventFault } from './listeners.js'

/** An event as the window keeps it; thousands are kept, so it is data and its functions are shared. */
export interface WindowEvent {
  /** Position in this epoch: 1, 2, 3 … */
  readonly counter: number
  readonly name: string
  readonly keys: EventKeys
  /** What it holds in memory: an estimate until its JSON is there. */
  bytes: number
  /** Makes the data; gone once it was called. */
  make: (() => object) | undefined
  /** What it made; gone once its JSON is there, or if it threw. */
  data: object | undefined
  json: string | undefined
}

export interface Frames {
  data(event: WindowEvent): object | undefined
  /** The SSE text; empty if the data could not be made. */
  frame(event: WindowEvent): string
  published(event: WindowEvent): PublishedEvent
}

export interface FramesOptions {
  readonly ids: IdSpace
  readonly onFault: (fault: EventFault) => void
  /** Told what an event weighs when its JSON is there. */
  readonly weigh: (event: WindowEvent, bytes: number) => void
}

export const createFrames = ({ ids, onFault, weigh }: FramesOptions): Frames => {
  const attempt = <T>(event: WindowEvent, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      onFault({ owner: 'events', event: event.name, error })
      return undefined
    }
  }
  const data = (event: WindowEvent): object | undefined => {
    const { make } = event
    if (make === undefined) return event.data
    event.make = undefined
    return (event.data = attempt(event, make))
  }
  const json = (event: WindowEvent): string | undefined => {
    if (event.json !== undefined) return event.json
    const value = data(event)
    if (value === undefined) return undefined
    event.data = undefined
    const text = attempt(event, () => JSON.stringify({ type: event.name, ...value }))
    event.json = text
    if (text !== undefined) weigh(event, Buffer.byteLength(text))
    return text
  }
  const frame = (event: WindowEvent): string => {
    const text = json(event)
    return text === undefined ? '' : `event: ${event.name}\nid: ${ids.id(event.counter)}\ndata: ${text}\n\n`
  }
  const published = (event: WindowEvent): PublishedEvent => ({
    id: ids.id(event.counter),
    name: event.name,
    keys: event.keys,
    json: () => json(event) ?? JSON.stringify({ type: event.name }),
  })
  return { data, frame, published }
}
