/** Collects what the vendor streams and decides at its end what the answer is. Nothing acts before that. */
import { isShallow, unsafeCast, type Json } from '../../../core/plugin.js'
import type {
  AssistantPart,
  ModelEvent,
  ModelFailure,
  ProviderMetadata,
  ToolCallPart,
  Usage,
} from '../../execution/models/contract.js'
import type { ChatPart } from './chat-model.js'
import { classify, failures, type Asked } from './failure.js'

type VendorFinish = Extract<ChatPart, { type: 'finish' }>
type VendorCall = Extract<ChatPart, { type: 'tool-call' }>

export interface Answer {
  /** The text that became visible with this part, if any. */
  take(part: ChatPart): string | undefined
  end(): ModelEvent[]
}

interface Collected {
  parts: AssistantPart[]
  calls: VendorCall[]
  open: string
  /** Characters of call inputs that the server sent, and that reached a call. */
  sent: number
  placed: number
  fault?: unknown
  finish?: VendorFinish
}

export const createAnswer = (asked: Asked): Answer => {
  const so: Collected = { parts: [], calls: [], open: '', sent: 0, placed: 0 }
  return {
    take: (part) => take(so, part),
    end: () => end(so, asked),
  }
}

const take = (so: Collected, part: ChatPart): string | undefined => {
  switch (part.type) {
    case 'text-delta':
      so.open += part.delta
      return part.delta
    case 'reasoning-delta':
      so.open += part.delta
      return undefined
    case 'text-end':
    case 'reasoning-end':
      so.parts.push({
        type: part.type === 'text-end' ? 'text' : 'reasoning',
        text: so.open,
        ...beside(part.providerMetadata),
      })
      so.open = ''
      return undefined
    case 'tool-input-delta':
      so.placed += part.delta.length
      return undefined
    case 'tool-call':
      so.calls.push(part)
      return undefined
    case 'raw':
      so.sent += inputLength(part.rawValue)
      return undefined
    case 'error':
      so.fault ??= part
      return undefined
    case 'finish':
      so.finish = part
      return undefined
    default:
      return undefined
  }
}

const beside = (metadata: VendorFinish['providerMetadata']): { metadata?: ProviderMetadata } =>
  metadata === undefined ? {} : { metadata: metadata }

interface RawChunk {
  choices?: { delta?: { tool_calls?: { function?: { arguments?: string | null } }[] | null } | null }[]
}

/** The package drops pieces of inputs that it cannot assign to a call; counting them is how we know. */
const inputLength = (raw: unknown): number => {
  const chunk = unsafeCast<RawChunk | null | undefined>(raw)
  const pieces = chunk?.choices?.[0]?.delta?.tool_calls
  return Array.isArray(pieces) ? pieces.reduce((sum, piece) => sum + (piece?.function?.arguments?.length ?? 0), 0) : 0
}

const end = (so: Collected, asked: Asked): ModelEvent[] => {
  const usage = usageOf(so.finish)
  const failed = (failure: ModelFailure): ModelEvent[] => [
    { type: 'done', outcome: 'failed', failure, ...(usage !== undefined && { usage }) },
  ]
  if (so.fault !== undefined) return failed(classify(so.fault, asked))
  const reason = realReason(so.finish)
  if (reason === undefined) return failed(failures.truncated())
  const calls = so.calls.map(toolCall)
  const flaw = flawOf(so, reason)
  if (flaw !== undefined) return failed(flaw)
  const outcome = reason === 'length' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'
  return [
    ...[...so.parts, ...calls].map((part): ModelEvent => ({ type: 'part', part })),
    { type: 'done', outcome, usage: usage ?? { input_tokens: 0, output_tokens: 0 } },
  ]
}

type Reason = VendorFinish['finishReason']['unified'] | 'broken'

/** Servers that end with these words did not finish the answer. */
const brokenOff = new Set(['error', 'abort', 'insufficient_system_resource'])

/** Why the model stopped; undefined if the server never said so, which is what a cut stream looks like. */
const realReason = (finish: VendorFinish | undefined): Reason | undefined => {
  const raw = finish?.finishReason.raw?.trim()
  if (finish === undefined || raw === undefined || raw === '') return undefined
  return brokenOff.has(raw) ? 'broken' : finish.finishReason.unified
}

const flawOf = ({ sent, placed, calls }: Collected, reason: Reason): ModelFailure | undefined => {
  if (reason === 'broken') return failures.overloaded()
  if (reason === 'content-filter') return failures.filtered()
  if (sent !== placed) return failures.invalid('The pieces of its tool calls cannot be told apart.')
  if (reason === 'tool-calls' && calls.length === 0) return failures.invalid('It announced tool calls and sent none.')
  if (reason === 'other' && calls.length > 0) return failures.invalid('It ended its tool calls with an unknown reason.')
  return undefined
}

const toolCall = ({ toolCallId, toolName, input, providerMetadata }: VendorCall): ToolCallPart => ({
  type: 'tool_call',
  id: toolCallId,
  name: toolName,
  ...(parseInput(input) ?? { input: {}, unparsed: input }),
  ...beside(providerMetadata),
})

/** Servers send an empty text for a call without parameters. */
const parseInput = (text: string): { input: Json } | undefined => {
  if (!isShallow(text)) return undefined
  try {
    const input: Json = JSON.parse(text.trim() === '' ? '{}' : text)
    return { input }
  } catch {
    return undefined
  }
}

const usageOf = (finish: VendorFinish | undefined): Usage | undefined => {
  if (finish?.usage.raw === undefined) return undefined
  const { inputTokens, outputTokens } = finish.usage
  const cached = count(inputTokens.cacheRead)
  const reasoning = count(outputTokens.reasoning)
  return {
    input_tokens: count(inputTokens.total),
    output_tokens: count(outputTokens.total),
    ...(cached > 0 && { cached_input_tokens: cached }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  }
}

/** A server's number may be anything. */
const count = (value: number | undefined): number =>
  value !== undefined && Number.isSafeInteger(Math.trunc(value)) ? Math.max(0, Math.trunc(value)) : 0
