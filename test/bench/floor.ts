/**
 * The physical limit for this job: a bare polka server that makes the same
 * number of grouped fdatasync appends for a run, and nothing else. No auth, no
 * validation, no state machine, no history. Given the address of a model, it
 * asks that for each run and reads the answer, of which it understands nothing.
 */
import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import polka from 'polka'

const folder = mkdtempSync(join(tmpdir(), 'floor-'))
const fd = openSync(join(folder, 'log.ndjson'), 'w', 0o600)
process.once('SIGTERM', () => {
  rmSync(folder, { recursive: true })
  process.exit()
})
const runs = new Map<string, { run_id: string; session_id: string; status: string; text: string }>()
const readers = new Set<ServerResponse>()
let waiting: { line: string; done: () => void }[] = []
let writing = false
let position = 0
let counter = 0

const flush = (): void => {
  if (writing || waiting.length === 0) return
  writing = true
  const batch = waiting
  waiting = []
  const bytes = Buffer.from(batch.map(({ line }) => line).join(''))
  write(fd, bytes, 0, bytes.length, position, (failed) => {
    if (failed !== null) throw failed
    position += bytes.length
    fdatasync(fd, (error) => {
      if (error !== null) throw error
      writing = false
      for (const { done } of batch) done()
      flush()
    })
  })
}

const append = (events: readonly object[]): Promise<void> =>
  new Promise((done) => {
    waiting.push({ line: events.map((event) => `${JSON.stringify(event)}\n`).join(''), done })
    flush()
  })

const publish = (event: object): void => {
  const frame = `event: run_updated\nid: ${++counter}\ndata: ${JSON.stringify(event)}\n\n`
  for (const reader of readers) reader.write(frame)
}

const bodyOf = async (request: IncomingMessage): Promise<{ content: string }> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as { content: string }
}

const send = (response: ServerResponse, status: number, value: object): void => {
  const body = JSON.stringify(value)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const eventsOf = (run: object, ...names: string[]): object[] =>
  names.map((type) => ({ type, timestamp_ms: Date.now(), run }))

const [, , model] = process.argv
// Loaded where it is needed alone: it takes as long as the rest of this start.
const { Agent, request } = model === undefined ? {} : await import('undici')
const dispatcher = Agent && new Agent({ headersTimeout: 0, bodyTimeout: 0 })
const ask = async (content: string): Promise<void> => {
  if (request === undefined || dispatcher === undefined) return
  const { body } = await request(`${model}/v1/chat/completions`, {
    method: 'POST',
    dispatcher,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: '8@0', messages: [{ role: 'user', content }], stream: true }),
  })
  await body.text()
}

polka()
  .post('/v1/sessions/:session_id/runs', async (request, response) => {
    const { content } = await bodyOf(request)
    const run = {
      run_id: `run-${++counter}`,
      session_id: String(request.params['session_id']),
      status: 'running',
      text: content,
    }
    runs.set(run.run_id, run)
    await append(eventsOf(run, 'accepted', 'queued', 'started', 'user_message'))
    send(response, 202, run)
    await ask(content)
    const done = { ...run, status: 'completed' }
    await append(eventsOf(done, 'model_call', 'assistant_message', 'output', 'completed'))
    runs.set(run.run_id, done)
    publish({ type: 'run_updated', run: done })
  })
  .get('/v1/runs/:run_id', (request, response) => send(response, 200, runs.get(String(request.params['run_id'])) ?? {}))
  .get('/v1/events/stream', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    readers.add(response)
    request.on('close', () => readers.delete(response))
  })
  .get('/healthz', (_, response) => {
    response.end('ok')
  })
  .listen(0, '127.0.0.1', function listening(this: { address(): { port: number } }) {
    process.stdout.write(`http://127.0.0.1:${this.address().port}\n`)
  } as never)

process.on('SIGTERM', () => {
  closeSync(fd)
  process.exit(0)
})
