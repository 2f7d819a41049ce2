/** Small helpers to ask a model connection and to look at its answer. */
import { fault, messageOf, type Json } from '../../core/plugin.js'
import type {
  AssistantPart,
  ModelConnection,
  ModelEvent,
  ModelMessage,
  ModelRequest,
} from '../../plugins/execution/models/contract.js'

export type Done = Extract<ModelEvent, { type: 'done' }>
export interface Answer {
  readonly events: ModelEvent[]
  readonly parts: AssistantPart[]
  readonly text: string
  readonly done: Done | undefined
}

export const userText = (text: string): ModelMessage => ({ role: 'user', content: [{ type: 'text', text }] })

export const requestOf = (messages: readonly ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'test-model',
  system: 'You are a test.',
  messages,
  tools: [],
  generation: {},
  ...more,
})

/** For a route whose provider nobody charges. */
export const unwatched = {
  plugin: 'test',
  broke: (): void => {},
  idle_timeout_ms: 300_000,
  redact: (text: string): string => text,
  blamed: (error: unknown): Error => fault(messageOf(error), error),
}

/** The whole answer; a throw of the connection is a throw here. */
export const ask = async (
  connection: ModelConnection,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Answer> => {
  const events: ModelEvent[] = []
  for await (const event of connection.stream(request, signal)) events.push(event)
  return answerOf(events)
}

export const answerOf = (events: ModelEvent[]): Answer => {
  const parts = events.flatMap((event) => (event.type === 'part' ? [event.part] : []))
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const last = events.at(-1)
  return { events, parts, text, done: last?.type === 'done' ? last : undefined }
}

/** The results that a daemon would send back for the calls of an answer. */
export const resultsOf = (parts: readonly AssistantPart[], output: Json = { ok: true }): ModelMessage => ({
  role: 'tool',
  content: parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ type: 'tool_result' as const, tool_call_id: part.id, name: part.name, output, is_error: false }]
      : [],
  ),
})

/** Plays a whole run: asks until no tool is called. */
export const converse = async (connection: ModelConnection, text: string): Promise<Answer[]> => {
  const messages: ModelMessage[] = [userText(text)]
  const answers: Answer[] = []
  for (let turn = 0; turn < 20; turn += 1) {
    const answer = await ask(connection, requestOf(messages))
    answers.push(answer)
    if (answer.done?.outcome !== 'tool_calls') return answers
    messages.push({ role: 'assistant', content: answer.parts }, resultsOf(answer.parts))
  }
  return answers
}

/** Every tool call in the request has its result right after it: what providers refuse otherwise. */
export const unpaired = ({ messages }: ModelRequest): string[] =>
  messages.flatMap((message, at) => {
    if (message.role !== 'assistant') return []
    const next = messages[at + 1]
    const answered = next?.role === 'tool' ? next.content.map(({ tool_call_id }) => tool_call_id) : []
    return message.content.flatMap((part) =>
      part.type === 'tool_call' && !answered.includes(part.id) ? [part.id] : [],
    )
  })
