/** What a recorded answer says, whichever of the four protocols it is in: for people, who look for what went wrong. */
import { isJsonObject, type Json, type JsonObject } from '../../../../core/plugin.js'
import type { Exchange } from './format.js'

/** A text, a thought or a call, by the place that its pieces name. */
interface Piece {
  kind: 'text' | 'thought' | 'call'
  name: string
  text: string
}

export interface SaidCall {
  readonly name: string
  /** As the model gave it: JSON, unless it did not keep to that. */
  readonly input: string
}

export interface Said {
  readonly text: string
  readonly thought: string
  readonly calls: readonly SaidCall[]
  /** Why the answer ended, in the word of the server. */
  readonly ended?: string
  /** What the server says went wrong. */
  readonly error?: string
}

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {})
const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

const createSaid = () => {
  const pieces = new Map<string, Piece>()
  const facts: { ended?: string; error?: string } = {}
  return {
    facts,
    add(kind: Piece['kind'], place: string, { text: piece = '', name = '' }: Partial<Piece>): void {
      if (piece === '' && name === '') return
      const known = pieces.get(`${kind} ${place}`) ?? { kind, name, text: '' }
      if (known.name === '') known.name = name
      known.text += piece
      pieces.set(`${kind} ${place}`, known)
    },
    said(): Said {
      const all = [...pieces.values()]
      const joined = (kind: Piece['kind']): string =>
        all.flatMap((one) => (one.kind === kind ? [one.text] : [])).join('')
      const calls = all.flatMap((one) => (one.kind === 'call' ? [{ name: one.name, input: one.text }] : []))
      return { text: joined('text'), thought: joined('thought'), calls, ...facts }
    },
  }
}
type Draft = ReturnType<typeof createSaid>

const readMessages = (draft: Draft, event: JsonObject): void => {
  const place = String(event['index'] ?? 0)
  const block = object(event['content_block'])
  if (block['type'] === 'tool_use' || block['type'] === 'server_tool_use')
    draft.add('call', place, { name: text(block['name']) })
  const delta = object(event['delta'])
  draft.add('text', place, { text: text(delta['text']) + text(block['text']) })
  draft.add('thought', place, { text: text(delta['thinking']) })
  draft.add('call', place, { text: text(delta['partial_json']) })
  if (typeof delta['stop_reason'] === 'string') draft.facts.ended = delta['stop_reason']
}

const readResponses = (draft: Draft, event: JsonObject): void => {
  const place = String(event['output_index'] ?? 0)
  const item = object(event['item'])
  if (event['type'] === 'response.output_item.added' && item['type'] === 'function_call')
    draft.add('call', place, { name: text(item['name']) })
  if (event['type'] === 'response.output_text.delta') draft.add('text', place, { text: text(event['delta']) })
  if (event['type'] === 'response.reasoning_summary_text.delta')
    draft.add('thought', place, { text: text(event['delta']) })
  if (event['type'] === 'response.function_call_arguments.delta')
    draft.add('call', place, { text: text(event['delta']) })
  const { status } = object(event['response'])
  if (status === 'completed' || status === 'incomplete' || status === 'failed') draft.facts.ended = status
}

const readCandidates = (draft: Draft, event: JsonObject, count: number): void => {
  for (const candidate of list(event['candidates']).map(object)) {
    for (const [at, part] of list(object(candidate['content'])['parts']).map(object).entries()) {
      const call = object(part['functionCall'])
      if (typeof call['name'] === 'string')
        draft.add('call', `${count} ${at}`, { text: JSON.stringify(call['args'] ?? {}), name: call['name'] })
      draft.add(part['thought'] === true ? 'thought' : 'text', '', { text: text(part['text']) })
    }
    if (typeof candidate['finishReason'] === 'string') draft.facts.ended = candidate['finishReason']
  }
}

const readChoices = (draft: Draft, event: JsonObject): void => {
  for (const choice of list(event['choices']).map(object)) {
    const delta = object(choice['delta'])
    draft.add('text', '', { text: text(delta['content']) })
    draft.add('thought', '', { text: text(delta['reasoning_content']) + text(delta['reasoning']) })
    for (const call of list(delta['tool_calls']).map(object)) {
      const made = object(call['function'])
      draft.add('call', String(call['index'] ?? 0), { text: text(made['arguments']), name: text(made['name']) })
    }
    if (typeof choice['finish_reason'] === 'string') draft.facts.ended = choice['finish_reason']
  }
}

const readError = (draft: Draft, event: JsonObject): void => {
  const error = event['error'] ?? object(event['response'])['error']
  if (error === undefined || error === null) return
  draft.facts.error = isJsonObject(error) ? text(error['message']) || JSON.stringify(error) : String(error)
}

/** One value of an answer: each protocol takes what is its own. */
const read = (draft: Draft, event: JsonObject, count: number): void => {
  if (Array.isArray(event['candidates'])) readCandidates(draft, event, count)
  else if (Array.isArray(event['choices'])) readChoices(draft, event)
  else if (text(event['type']).startsWith('response.')) readResponses(draft, event)
  else if (event['type'] === undefined && typeof event['text'] === 'string')
    draft.add('text', '', { text: event['text'] })
  else readMessages(draft, event)
  readError(draft, event)
}

const valueOf = (data: string): Json | undefined => {
  try {
    const value: Json = JSON.parse(data)
    return value
  } catch {
    return undefined
  }
}

/** The data of one event: its lines that have some. */
const dataIn = (event: string): string =>
  event
    .split(/\r?\n|\r/u)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []))
    .join('\n')

/** What an exchange says in the end; of a withheld answer nothing. */
export const saidIn = ({ answer }: Pick<Exchange, 'answer'>): Said => {
  const draft = createSaid()
  let count = 0
  const take = (data: string): void => {
    const value = valueOf(data)
    count += 1
    if (value !== undefined && isJsonObject(value)) read(draft, value, count)
  }
  const body = answer.join('')
  // An answer that is no stream is one value: a refusal.
  if (valueOf(body) !== undefined) take(body)
  else for (const event of body.split(/\r?\n\r?\n|\r\r/u)) take(dataIn(event))
  return draft.said()
}
