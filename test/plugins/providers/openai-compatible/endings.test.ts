import test from 'ava'
import { gzipSync } from 'node:zlib'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import {
  bytesOf,
  calling,
  chunk,
  doneEvent,
  saying,
  stream,
  usageChunk,
  type Chunk,
} from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const call = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read_file', arguments: '{}' } }] })

const unended: [string, Chunk[], number][] = [
  ['without [DONE]', [chunk({ content: 'x' }), chunk({}, 'stop')], 0],
  ['without [DONE], with its usage', [chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk()], 5],
  ['behind [DONE]', [chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk(), doneEvent], 5],
]
for (const [name, chunks, tokens] of unended)
  test(`models-26: an answer that the model has ended counts though its connection stays open: ${name}`, async (t) => {
    const { ask: go, server } = await converseWith(t, { ...stream(...chunks), keep_open: true })
    const { text, done } = await go()
    t.deepEqual([text, done?.outcome, done?.usage?.output_tokens], ['x', 'stop', tokens])
    t.is(server.asked.length, 1)
    t.true(await server.asked[0]?.gone)
  })

test('models-26: an answer that the model has ended counts though its provider falls silent or its connection breaks', async (t) => {
  const chunks = [chunk({ content: 'x' }), chunk({}, 'stop')]
  const cut = { bytes: bytesOf(chunks).length, how: 'destroy' } as const
  const torn = await converseWith(t, { ...stream(...chunks), cut })
  t.like(await torn.ask(), { text: 'x', done: { outcome: 'stop' } })
  const silent = await converseWith(t, { ...stream(...chunks), keep_open: true }, { idle_timeout_ms: 800 })
  t.like(await silent.ask(), { text: 'x', done: { outcome: 'stop' } })
})

const behind: [string, Chunk[]][] = [
  ['a finish', [chunk({}, 'stop')]],
  ['[DONE]', [chunk({}, 'stop'), doneEvent]],
]
for (const [name, end] of behind)
  test(`models-26: text, thoughts and calls behind ${name} are neither shown nor kept nor made`, async (t) => {
    const more = [
      chunk({ content: 'more' }),
      chunk({ reasoning: 'hm' }),
      call,
      chunk({}, 'tool_calls'),
      'data: {oops\n\n',
    ]
    const { ask: go } = await converseWith(t, stream(chunk({ content: 'x' }), ...end, ...more, usageChunk()))
    const { events, done } = await go()
    t.deepEqual(
      events.map((event) => [event.type, 'text' in event ? event.text : '']),
      [
        ['text_delta', 'x'],
        ['part', ''],
        ['done', ''],
      ],
    )
    t.deepEqual([done?.outcome, done?.usage?.output_tokens], ['stop', name === '[DONE]' ? 0 : 5])
  })

test('models-26: a flood behind [DONE] costs the answer nothing', async (t) => {
  const flood = Array.from({ length: 40 }, () => chunk({ content: 'y'.repeat(1_000_000) }))
  const { ask: go } = await converseWith(t, stream(chunk({ content: 'x' }), chunk({}, 'stop'), doneEvent, ...flood))
  t.like(await go(), { text: 'x', done: { outcome: 'stop' } })
})

test('models-24: an error and a reason that says the answer is not whole count behind a finish too', async (t) => {
  const { ask: go, server } = await converseWith(
    t,
    stream(chunk({ content: 'x' }), chunk({}, 'stop'), chunk({}, 'length')),
  )
  t.is((await go()).done?.outcome, 'length')
  server.answer(() => stream(chunk({ content: 'x' }), chunk({}, 'stop'), { error: { code: 502, message: 'oh' } }))
  t.is(classOf(await go()), 'overloaded retryable')
})

const [lists, objects] = ['['.repeat(100_000), '{"a":'.repeat(6_000)]
const excessive: Record<string, Chunk> = {
  'is nested very deeply': `data: ${lists}${']'.repeat(100_000)}\n\n`,
  'is nested very deeply and does not end': `data: ${lists}\n\n`,
  'has an input that is nested very deeply': `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${objects}1${'}'.repeat(6_000)}}}]}}]}\n\n`,
  'has very many values': `data: [${'[],'.repeat(30_000)}0]\n\n`,
  'is very long': chunk({ content: 'x'.repeat(5_000_000) }),
}
for (const [name, one] of Object.entries(excessive))
  test(`models-27: an event is not read that ${name}, and is not asked for again`, async (t) => {
    const { ask: go } = await converseWith(t, stream(chunk({ content: 'x' }), one, chunk({}, 'stop'), doneEvent))
    const answer = await go()
    t.is(classOf(answer), 'invalid_output final')
    t.regex(failureOf(answer)?.message ?? '', /an event with more in it than is read at once/u)
  })

test('models-27: an input with very many values is one that cannot be used', async (t) => {
  const input = `[${'0,'.repeat(200_000)}0]`
  const { ask: go } = await converseWith(
    t,
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: input } }] }),
      chunk({}, 'tool_calls'),
    ),
  )
  t.like((await go()).parts[0], { input: {}, unparsed: input })
})

test('models-28: a compressed answer is not asked for, and one that comes says so', async (t) => {
  const { ask: go, server } = await converseWith(t, saying('x'))
  await go()
  t.is(server.asked[0]?.headers['accept-encoding'], 'identity')
  const body = gzipSync(bytesOf(saying('x').chunks)).toString('latin1')
  for (const [status, message] of [
    [200, /compressed its answer \(gzip\)/u],
    [500, /^The provider failed \(status 500\)\. Asked:/u],
  ] as const) {
    server.answer(() => ({
      type: 'status',
      status,
      body,
      headers: { 'content-type': 'text/event-stream', 'content-encoding': 'GZIP' },
    }))
    t.regex(failureOf(await go())?.message ?? '', message)
  }
  server.answer(() => ({ ...calling({ id: 'a', name: 'f', input: '{}' }) }))
  t.is((await go()).done?.outcome, 'tool_calls')
})
