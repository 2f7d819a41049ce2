/** What a server writes, as far as it is a message; what is nested too deeply in it is left out. */
import {
  cutDeep,
  isJsonObject,
  isModest,
  unsafeCast,
  type Clock,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'

/** Most bytes of one message. */
export const mostBytes = 16 * 1024 * 1024
const [mostDepth, mostValues] = [128, 2_000_000]

/** Undefined if it is no JSON, or too much of it. */
export const readJson = (text: string): Json | undefined => {
  if (!isModest(text, { depth: Infinity, most: mostValues })) return undefined
  try {
    return unsafeCast<Json>(JSON.parse(cutDeep(text, mostDepth)))
  } catch {
    return undefined
  }
}

/** Requests of this client have numbers: an answer to anything else is none. */
export const isMessage = (value: Json | undefined): value is JsonObject =>
  isJsonObject(value) &&
  value['jsonrpc'] === '2.0' &&
  (typeof value['method'] === 'string' ||
    (typeof value['id'] === 'number' && (isJsonObject(value['result']) || isJsonObject(value['error']))))

export const readMessage = (text: string): JsonObject | undefined => {
  // Most of what is no message is told without an exception, which would cost more than all else.
  const value = text.trimStart().startsWith('{') ? readJson(text) : undefined
  return isMessage(value) ? value : undefined
}

/** True once a server has written more that is no message than a mistake of its own explains. */
export type TooMuch = () => boolean

/** Within this time, milliseconds. */
const [mostGarbage, garbageMs] = [1_000, 60_000]
export const tooMuchText = `it wrote more than ${mostGarbage} lines that are no messages within a minute`

/** To be called for each line that is no message. */
export const createTooMuch = (clock: Clock): TooMuch => {
  let [count, since] = [0, clock.elapsed()]
  return () => {
    if (clock.elapsed() - since > garbageMs) [count, since] = [0, clock.elapsed()]
    count += 1
    return count > mostGarbage
  }
}
