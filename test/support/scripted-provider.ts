/** A model whose answers a test writes down. */
import type { AnyPlugin, Json } from '../../core/plugin.js'
import {
  ModelProviders,
  textOnly,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
} from '../../plugins/execution/models/contract.js'
import { testPlugin } from './plugins.js'

/** Gives the events of one model call. `count` is 1 for the first call of the daemon's life. */
export type Play = (
  request: ModelRequest,
  count: number,
  signal: AbortSignal,
) => AsyncIterable<ModelEvent> | Iterable<ModelEvent>

export interface ScriptedProvider {
  readonly plugin: AnyPlugin
  readonly requests: ModelRequest[]
  readonly config: { models: { provider: string } }
}

const usage = { input_tokens: 1, output_tokens: 1 }
export const done = (outcome: 'stop' | 'tool_calls' | 'length' = 'stop'): ModelEvent => ({
  type: 'done',
  outcome,
  usage,
})
export const text = (said: string): ModelEvent => ({ type: 'part', part: { type: 'text', text: said } })
export const callTool = (id: string, name: string, input: Json = {}): ModelEvent => ({
  type: 'part',
  part: { type: 'tool_call', id, name, input },
})
export const fails = (retryable: boolean, message = 'It is busy.', retry_after_ms?: number): ModelEvent => ({
  type: 'done',
  outcome: 'failed',
  failure: {
    class: retryable ? 'overloaded' : 'bad_request',
    retryable,
    message,
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  },
})

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

export const scriptedProvider = (play: Play, more: Partial<ModelProvider> = {}): ScriptedProvider => {
  const requests: ModelRequest[] = []
  const plugin = testPlugin('scripted', {
    register(ctx) {
      ctx.contribute(ModelProviders, {
        id: 'scripted',
        summary: 'Scripted.',
        default_model: 'scripted',
        capabilities: textOnly,
        ...more,
        connect: () => ({
          async *stream(request, signal) {
            requests.push({ ...request, messages: structuredClone(request.messages) })
            yield* play(request, requests.length, signal)
          },
          readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
        }),
      })
    },
  })
  return { plugin, requests, config: { models: { provider: 'scripted' } } }
}
