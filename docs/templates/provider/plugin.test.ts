import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { assertPassed, checkPlugin, createTestDaemon } from 'holdfast/testing'
import plugin from './plugin.js'

/** A daemon whose model is at a server of the test. */
const start = async (t: TestContext, answer: RequestListener) => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const config = { models: { provider: 'my_plugin', base_url } }
  const daemon = await createTestDaemon({ plugins: [plugin], config })
  t.after(() => daemon.close())
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  return daemon
}

test('it keeps what every plugin must keep', async () => {
  assertPassed(await checkPlugin(plugin))
})

test('what the server says is the answer, also after it was busy', async (t) => {
  let asked = 0
  const daemon = await start(t, (_, response) => {
    asked += 1
    response.writeHead(asked === 1 ? 503 : 200).end('Good morning.')
  })
  const run = daemon.request('POST', '/v1/sessions/s1/input', { content: 'Hello.' })
  await daemon.until('the first try', () => asked || undefined)
  const again = setInterval(() => daemon.clock.leap(10_000), 50)
  assert.equal((await run).body.outputs[0].content, 'Good morning.')
  clearInterval(again)
})

test('a run that is cancelled closes the connection', async (t) => {
  let closed = false
  const daemon = await start(t, (_, response) => {
    response.write('One moment')
    response.on('close', () => (closed = true))
  })
  const { body: run } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Hello.' })
  await daemon.until('the start', async () => {
    const { body } = await daemon.request('GET', `/v1/runs/${run.run_id}`)
    return body.status === 'running' || undefined
  })
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  await daemon.until('the close', () => closed || undefined)
})
