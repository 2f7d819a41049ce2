import { assertNever, type Clock, type JsonObject } from '../../../core/plugin.js'
import type {
  AssistantPart,
  FailureClass,
  ModelConnection,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  Readiness,
  TextPart,
  Usage,
} from '../../execution/models/contract.js'
import { readScript, turnOf, type Step, type Turn } from './script.js'

interface Life {
  readonly clock: Clock
  readonly idle_timeout_ms: number
}

const readiness: Readiness = { state: 'ok', code: 'ready', message: 'The demo model is inside the daemon.' }

/** A model that needs no key and no network and keeps nothing: the messages alone say where it is. */
export const createDemoModel = (life: Life): ModelConnection => ({
  readiness: () => readiness,
  stream: (request, signal) => play(request, signal, life),
})

async function* play(request: ModelRequest, signal: AbortSignal, life: Life): AsyncGenerator<ModelEvent> {
  const parts: AssistantPart[] = []
  const { answers, characters } = countOf(request.messages)
  for (const [index, step] of currentTurn(request).entries()) {
    const failed = failureOf(step, signal) ?? (step.type === 'sleep' ? await sleep(step.ms, signal, life) : undefined)
    if (failed !== undefined) return yield failed
    const part = partOf(step, `call_${answers + 1}_${index + 1}`)
    if (part === undefined) continue
    if (part.type === 'text') yield { type: 'text_delta', text: part.text }
    parts.push(part)
    yield { type: 'part', part }
  }
  if (signal.aborted) return yield aborted()
  const outcome = parts.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'stop'
  yield { type: 'done', outcome, usage: usage(characters + request.system.length, parts) }
}

const failure = (cls: FailureClass, retryable: boolean, message: string): ModelEvent => ({
  type: 'done',
  outcome: 'failed',
  failure: { class: cls, retryable, message },
})

/** How the call ends at a step, if it does. */
const failureOf = (step: Step, signal: AbortSignal): ModelEvent | undefined => {
  if (signal.aborted) return aborted()
  if (step.type !== 'fail') return undefined
  return step.retryable ? failure('overloaded', true, step.text) : failure('bad_request', false, step.text)
}

const aborted = (): ModelEvent => failure('aborted', false, 'The model call was aborted.')

const sleep = async (
  ms: number,
  signal: AbortSignal,
  { clock, idle_timeout_ms }: Life,
): Promise<ModelEvent | undefined> => {
  const whole = await clock.sleep(Math.min(ms, idle_timeout_ms), signal)
  if (!whole) return aborted()
  return ms > idle_timeout_ms ? failure('timeout', true, 'The model was silent for too long.') : undefined
}

/** The id is unique in a conversation and the same at every repetition of one call. */
const partOf = (step: Step, id: string): AssistantPart | undefined => {
  switch (step.type) {
    case 'say':
      return { type: 'text', text: step.text }
    case 'call':
      return { type: 'tool_call', id, name: step.name, input: step.input }
    case 'sleep':
    case 'fail':
      return undefined
    default:
      return assertNever(step)
  }
}

const isUserText = (message: ModelMessage): boolean => message.role === 'user' && message.beside_results !== true
const isAssistant = (message: ModelMessage): boolean => message.role === 'assistant'

/** Long scripts that were read, as long as their messages are in use: each turn asks for the same one. */
interface Kept {
  readonly system: string
  readonly turns: readonly Turn[]
}
const scripts = new WeakMap<ModelMessage, Kept>()
const longScript = 1000
const textOf = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join('\n')
const scriptOf = (message: ModelMessage, system: string): readonly Turn[] => {
  const parts = message.role === 'user' ? message.content : []
  const [said, text] = [textOf(parts.filter(({ added }) => added !== true)), textOf(parts)]
  if (text.length < longScript) return readScript({ said, text, system })
  const kept = scripts.get(message)
  if (kept?.system === system) return kept.turns
  const turns = readScript({ said, text, system })
  scripts.set(message, { system, turns })
  return turns
}

/** The turn to play: as many turns are over as the model has answered since the last user text. */
const currentTurn = ({ messages, system }: Pick<ModelRequest, 'messages' | 'system'>): Turn => {
  const at = messages.findLastIndex(isUserText)
  const message = messages[at]
  const script = message === undefined ? readScript({ said: '', text: '', system }) : scriptOf(message, system)
  return turnOf(script, messages.slice(at + 1).filter(isAssistant).length)
}

const tokens = (characters: number): number => Math.ceil(characters / 4)

const size = (value: JsonObject): number => {
  switch (value['type']) {
    case 'text':
    case 'reasoning':
      return String(value['text']).length
    case 'tool_call':
      return JSON.stringify(value['input']).length
    default:
      return JSON.stringify(value['output']).length
  }
}

const sizeOf = (parts: readonly JsonObject[]): number => parts.reduce((sum, part) => sum + size(part), 0)

/** Four characters are a token. */
const usage = (asked: number, parts: readonly AssistantPart[]): Usage => ({
  input_tokens: tokens(asked),
  output_tokens: tokens(sizeOf(parts)),
})

interface Count {
  messages: number
  characters: number
  answers: number
}
const counts = new WeakMap<readonly ModelMessage[], Count>()

/**
 * A conversation grows from call to call: only what is new is counted, so that a long one costs no more than a short
 * one.
 */
const countOf = (messages: readonly ModelMessage[]): Count => {
  const known = counts.get(messages)
  const count =
    known !== undefined && known.messages <= messages.length ? known : { messages: 0, characters: 0, answers: 0 }
  for (const message of messages.slice(count.messages)) {
    count.characters += sizeOf(message.content)
    if (isAssistant(message)) count.answers += 1
  }
  count.messages = messages.length
  counts.set(messages, count)
  return count
}
