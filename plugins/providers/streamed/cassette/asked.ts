/** What a recorded request asks that the one before it did not: what a person told, and what tools answered. */
import { isJsonObject, type Json } from '../../../../core/plugin.js'
import type { Exchange } from './format.js'

/** A message that came with a request. */
export interface Told {
  readonly who: string
  readonly text: string
}

/** The conversation under the name that its protocol has for it; undefined of what is asked once, such as a picture. */
const conversationOf = (request: Json): readonly Json[] | undefined => {
  if (!isJsonObject(request)) return undefined
  const found = request['messages'] ?? request['contents'] ?? request['input']
  return Array.isArray(found) ? found : undefined
}

/** True of an exchange that is a turn of a conversation. */
export const isTurn = ({ request }: Exchange): boolean => conversationOf(request) !== undefined

/** What is asked once, by its fields: those of a form too. */
const fieldsOf = (request: Json): Told[] => {
  if (!isJsonObject(request)) return []
  const form = request['form']
  if (!Array.isArray(form))
    return Object.entries(request).flatMap(([who, text]) => (typeof text === 'string' ? [{ who, text }] : []))
  return form.filter(isJsonObject).map(({ name, value, ...file }) => ({
    who: String(name),
    text: typeof value === 'string' ? value : Object.values(file).map(String).join(' '),
  }))
}

/** Members that hold what was said: others say how. */
const speaking = ['content', 'parts', 'text', 'output', 'functionResponse', 'response', 'arguments', 'input']

const wordsIn = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.flatMap((one) => wordsIn(one) || []).join('\n')
  if (value === undefined || !isJsonObject(value)) return ''
  const found = speaking.flatMap((name) => wordsIn(value[name]) || [])
  return found.length > 0 ? found.join('\n') : value['type'] === undefined ? JSON.stringify(value) : ''
}

const isResult = (message: Json): boolean =>
  /"(?:tool_result|function_call_output|functionResponse)"|"role":"tool"/u.test(JSON.stringify(message))

const whoOf = (message: Json): string => {
  if (isResult(message)) return 'tool'
  const role = isJsonObject(message) ? message['role'] : undefined
  return typeof role === 'string' ? role : 'model'
}

/** Those that stand behind what the turn before it held, without what the model itself said. */
export const newIn = ({ request }: Exchange, before: Exchange | undefined): Told[] => {
  const conversation = conversationOf(request)
  if (conversation === undefined) return fieldsOf(request)
  const earlier = before === undefined ? 0 : (conversationOf(before.request)?.length ?? 0)
  return conversation
    .slice(earlier)
    .map((message) => ({ who: whoOf(message), text: wordsIn(message) }))
    .filter(({ who }) => !['assistant', 'model', 'system', 'developer'].includes(who))
}

/** The model that was asked: in the request, or in the path. */
export const modelOf = ({ request, path }: Exchange): string =>
  fieldsOf(request).find(({ who }) => who === 'model')?.text ?? /models\/([^/:]+)/u.exec(path)?.[1] ?? 'unknown'

/** The provider that plays it. */
export const providerOf = ({ path }: Pick<Exchange, 'path'>): string => {
  if (path.endsWith('/messages')) return 'anthropic'
  if (path.includes('GenerateContent') || path.includes('generateContent')) return 'google'
  return path.endsWith('/responses') ? 'openai' : 'openai_compatible'
}
