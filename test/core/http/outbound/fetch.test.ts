import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createFetch } from '../../../../core/http/outbound/fetch.js'
import { createOutbound } from '../../../../core/http/outbound/outbound.js'
import type { Problem } from '../../../../core/base/errors.js'

const serve = async (t: ExecutionContext, listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const client = (t: ExecutionContext) => {
  const outbound = createOutbound({ clock: createClock() })
  t.teardown(() => outbound.close())
  return outbound
}
const here = { allow_private_network: true }

test('an answer is read while it comes, and to cancel it closes its socket', async (t) => {
  let closed: () => void
  const gone = new Promise<void>((resolve) => {
    closed = resolve
  })
  const url = await serve(t, (request, response) => {
    request.socket.once('close', () => closed())
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
  })
  const { status, headers, body } = await createFetch(client(t), here)(url)
  t.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'])
  const reader = body!.getReader()
  t.is(Buffer.from((await reader.read()).value!).toString(), 'data: 1\n\n')
  await reader.cancel()
  await gone
})

test('a form, JSON and headers arrive as they were given, and a redirect is an answer', async (t) => {
  const url = await serve(t, async (request, response) => {
    const sent = Buffer.concat(await request.toArray()).toString()
    response.writeHead(sent === '' ? 302 : 200, { location: 'http://127.0.0.1:1/' })
    response.end(`${request.method} ${request.headers['content-type']} ${request.headers['x-one']} ${sent}`)
  })
  const ask = createFetch(client(t), here)
  const form = await ask(url, { method: 'post', body: new URLSearchParams({ a: 'b c' }), headers: [['X-One', '1']] })
  t.is(await form.text(), 'POST application/x-www-form-urlencoded 1 a=b+c')
  t.is((await ask(url)).status, 302)
})

test('what fails is a problem with its code: a refused address, too much unread, an abort, a broken body', async (t) => {
  const url = await serve(t, ({ url: path }, response) => {
    if (path === '/hang') return
    response.writeHead(200)
    if (path === '/break') response.write('a', () => response.destroy())
    else response.write(Buffer.alloc(300_000), () => response.write(Buffer.alloc(300_000)))
  })
  const outbound = client(t)
  const ask = createFetch(outbound, { ...here, timeout_ms: 30_000, most_unread_bytes: 100_000 })
  const hurried = createFetch(outbound, { ...here, timeout_ms: 300 })
  const refused = await t.throwsAsync<Problem>(createFetch(outbound)(url))
  t.regex(refused!.message, /outbound_address_refused/u)
  t.regex((await t.throwsAsync<Problem>(hurried(`${url}hang`)))!.message, /outbound_timed_out/u)
  const aborted = ask(`${url}hang`, { signal: AbortSignal.abort() })
  t.regex((await t.throwsAsync<Problem>(aborted))!.message, /outbound_aborted/u)
  t.regex((await t.throwsAsync((await ask(`${url}break`)).text()))!.message, /outbound_connection_broken/u)
  const flood = await ask(`${url}flood`)
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.regex((await t.throwsAsync(flood.text()))!.message, /outbound_answer_too_large/u)
})
