import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { passingEvents } from '../../../../../plugins/tools/mcp/connection/event-stream.js'
import { createPace } from '../../../../../plugins/tools/mcp/connection/pace.js'

/** Nobody waits. */
const clock = { ...createClock(), sleep: () => Promise.resolve(true) }

const passed = async (t: ExecutionContext, chunks: readonly string[], most = 1_000) => {
  let garbage = 0
  const told: string[] = []
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
      controller.close()
    },
  })
  const stream = passingEvents(body, {
    visit: createPace(clock).visit(),
    onGarbage: () => {
      garbage += 1
      return garbage > most
    },
    onFlood: () => t.fail(),
    onId: (id) => void told.push(id),
    onEnd: () => void told.push('end'),
  })
  return { said: await text(stream), garbage: () => garbage, told }
}

const result = '{"jsonrpc":"2.0","id":3,"result":{}}'
const message = '{"jsonrpc":"2.0","method":"notifications/x"}'

test('mcp-23: events that are messages pass, whatever their chunks and line ends, and no others', async (t) => {
  for (const end of ['\n', '\r\n']) {
    const lines = [`data: ${message}`, '', 'data:{', '', ': kept alive', '', 'event: message', `data:${result}`, '', '']
    const whole = lines.join(end)
    const chunks = [...whole].map((_, at) => whole.slice(at * 7, at * 7 + 7))
    const { said, garbage } = await passed(t, chunks)
    t.deepEqual(
      said.split('\n').filter((line) => line !== ''),
      [`data: ${message}`, `data: ${result}`],
    )
    t.is(garbage(), 1)
  }
})

test('mcp-23: a stream ends when too much of it is no message', async (t) => {
  await t.throwsAsync(passed(t, ['data: {\n\n'.repeat(1_001)]), { message: /no message/u })
  await t.notThrowsAsync(passed(t, ['data: {\n\n'.repeat(1_000)]))
})

test('mcp-25: ids of events and the time between streams pass, the time from one second to a minute', async (t) => {
  const { said, told } = await passed(t, [
    'id: one\ndata:\n\n',
    'retry: 0\n\n',
    'retry: 99999999999\n\n',
    'retry: soon\n\n',
    'event: other\ndata: {\n\n',
    `data: ${message}\rretry: 0\n\n`,
  ])
  t.regex(said, /^id: one\ndata: \n\n/u)
  t.deepEqual(told, ['one', 'end'])
  t.deepEqual(said.match(/retry.*/gu), ['retry: 1000', 'retry: 60000', 'retry: 1000'])
  t.false(said.includes('\r'))
})

test('mcp-25: an answer to what is no number of a request does not pass', async (t) => {
  for (const id of ['"3"', 'null', '[3]', '{}'])
    t.is((await passed(t, [`data: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`])).garbage(), 1, id)
  t.is((await passed(t, ['data: {"jsonrpc":"2.0","id":"3","method":"ping"}\n\n'])).garbage(), 0)
})

test('mcp-24: what is nested too deeply in a message is cut out of it', async (t) => {
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const { said } = await passed(t, [`data: {"jsonrpc":"2.0","id":1,"result":{"deep":${deep},"next":2}}\n\n`])
  t.regex(said, /\[nested too deeply\]/u)
  t.regex(said, /"next":2/u)
})
