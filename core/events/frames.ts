/**
 * Data and SSE frames of the events in the window: made on first use, so that an event that nobody reads costs no
 * serialisation. A frame is bytes; its text and the data are let go.
 */
import type { Chunks, Framed } from './chunks.js'
import type { EventKeys, PublishedEvent } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { EventFault } from './listeners.js'

/** An event as the window keeps it; thousands are kept, so it is data and its functions are shared. */
export interface WindowEvent extends Framed {
  readonly name: string
  readonly keys: EventKeys
  /** What it holds in memory: an estimate until its frame is there. */
  bytes: number
  /** Makes the data; gone once it was called. */
  make: (() => object) | undefined
  /** What it made; gone once its frame is there, or if it threw. */
  data: object | undefined
}

export interface Frames {
  data(event: WindowEvent): object | undefined
  /** Makes the frame of an event that is lent, unless it is there. Its bytes; 0 if the data could not be made. */
  make(event: WindowEvent): number
  published(event: WindowEvent): PublishedEvent
}

export interface FramesOptions {
  readonly ids: IdSpace
  readonly chunks: Chunks
  readonly onFault: (fault: EventFault) => void
  /** Told what an event weighs when its frame is there. */
  readonly weigh: (event: WindowEvent, bytes: number) => void
}

const lineFeed = 10

export const createFrames = ({ ids, chunks, onFault, weigh }: FramesOptions): Frames => {
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
  const head = ({ name, counter }: WindowEvent): string => `event: ${name}\nid: ${ids.id(counter)}\ndata: `
  /** Its type stands first: what stands before the rest of the data is not copied together with it. */
  const write = (event: WindowEvent, [before, json]: readonly [string, string]): void => {
    const size = Buffer.byteLength(before) + Buffer.byteLength(json) + 2
    const bytes = chunks.place(event, size)
    const { start, end } = event
    bytes.write(json, start + bytes.write(before, start))
    bytes[end - 2] = bytes[end - 1] = lineFeed
    weigh(event, size)
  }
  const textsOf = (event: WindowEvent, value: object): readonly [string, string] => {
    if ('type' in value) return [head(event), JSON.stringify(Object.assign({ type: event.name }, value))]
    const json = JSON.stringify(value)
    const type = `${head(event)}{"type":${JSON.stringify(event.name)}`
    return json === '{}' ? [type, '}'] : [`${type},`, json.slice(1)]
  }
  const make = (event: WindowEvent): number => {
    if (event.frame === undefined) {
      const value = data(event)
      event.data = undefined
      const texts = value && attempt(event, () => textsOf(event, value))
      if (texts !== undefined) write(event, texts)
    }
    return event.end - event.start
  }
  const json = (event: WindowEvent): string =>
    make(event) === 0
      ? JSON.stringify({ type: event.name })
      : (event.frame?.toString('utf8', event.start + Buffer.byteLength(head(event)), event.end - 2) ?? '')
  const published = (event: WindowEvent): PublishedEvent => {
    // Nobody tells when it is let go.
    event.lent += 1
    return { id: ids.id(event.counter), name: event.name, keys: event.keys, json: () => json(event) }
  }
  return { data, make, published }
}
