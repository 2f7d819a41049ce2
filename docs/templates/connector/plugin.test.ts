import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readAll } from 'node:stream/consumers'
import test from 'node:test'
import { scriptedProvider, text } from 'holdfast/plugins/providers/scripted'
import { assertPassed, checkPlugin, createTestDaemon } from 'holdfast/testing'
import { sign } from './platform.js'
import plugin from './plugin.js'

test('it keeps what every plugin must keep', async () => {
  assertPassed(await checkPlugin(plugin))
})

test('a message is answered once, and one without its signature is refused', async (t) => {
  const answers: { chat: string; text: string }[] = []
  const platform = createServer((request, response) => {
    void readAll(request).then((body) => {
      answers.push(JSON.parse(body))
      response.end()
    })
  }).listen(0, '127.0.0.1')
  await once(platform, 'listening')
  const answers_url = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/`
  t.after(() => {
    platform.closeAllConnections()
    platform.close()
  })
  const model = scriptedProvider([[text('Good morning.')]])
  const daemon = await createTestDaemon({ plugins: [plugin, model], config: { 'my-plugin': { answers_url } } })
  t.after(() => daemon.close())
  const secret = { slot_id: 'my-plugin.key', state: { value: 'the key' } }
  await daemon.request('POST', '/v1/runtime/secrets', secret)
  const message = JSON.stringify({ chat: 'c1', id: 'm1', text: 'Hello.' })
  const send = (key: string) => daemon.request('POST', '/v1/my-plugin', message, { 'x-signature': sign(key, message) })
  assert.equal((await send('another')).status, 401)
  const first = await send('the key')
  assert.equal(first.status, 202)
  await daemon.until('the answer', () => answers[0])
  assert.deepEqual((await send('the key')).body, first.body, 'what is sent again is the same run')
  assert.deepEqual(
    answers.map(({ chat, text }) => [chat, text]),
    [['c1', 'Good morning.']],
  )
})
