/** A model whose answers a test writes down. It is not shipped: a test gives it to its daemon. */
import type { AnyPlugin, Json } from '../../../core/plugin.js'
import type { ModelEvent, ModelProvider, ModelRequest } from '../../execution/models/contract.js'
import { createScripted } from './plugin.js'

/** Gives the events of one model call. `count` is 1 for the first call of the daemon's life. */
export type Play = (
  request: ModelRequest,
  count: number,
  signal: AbortSignal,
) => AsyncIterable<ModelEvent> | Iterable<ModelEvent>

/** The model as `plugins` of a test daemon takes it. */
export interface ScriptedProvider {
  readonly plugin: AnyPlugin
  /** What it was asked, oldest first. */
  readonly requests: readonly ModelRequest[]
  /** Makes it the model of runs that name none. */
  readonly config: { readonly models: { readonly provider: string } }
}

const usage = { input_tokens: 1, output_tokens: 1 }

/** The end of an answer. */
export const done = (outcome: 'stop' | 'tool_calls' | 'length' | 'other' = 'stop'): ModelEvent => ({
  type: 'done',
  outcome,
  usage,
})
/** A text that it says. */
export const text = (said: string): ModelEvent => ({ type: 'part', part: { type: 'text', text: said } })
/** A call that it makes; ids differ within a conversation. */
export const callTool = (id: string, name: string, input: Json = {}): ModelEvent => ({
  type: 'part',
  part: { type: 'tool_call', id, name, input },
})
/** An answer that fails: the engine asks again if that may help. */
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

const isCall = (event: ModelEvent): boolean => event.type === 'part' && event.part.type === 'tool_call'

/** Answers one after the other; an end that is not written down follows from what is said. */
const playOf =
  (answers: readonly (readonly ModelEvent[])[]): Play =>
  (_, count) => {
    const answer = answers[count - 1]
    if (answer === undefined)
      return [fails(false, `The script has ${answers.length} answers and was asked for one more: write it down.`)]
    const end = answer.some(({ type }) => type === 'done') ? [] : [done(answer.some(isCall) ? 'tool_calls' : 'stop')]
    return [...answer, ...end]
  }

/** A model that answers as the script says: a list of answers, or a function that makes each. */
export const scriptedProvider = (
  script: Play | readonly (readonly ModelEvent[])[],
  more: Partial<ModelProvider> = {},
): ScriptedProvider => {
  const requests: ModelRequest[] = []
  const play = typeof script === 'function' ? script : playOf(script)
  const plugin = createScripted({
    ...more,
    connect: () => ({
      async *stream(request, signal) {
        requests.push({ ...request, messages: structuredClone(request.messages) })
        yield* play(request, requests.length, signal)
      },
      readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
    }),
  })
  return { plugin, requests, config: { models: { provider: 'scripted' } } }
}
