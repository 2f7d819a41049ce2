/** One model call: asked, collected, and judged as a whole. */
import { wellFormedJson, type JsonObject } from '../../../core/plugin.js'
import type { AssistantPart, Generation, ModelFailure, ModelRequest, ModelRoute, Usage } from '../models/contract.js'
import { begin, during, within, type Execution } from './execution.js'
import { tellHeld } from './route-wait.js'
import { openSpeech, type Speech } from './speech.js'

export type Answer =
  | {
      readonly type: 'parts'
      readonly parts: AssistantPart[]
      readonly outcome: 'stop' | 'tool_calls' | 'length' | 'paused' | 'other'
      readonly usage: Usage
      /** It stands in the journal, with what it used. */
      taken: boolean
      /** What the run says with it, where that is not all of its text. */
      said?: string
    }
  /** With what it used nevertheless, where its provider told. */
  | { readonly type: 'failed'; readonly failure: ModelFailure; readonly usage?: Usage | undefined }

type Parts = Extract<Answer, { type: 'parts' }>

const failed = (failure: ModelFailure, usage?: Usage): Answer => ({ type: 'failed', failure, usage })

/** What is asked, and which turn and attempt of the run it is. */
export interface ModelCall {
  readonly request: ModelRequest
  readonly turn: number
  readonly attempt: number
}

/**
 * Asks the model once and shows what it says while it comes. Never throws; a provider that breaks its contract counts
 * as one that failed.
 */
export const askModel = async (
  execution: Execution,
  route: ModelRoute,
  { request, turn, attempt }: ModelCall,
): Promise<Answer> => {
  const { signal } = execution.controller
  const speech = openSpeech(execution, { turn, attempt })
  const answer = await during(execution, { kind: 'model', name: request.model }, () =>
    within(execution.context.clock, collect(execution, route, { request, turn, attempt, signal, speech }), {
      signal,
      grace_ms: execution.context.config.stop_grace_ms,
    }),
  )
  speech.close()
  return answer ?? failed({ class: 'aborted', retryable: false, message: 'The provider did not end in time.' })
}

/** Calls above the limit of a turn are answered with an error each; an answer of more than this many is no answer. */
const mostCalls = 1_000

interface Asking extends ModelCall {
  readonly signal: AbortSignal
  readonly speech: Speech
}

const collect = async (
  execution: Execution,
  route: ModelRoute,
  { request, turn, attempt, signal, speech }: Asking,
): Promise<Answer> => {
  const { context, limits } = execution
  const answer: AssistantPart[] = []
  const most = Math.max(mostCalls, limits.max_calls_per_turn)
  let calls = 0
  let endTurn = (): void => {}
  try {
    for await (const event of route.connection.stream(request, signal)) {
      speech.hear(event)
      if (event.type === 'held') tellHeld(execution, { turn, attempt, until_ms: event.until_ms })
      if (event.type === 'turn') {
        endTurn()
        if (event.waits) endTurn = begin(execution, { kind: 'turn', name: '' })
      }
      if (event.type === 'part') answer.push(wellFormedJson(event.part))
      if (event.type === 'part' && event.part.type === 'tool_call') calls += 1
      if (calls > most) return failed(tooManyCalls(most))
      if (event.type === 'done')
        return event.outcome === 'failed'
          ? failed(event.failure, event.usage)
          : judge(answer.slice(), event.outcome, event.usage)
    }
  } catch (error) {
    context.log.error('a model provider threw, which its contract forbids', {
      provider: route.provider,
      where: `stream of the model provider ${route.provider}`,
      error,
    })
    const message = `The provider ${route.provider} failed in an unexpected way: the log of the daemon has the cause.`
    return failed({ class: 'unknown', retryable: false, message })
  } finally {
    endTurn()
  }
  return failed({ class: 'truncated', retryable: true, message: 'The answer of the model was cut off.' })
}

const tooManyCalls = (most: number): ModelFailure => ({
  class: 'invalid_output',
  retryable: true,
  message: `The model made more than ${most} tool calls in one answer.`,
})

/** The parts are kept for long: they are a list without room for more. */
const judge = (parts: AssistantPart[], outcome: Parts['outcome'], usage: Usage): Answer => {
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
  if (new Set(calls).size < calls.length)
    return failed(
      { class: 'invalid_output', retryable: true, message: 'The model gave two tool calls the same id.' },
      usage,
    )
  return { type: 'parts', parts, outcome, usage, taken: false }
}

/** The text of an answer. */
export const textOf = (parts: readonly AssistantPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')

/** Generation settings of a submission as a provider gets them. */
export const generationOf = (stored: JsonObject | undefined): Generation => {
  const { model: _, fallback_model: __, ...generation } = stored ?? {}
  return generation
}
