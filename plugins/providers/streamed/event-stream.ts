/** From the bytes of an answer to the data of its events, or to the answer that came at once. */
import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import type { Answer } from './answer.js'

interface EventListener {
  /** Is given the data of an event that is whole. */
  take(data: string): void
  /** An event is larger than it may be: nothing more is read. */
  overflow(): void
}

/**
 * Takes bytes as they come, cut anywhere, and tells the data of each event that is whole. What stands behind the last
 * empty line is no event. `most` code units are kept of one that is not.
 */
export const createEventReader = ({ take, overflow }: EventListener, most: number): ((bytes: Buffer) => void) => {
  const decoder = new StringDecoder('utf8')
  let isOver = false
  const parser = createParser({
    onEvent: ({ data }) => take(data),
    onError({ type }) {
      if (type !== 'max-buffer-size-exceeded') return
      isOver = true
      overflow()
    },
    maxBufferSize: most,
  })
  let isFirst = true
  let endedInReturn = false
  return (bytes) => {
    let text = decoder.write(bytes)
    if (text === '' || isOver) return
    if (isFirst) text = withoutMark(text)
    isFirst = false
    // The parser searches for both kinds of line ends at each line, where there is one carriage return: it gets none.
    if (endedInReturn && text.startsWith('\n')) text = text.slice(1)
    endedInReturn = text.endsWith('\r')
    parser.feed(text.includes('\r') ? text.replaceAll(/\r\n?/gu, '\n') : text)
  }
}

const withoutMark = (text: string): string => (text.startsWith('\u{feff}') ? text.slice(1) : text)

/** Of an answer that came at once, as JSON: its server does not stream. */
export interface WholeReader {
  feed(bytes: Buffer): void
  /** Nothing follows. False if what came is no answer. */
  take(): boolean
}

/** `most` code units are kept, and more end the answer. */
export const createWholeReader = (answer: Answer, most: number): WholeReader => {
  const decoder = new StringDecoder('utf8')
  let text = ''
  return {
    feed(bytes) {
      text += decoder.write(bytes)
      if (text.length > most) answer.overflow()
    },
    take: () => answer.takeWhole?.((text + decoder.end()).trim()) === true,
  }
}
