/**
 * Bytes of pictures: in one question, and in all that are asked at a time. A picture is held in memory for as long as a
 * model takes to answer, about three times over.
 */
import type { AttachmentRef } from '../../../media/assets/contract.js'
import type { ModelMessage, TextPart } from '../../models/contract.js'
import { isPicture } from './mention.js'

const mebibyte = 1024 * 1024
/** Of the pictures of one question, as they are stored. */
export const mostPictureMebibytes = 16
/** Pictures of one question: vendors take no more. */
export const mostPictures = 100
/** Bytes of a picture at most, as those are reckoned whose size nobody noted. */
const mostOfOne = 4 * mebibyte
/** Bytes of the pictures of all questions that are asked. */
const mostAtOnce = 128 * mebibyte

export interface ShownPictures {
  /** By their ids, where each is shown: at its newest place. */
  readonly places: ReadonlyMap<string, TextPart>
  readonly bytes: number
}

/** The newest pictures of a conversation that fit together: what is asked now is mostly about them. */
export const newestPictures = (messages: readonly ModelMessage[]): ShownPictures => {
  const places = new Map<string, TextPart>()
  let bytes = 0
  for (const [{ id, byte_length = mostOfOne }, part] of pictures(messages)) {
    if (places.has(id)) continue
    if (places.size >= mostPictures || bytes + byte_length > mostPictureMebibytes * mebibyte) break
    places.set(id, part)
    bytes += byte_length
  }
  return { places, bytes }
}

function* pictures(messages: readonly ModelMessage[]): Generator<[AttachmentRef, TextPart]> {
  for (const { content } of messages.toReversed())
    for (const part of content.toReversed())
      if ('file' in part && part.file !== undefined && isPicture(part.file)) yield [part.file, part]
}

export interface PictureRoom {
  /** Waits until there is room, or the signal aborts; gives it back when the answer is called. */
  take(bytes: number, signal: AbortSignal): Promise<() => void>
}

/** Those who came first are let in first. */
export const createPictureRoom = (most = mostAtOnce): PictureRoom => {
  const line: { readonly bytes: number; readonly enter: () => void }[] = []
  let held = 0
  const hasRoom = (bytes: number): boolean => held === 0 || held + bytes <= most
  const admit = (): void => {
    for (let first = line[0]; first !== undefined && hasRoom(first.bytes); first = line[0]) {
      line.shift()
      held += first.bytes
      first.enter()
    }
  }
  const leave = (bytes: number): void => {
    held -= bytes
    admit()
  }
  return {
    take(bytes, signal) {
      if (bytes === 0 || signal.aborted) return Promise.resolve(() => {})
      return new Promise((resolve) => {
        const one = { bytes, enter }
        const forget = (): void => signal.removeEventListener('abort', giveUp)
        function enter(): void {
          forget()
          let isHeld = true
          resolve(() => {
            if (isHeld) leave(bytes)
            isHeld = false
          })
        }
        function giveUp(): void {
          line.splice(line.indexOf(one), 1)
          resolve(() => {})
          admit()
        }
        signal.addEventListener('abort', giveUp, { once: true })
        line.push(one)
        admit()
      })
    },
  }
}
