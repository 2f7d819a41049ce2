/** From the bytes of an answer that came at once, as JSON, to the answer: its server does not stream. */
import { StringDecoder } from 'node:string_decoder'
import type { Answer } from './answer.js'

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
