import assert from 'node:assert/strict'
import test from 'node:test'
import { callTool, scriptedProvider, text } from 'holdfast/plugins/providers/scripted'
import { assertPassed, checkPlugin, createTestDaemon } from 'holdfast/testing'
import plugin from './plugin.js'

test('it keeps what every plugin must keep', async () => {
  assertPassed(await checkPlugin(plugin))
})

test('a model calls it and is told the result', async (t) => {
  const model = scriptedProvider([
    [callTool('c1', 'my_plugin', { text: 'one two one', most: 1 })],
    [text('It is one.')],
  ])
  const daemon = await createTestDaemon({ plugins: [plugin, model] })
  t.after(() => daemon.close())
  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  const run = await daemon.request('POST', '/v1/sessions/s1/input', { content: 'Which word is the most frequent?' })
  assert.equal(run.body.outputs[0].content, 'It is one.')
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /"output":\{"one":2\}/)
})
