/** The events of a server over HTTP, one at a time and no faster than its pace: what is no message does not pass. */
import { fault } from '../../../../core/plugin.js'
import { createLines } from './lines.js'
import { mostBytes, readMessage } from './message.js'
import type { Visit } from './pace.js'
import type { StreamWatch } from './reopening.js'

export interface EventStreamParts extends StreamWatch {
  readonly visit: Visit
  /** Told of an event that is no message; true if the stream is to end. */
  readonly onGarbage: () => boolean
  /** Told that more comes than is read. */
  readonly onFlood: () => void
}

/** A server may say how long to wait before it is asked again; milliseconds. */
const [leastRetry, mostRetry] = [1_000, 60_000]

interface Fields {
  readonly data: string[]
  id?: string
  event?: string
  retry?: number
}

const field = (fields: Fields, line: string): void => {
  const [, name, value = ''] = /^(data|id|event|retry)(?::[ ]?(.*))?$/su.exec(line) ?? []
  if (name === 'data') fields.data.push(value)
  else if (name === 'id' || name === 'event') fields[name] = value
  else if (name === 'retry' && /^\d+$/u.test(value))
    fields.retry = Math.min(mostRetry, Math.max(leastRetry, Number(value)))
}

/** Undefined if its data is no message; an event without data passes, because it may have an id. */
const dataOf = ({ data, event = 'message' }: Fields): string | undefined => {
  const text = data.join('\n')
  if (text === '' || event !== 'message') return ''
  const message = readMessage(text)
  return message && JSON.stringify(message)
}

const eventText = ({ id, retry, data }: Fields, text: string): string =>
  [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...(data.length === 0 ? [] : [`data: ${text}`]),
    '\n',
  ].join('\n')

/** Events as they pass, from lines; undefined for what does not. */
const createEvents = ({ onGarbage, onId }: EventStreamParts) => {
  let [fields, bytes]: [Fields, number] = [{ data: [] }, 0]
  const take = (line: string): string | undefined => {
    if (line !== '') {
      bytes += line.length
      if (bytes > mostBytes) throw fault('it sent a message of more than 16 MiB')
      field(fields, line)
      return undefined
    }
    const whole = fields
    ;[fields, bytes] = [{ data: [] }, 0]
    if (whole.id !== undefined) onId(whole.id)
    const text = dataOf(whole)
    if (text !== undefined) return eventText(whole, text)
    if (onGarbage()) throw fault('it writes what is no message')
    return undefined
  }
  return take
}

async function* passing(body: ReadableStream<Uint8Array>, parts: EventStreamParts): AsyncGenerator<string> {
  const { visit } = parts
  const lines = createLines(mostBytes)
  const take = createEvents(parts)
  try {
    for await (const chunk of body) {
      visit.begin()
      for (const line of lines.of(chunk))
        // A carriage return alone ends a line too.
        for (const one of line.split('\r')) {
          const event = take(one)
          if (event !== undefined) yield event
          const rest = visit.rest()
          if (rest !== undefined) await rest
        }
      visit.end()
      if (lines.isOver()) throw fault('it sent a message of more than 16 MiB')
    }
  } finally {
    parts.onEnd()
  }
}

/** The same stream for whoever reads events. */
export const passingEvents = (
  body: ReadableStream<Uint8Array>,
  parts: EventStreamParts,
): ReadableStream<Uint8Array> => {
  const events = passing(body, parts)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await events.next()
          if (done === true) controller.close()
          else controller.enqueue(Buffer.from(value))
        } catch (error) {
          if (error instanceof Error && error.message === 'outbound_answer_too_large') parts.onFlood()
          throw error
        }
      },
      cancel: async (reason) => void (await events.return(reason)),
    },
    { highWaterMark: 0 },
  )
}
