/** Collects what the server streams and decides at its end what the answer is. Nothing acts before that. */
import type { AssistantPart, ModelEvent, ModelFailure, ToolCallPart, Usage } from '../../execution/models/contract.js'
import { excess, readChunk, type Chunk, type Piece } from './chunk.js'
import { failures, told, toolInput, type Answer, type Asked, type Delta } from '../streamed/contract.js'
import { createToolPieces, type ToolDraft, type ToolPieces } from './tool-pieces.js'
import { thoughtSignature } from './thought-signature.js'

type Said = { type: 'text' | 'reasoning'; text: string }

interface Collected {
  readonly said: Said[]
  /** Undefined until the first piece of a call comes. */
  calls: ToolPieces | undefined
  fresh: Said[]
  fault: ModelFailure | undefined
  finish: Finish | undefined
  usage: Usage | undefined
  isDone: boolean
}

export const createAnswer = (asked: Asked, newId: () => string): Answer => {
  const so: Collected = {
    said: [],
    calls: undefined,
    fresh: [],
    fault: undefined,
    finish: undefined,
    usage: undefined,
    isDone: false,
  }
  return {
    take(data) {
      if (so.isDone || so.fault !== undefined) return
      if (isLastEvent(data)) so.isDone = true
      else takeChunk(so, readChunk(data), asked)
    },
    overflow: () => takeChunk(so, excess, asked),
    fresh() {
      if (so.fresh.length === 0) return none
      const deltas = so.fresh.map(({ type, text }): Delta => ({ type: `${type}_delta`, text }))
      so.fresh = []
      return deltas
    },
    state() {
      if (so.fault !== undefined) return 'failed'
      if (so.isDone) return 'done'
      return so.finish === undefined ? 'open' : 'finished'
    },
    end: () => end(so, newId),
  }
}

const none: readonly Delta[] = []

const isLastEvent = (data: string): boolean => data.length < 100 && data.trim() === '[DONE]'

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
      if (so.finish === undefined) takePiece(so, chunk)
      else so.finish = finishBehind(so.finish, chunk.finish)
  }
}

const takePiece = (so: Collected, { reasoning, text, calls, finish }: Piece): void => {
  if (reasoning !== '') say(so, 'reasoning', reasoning)
  if (text !== '') say(so, 'text', text)
  for (const call of calls)
    if (!(so.calls ??= createToolPieces()).take(call))
      so.fault ??= failures.invalid('The pieces of its tool calls cannot be told apart.')
  so.finish = finishOf(finish)
}

const say = (so: Collected, type: Said['type'], text: string): void => {
  extend(so.said, type, text)
  extend(so.fresh, type, text)
}

const extend = (said: Said[], type: Said['type'], text: string): void => {
  const last = said.at(-1)
  if (last?.type === type) last.text += text
  else said.push({ type, text })
}

type Finish = 'stop' | 'tool_calls' | 'length' | 'filtered' | 'broken' | 'other'

/** Servers that end with the last of these words did not finish the answer. */
const finishes = new Map<string, Finish>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'filtered'],
  ['function_call', 'tool_calls'],
  ['tool_calls', 'tool_calls'],
  ['error', 'broken'],
  ['abort', 'broken'],
  ['insufficient_system_resource', 'broken'],
])

const finishOf = (word: string): Finish | undefined => (word === '' ? undefined : (finishes.get(word) ?? 'other'))

const flawed: ReadonlySet<Finish | undefined> = new Set<Finish>(['length', 'filtered', 'broken'])

/** Behind the first reason only one counts that says the answer is not whole, and no answer becomes whole again. */
const finishBehind = (before: Finish, word: string): Finish => {
  const later = finishOf(word)
  return later !== undefined && flawed.has(later) && !flawed.has(before) ? later : before
}

const end = (so: Collected, newId: () => string): ModelEvent[] => {
  const usage = so.usage === undefined ? {} : { usage: so.usage }
  const drafts = so.calls?.list() ?? []
  const failure = so.fault ?? flawOf(so.finish, drafts)
  if (failure !== undefined || so.finish === undefined)
    return [{ type: 'done', outcome: 'failed', failure: failure ?? failures.truncated(), ...usage }]
  const parts: AssistantPart[] = [...so.said, ...drafts.map((draft) => toolCall(draft, newId))]
  const outcome = so.finish === 'length' ? 'length' : drafts.length > 0 ? 'tool_calls' : 'stop'
  return [
    ...parts.map((part): ModelEvent => ({ type: 'part', part })),
    { type: 'done', outcome, usage: so.usage ?? { input_tokens: 0, output_tokens: 0 } },
  ]
}

/** Why an answer does not count. One without a finish is what a cut stream looks like. */
const flawOf = (finish: Finish | undefined, drafts: readonly ToolDraft[]): ModelFailure | undefined => {
  if (finish === undefined) return failures.truncated()
  if (finish === 'broken') return failures.overloaded()
  if (finish === 'filtered') return failures.filtered()
  if (drafts.some(({ name }) => name === undefined)) return failures.invalid('A tool call of it has no name.')
  if (finish === 'tool_calls' && drafts.length === 0) return failures.invalid('It announced tool calls and sent none.')
  if (finish === 'other' && drafts.length > 0)
    return failures.invalid('It ended its tool calls with an unknown reason.')
  return undefined
}

const toolCall = ({ id, name = '', input, signature }: ToolDraft, newId: () => string): ToolCallPart =>
  Object.assign(
    { type: 'tool_call' as const, id: id ?? newId(), name, ...toolInput(input) },
    signature === undefined ? undefined : { metadata: thoughtSignature.metadata(signature) },
  )
