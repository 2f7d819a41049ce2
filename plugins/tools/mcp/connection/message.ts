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

/** What stands for a result that is none: whoever asked is to know at once, and the package would let it go. */
const noResult = 'holdfast/no_result'

const isError = (value: Json | undefined): boolean =>
  isJsonObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string'

/** The message that a value is, if it is one. Requests of this client have numbers: other answers are none. */
export const messageIn = (value: Json | undefined): JsonObject | undefined => {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return undefined
  const { method, id, result, error } = value
  if (typeof method === 'string') return value
  if (method !== undefined || typeof id !== 'number') return undefined
  return isJsonObject(result) || isError(error) ? value : { jsonrpc: '2.0', id, result: { [noResult]: true } }
}

/** The member of a result that is a list, by the method. */
const lists: Readonly<Record<string, string>> = {
  'tools/list': 'tools',
  'tools/call': 'content',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'resources/read': 'contents',
  'prompts/list': 'prompts',
  'prompts/get': 'messages',
}

/** Whether it is an answer to the method. An empty list may be absent, or null: some languages write it so. */
export const isResult = (method: string, result: Json): result is JsonObject => {
  if (!isJsonObject(result) || Object.hasOwn(result, noResult)) return false
  const list = result[lists[method] ?? ''] ?? []
  return Array.isArray(list)
}

export const noResultText = (method: string): string => `it answered ${method} with something that is no result`

export const readMessage = (text: string): JsonObject | undefined => {
  // Most of what is no message is told without an exception, which would cost more than all else.
  return text.trimStart().startsWith('{') ? messageIn(readJson(text)) : undefined
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
