/** Collects what the server streams and decides at its end what the answer is. Nothing acts before that. */
import type { AssistantPart, ModelEvent, ToolCallPart, Usage, WebPage } from '../../execution/models/contract.js'
import { excess, readChunk, readCompletion, type Chunk, type Piece } from './chunk.js'
import {
  beginGathering,
  endingOf,
  extend,
  failures,
  finishWith,
  isLastEvent,
  stateOf,
  told,
  toolInput,
  type Answer,
  type Asked,
  type Finish,
  type Gathered,
  type Said,
} from '../streamed/contract.js'
import { search } from './search.js'
import { createToolPieces, type ToolDraft, type ToolPieces } from './tool-pieces.js'
import { thoughtSignature } from './thought-signature.js'

interface Collected extends Gathered {
  readonly said: Said[]
  /** Undefined until the first piece of a call comes. */
  calls: ToolPieces | undefined
  usage: Usage | undefined
  /** By their addresses. */
  readonly cites: Map<string, WebPage>
}

export const createAnswer = (asked: Asked, newId: () => string): Answer => {
  const so: Collected = {
    said: [],
    calls: undefined,
    usage: undefined,
    cites: new Map(),
    ...beginGathering(),
  }
  return {
    take(data) {
      if (so.isDone || so.fault !== undefined) return
      if (isLastEvent(data)) so.isDone = true
      else takeChunk(so, readChunk(data), asked)
    },
    takeWhole(data) {
      const completion = readCompletion(data)
      if (completion !== undefined) takeChunk(so, completion, asked)
      return completion !== undefined
    },
    overflow: () => takeChunk(so, excess, asked),
    fresh: so.fresh.take,
    state: () => stateOf(so),
    end: () => end(so, newId),
  }
}

const takeChunk = (so: Collected, chunk: Chunk, asked: Asked): void => {
  switch (chunk.type) {
    case 'garbage':
      if (so.finish === undefined) so.fault = failures.invalid('It does not follow the protocol.')
      return
    case 'excess':
      if (so.finish === undefined) so.fault = failures.excessive()
      return
    case 'error':
      so.fault = told(chunk.error, asked)
      return
    case 'piece':
      so.usage = chunk.usage ?? so.usage
      search.add(so.cites, chunk.cites)
      if (so.finish === undefined) takePiece(so, chunk)
      if (chunk.finish !== '') finishWith(so, finishes.get(chunk.finish.toLowerCase()) ?? 'other')
  }
}

const takePiece = (so: Collected, { reasoning, text, calls }: Piece): void => {
  if (reasoning !== '') say(so, 'reasoning', reasoning)
  if (text !== '') say(so, 'text', text)
  for (const call of calls)
    if (!(so.calls ??= createToolPieces()).take(call))
      so.fault ??= failures.invalid('The pieces of its tool calls cannot be told apart.')
}

const say = (so: Collected, type: Said['type'], text: string): void => {
  extend(so.said, type, text)
  so.fresh.add(type, text)
}

/** Servers that end with the last of these words did not finish the answer; some have words of other protocols. */
const finishes = new Map<string, Finish>([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['end_turn', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'filtered'],
  ['function_call', 'tool_calls'],
  ['tool_calls', 'tool_calls'],
  ['error', 'broken'],
  ['abort', 'broken'],
  ['insufficient_system_resource', 'broken'],
])

const end = ({ said, calls, fault, finish, usage, cites }: Collected, newId: () => string): ModelEvent[] => {
  const pages = [...cites.values()]
  const parts: AssistantPart[] = [
    ...search.parts(pages),
    ...cited(said, pages),
    ...(calls?.list() ?? []).map((draft) => toolCall(draft, newId)),
  ]
  return endingOf({ fault, finish, usage, parts })
}

/** Where in the answer a page is cited is not kept: its last text has them all. */
const cited = (said: readonly Said[], pages: WebPage[]): AssistantPart[] => {
  const last = said.findLast(({ type }) => type === 'text')
  if (pages.length === 0 || last === undefined) return [...said]
  return said.map((one) => (one === last ? { type: 'text', text: one.text, cites: pages } : one))
}

const toolCall = ({ id, name = '', input, signature }: ToolDraft, newId: () => string): ToolCallPart =>
  Object.assign(
    { type: 'tool_call' as const, id: id ?? newId(), name, ...toolInput(input) },
    signature === undefined ? undefined : { metadata: thoughtSignature.metadata(signature) },
  )
