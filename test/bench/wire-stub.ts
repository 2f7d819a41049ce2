/**
 * A model behind each of the four protocols that thinks nothing. The name of the model that is asked for says what it
 * answers: `50@20` is fifty deltas, one each 20 ms; `steps3` calls a tool until it has three results, then says so.
 * `GET /asked` takes the questions that came since the last time, 64 at most.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bytesOf, type Chunk, type Reply } from '../support/openai-server.js'
import { vendors, type Vendor } from '../support/vendors.js'
import type { Question } from './bare-client.js'

const chunksOf = (reply: Reply): readonly Chunk[] => (reply.type === 'stream' ? reply.chunks : [])
const textOf = (chunk: Chunk): string => bytesOf([chunk]).toString()

/** Stands in an answer where a text is put in. */
const mark = 'said-by-the-stub'
/** Where the last delta itself ends the answer, the others must not. */
const ending = '"finishReason":"STOP",'

const framesOf = (vendor: Vendor): readonly string[] =>
  chunksOf(vendor.saying(mark))
    .map(textOf)
    .join('')
    .split(/(?<=\n\n)/u)

/** An answer of one delta, with the delta apart. What follows it may repeat the whole text. */
const createForm = (vendor: Vendor) => {
  const frames = framesOf(vendor)
  const at = frames.findIndex((frame) => frame.includes(mark))
  const said = frames[at] ?? ''
  const last = said.includes(ending) ? said.replace(mark, '') : ''
  const end = last + frames.slice(at + 1).join('')
  return {
    begin: frames.slice(0, at).join(''),
    delta: (text: string): string => said.replace(ending, '').replace(mark, text),
    end: (text: string): string => end.replaceAll(mark, text),
  }
}

const createVoice = (vendor: Vendor) => ({
  form: createForm(vendor),
  call: bytesOf(chunksOf(vendor.calling({ id: 'call_1', name: 'list_skills', input: '{}' }))),
})
const voices = new Map(vendors.map((vendor) => [vendor.provider, createVoice(vendor)]))

const providerOf = (url: string): string => {
  if (url.endsWith('/messages')) return 'anthropic'
  if (url.endsWith('/responses')) return 'openai'
  return url.includes('GenerateContent') ? 'google' : 'openai_compatible'
}

const results = /"tool_result"|"function_call_output"|"functionResponse"|"role":"tool"/gu
const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
const stamp = (isFirst: boolean): string =>
  `${isFirst ? 'first ' : ''}at ${(performance.timeOrigin + performance.now()).toFixed(2)} `

const speak = (response: ServerResponse, { form }: ReturnType<typeof createVoice>, [count, pace]: number[]): void => {
  response.write(form.begin)
  let left = count ?? 0
  let whole = ''
  const timer = setInterval(() => {
    const text = stamp(left === count)
    whole += text
    response.write(form.delta(text))
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    response.end(form.end(whole))
  }, pace)
  response.on('close', () => clearInterval(timer))
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString()
}

let asked: Question[] = []
const takeAsked = (): string => {
  const taken = JSON.stringify(asked)
  asked = []
  return taken
}

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(request.url === '/asked' ? takeAsked() : '{"data":[]}')
  void bodyOf(request).then((body) => {
    asked = [...asked.slice(-63), { path: request.url ?? '', body }]
    const voice = voices.get(providerOf((request.url ?? '').replace(/\?.*$/u, '')))
    if (voice === undefined) return response.writeHead(404).end()
    response.writeHead(200, headers)
    const named = `${request.url} ${body.slice(0, 400_000)}`
    const [, steps] = /steps(\d+)/u.exec(named) ?? []
    const [, count, pace] =
      /(\d+)@(\d+)/u.exec(decodeURIComponent(named.replaceAll(/%(?![0-9a-f]{2})/giu, '%25'))) ?? []
    if (steps === undefined) return speak(response, voice, [Number(count ?? 8), Number(pace ?? 1)])
    if ((body.match(results)?.length ?? 0) < Number(steps)) return response.end(voice.call)
    return response.end(`${voice.form.begin}${voice.form.delta('Done.')}${voice.form.end('Done.')}`)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
server.keepAliveTimeout = 60_000
