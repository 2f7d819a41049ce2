/** HTTP to the provider: no redirect, no retry, no time-out but the call's own. undici is loaded at the first call. */
import type { Dispatcher } from 'undici'
import { createAnswerBudget, type AnswerBudget } from './answer-budget.js'
import type { Call } from './call.js'
import { answerErrors } from './errors.js'

export interface Transport {
  /** A `fetch` that lives as long as the call. Asynchronous only because undici is loaded first. */
  fetchFor(call: Call): Promise<typeof globalThis.fetch>
  close(): Promise<void>
}

const largest = 32 * 1024 * 1024
/** Of all answers under way. */
const largestSum = 512 * 1024 * 1024

const load = async (most: number) => {
  const { Agent, request } = await import('undici')
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxResponseSize: largest })
  return { request, agent, budget: createAnswerBudget(most) }
}

/** `most` bytes are those of all answers under way. */
export const createTransport = ({ most = largestSum }: { readonly most?: number } = {}): Transport => {
  let loaded: ReturnType<typeof load> | undefined
  const fetchFor = async (call: Call): Promise<typeof globalThis.fetch> => {
    const undici = await (loaded ??= load(most))
    return (input, init = {}) => send(undici, call, { url: String(input), init })
  }
  return { fetchFor, close: async () => void (await (await loaded)?.agent.destroy()) }
}

interface Wanted {
  readonly url: string
  readonly init: RequestInit
}

const send = async (
  { request, agent, budget }: Awaited<ReturnType<typeof load>>,
  call: Call,
  { url, init }: Wanted,
): Promise<Response> => {
  const headers = Object.fromEntries(new Headers(init.headers))
  const answer = await request(url, {
    method: 'POST',
    dispatcher: agent,
    headers,
    body: String(init.body),
    signal: call.signal,
    // More than an answer has, so that undici never pauses: a socket that ends while it does ends the process.
    highWaterMark: largest + 1,
  })
  call.alive()
  refuseUseless(answer)
  return new Response(ReadableStream.from(readBody(answer.body, call, budget)), {
    status: answer.statusCode,
    headers: flat(answer.headers),
  })
}

const flat = (headers: Dispatcher.ResponseData['headers']): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))

const refuseUseless = ({ statusCode, headers, body }: Dispatcher.ResponseData): void => {
  const type = String(headers['content-type'] ?? '')
  const redirected = statusCode >= 300 && statusCode < 400
  const useless =
    statusCode < 300 && (/^(text\/html|application\/json)\b/iu.test(type) || statusCode === 204 || statusCode === 205)
  if (!redirected && !useless) return
  body.destroy()
  throw redirected
    ? answerErrors.provider_redirected({ details: { status: statusCode } })
    : answerErrors.provider_not_streaming()
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'

/** Cannot be inside a JSON text: there a line break is escaped. */
const lastEvent = /(?:^|\n)data: ?\[DONE\]\r?\n/u

/** The bytes of an answer. A server that says `[DONE]` and keeps the socket open is not waited for. */
async function* readBody(
  body: Dispatcher.ResponseData['body'],
  call: Call,
  budget: AnswerBudget,
): AsyncGenerator<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  const share = budget.open()
  let tail = ''
  let read = 0
  try {
    for (;;) {
      const next = await (lastEvent.test(tail) ? Promise.race([chunks.next(), call.pause(1000)]) : chunks.next())
      if (next === undefined || next.done === true) return
      call.alive()
      read += next.value.length
      if (share.holds(read + body.readableLength)) throw answerErrors.provider_answers_too_large()
      tail = (tail + next.value.subarray(-32).toString('latin1')).slice(-32)
      yield next.value
    }
  } catch (error) {
    throw isTooLarge(error) ? answerErrors.provider_answer_too_large() : error
  } finally {
    share.close()
    body.destroy()
  }
}
