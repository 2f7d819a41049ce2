/** The body of a request of Slack: JSON, or a form with JSON in it, whatever its media type says (slack-7). */
import { isJsonObject, readLenient, type JsonObject } from '../../../../core/plugin.js'

export type Payload =
  | { readonly type: 'event' | 'interaction'; readonly payload: JsonObject }
  | { readonly type: 'unreadable'; readonly what: string }

const beginning = 'payload='

/** The JSON in the form that tells of a button; undefined for what is no such form. */
const interactionIn = (bytes: Uint8Array): Uint8Array | undefined => {
  const isForm = Buffer.from(bytes.subarray(0, beginning.length)).toString('latin1') === beginning
  if (!isForm) return undefined
  const payload = new URLSearchParams(Buffer.from(bytes).toString('latin1')).get('payload')
  return payload === null ? undefined : Buffer.from(payload)
}

export const readPayload = (bytes: Uint8Array): Payload => {
  const interaction = interactionIn(bytes)
  const read = readLenient(interaction ?? bytes)
  if (!read.ok) return { type: 'unreadable', what: `it ${read.error.rule}` }
  if (!isJsonObject(read.value)) return { type: 'unreadable', what: 'it must be a JSON object' }
  return { type: interaction === undefined ? 'event' : 'interaction', payload: read.value }
}
