/** How the command line calls a daemon. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { createClient } from '../../../core/cli/client.js'
import type { Client } from '../../../core/plugin/command.js'

const clientOf = async (
  t: ExecutionContext,
  answer: RequestListener,
  signal = new AbortController().signal,
): Promise<Client> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'secret', signal })
}

test.serial('an answer that takes long, as that of a large backup, is waited for', async (t) => {
  // What asks through the fetch of Node waits this long for an answer, and 300 seconds without it.
  const usual = getGlobalDispatcher()
  setGlobalDispatcher(new Agent({ headersTimeout: 100, bodyTimeout: 100 }))
  t.teardown(() => setGlobalDispatcher(usual))
  const client = await clientOf(t, (request, response) => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"path":')
      setTimeout(() => response.end(`"${request.method} ${request.url}"}`), 1500)
    }, 1500)
  })
  t.deepEqual(await client.send('POST', '/v1/backup', {}), { path: 'POST /v1/backup' })
})

test('a call carries its token, its headers and its body', async (t) => {
  const client = await clientOf(t, (request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    const { authorization, 'content-type': type, 'idempotency-key': key } = request.headers
    request.on('end', () => response.end(JSON.stringify({ authorization, type, key, text })))
  })
  t.deepEqual(await client.send('PUT', '/v1/x', { word: 'é' }, { 'idempotency-key': 'k' }), {
    authorization: 'Bearer secret',
    type: 'application/json',
    key: 'k',
    text: '{"word":"é"}',
  })
  t.like(await client.send('DELETE', '/v1/x', { word: 'é' }), { text: '{"word":"é"}' })
  t.deepEqual(await client.send('POST', '/v1/x'), { authorization: 'Bearer secret', text: '' })
})

test('nobody answers, an answer that breaks off, and one that is no JSON are told as such', async (t) => {
  const broken = await clientOf(t, (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"a":', () => response.destroy())
  })
  t.like(await t.throwsAsync(broken.get('/v1/x')), { code: 'daemon_unreachable' })
  const strange = await clientOf(t, (_, response) => void response.writeHead(500).end('<html>'))
  t.like(await t.throwsAsync(strange.get('/v1/x')), { code: 'answer_unreadable' })
  const nobody = createClient({ baseUrl: 'http://127.0.0.1:9', token: undefined, signal: AbortSignal.abort() })
  t.like(await t.throwsAsync(nobody.get('/v1/x')), { code: 'daemon_unreachable' })
})

test('a stream ends quietly when its reader has enough', async (t) => {
  const closed: unknown[] = []
  const client = await clientOf(t, (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: a\ndata: 1\n\n')
    request.on('close', () => closed.push(request.url))
  })
  const reader = new AbortController()
  const seen: unknown[] = []
  for await (const frame of await client.stream('/v1/events', reader.signal)) {
    seen.push(frame)
    reader.abort()
  }
  t.deepEqual(seen, [{ event: 'a', data: 1 }])
})
