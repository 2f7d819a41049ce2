/**
 * A model behind the chat-completions protocol that thinks nothing: a bare HTTP server. The name of the model that is
 * asked for says what it answers: `8@0` is eight deltas at once, `50@20` is fifty of them, one each 20 ms.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** About as long as an event of a large provider is. */
const event = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-0123456789abcdef0123456789',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'stub',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
  })}\n\n`

const usage = { prompt_tokens: 100, completion_tokens: 8, total_tokens: 108 }
const begin = event({ role: 'assistant', content: '' })
const end = `${event({}, { finish_reason: 'stop' })}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`

/** A delta that tells when it was sent, in Unix milliseconds, and whether it is the first of its answer. */
const delta = (isFirst: boolean): string =>
  event({ content: `${isFirst ? 'first ' : ''}at ${(performance.timeOrigin + performance.now()).toFixed(2)} ` })

const whole = new Map<number, Buffer>()
const atOnce = (count: number): Buffer => {
  const known = whole.get(count) ?? Buffer.from(begin + event({ content: ' hello' }).repeat(count) + end)
  whole.set(count, known)
  return known
}

const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

const answer = (response: ServerResponse, count: number, pace_ms: number): void => {
  response.writeHead(200, headers)
  if (pace_ms === 0) return void response.end(atOnce(count))
  response.write(begin)
  let left = count
  const timer = setInterval(() => {
    response.write(delta(left === count))
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    response.end(end)
  }, pace_ms)
  response.on('close', () => clearInterval(timer))
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end('ok')
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const [, count = '8', pace = '0'] = /"model":"(\d+)@(\d+)"/u.exec(String(Buffer.concat(parts))) ?? []
    answer(response, Number(count), Number(pace))
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
server.keepAliveTimeout = 60_000
