import test, { type ExecutionContext } from 'ava'
import type { ModelEvent } from '../../../../../plugins/execution/models/contract.js'
import { createAnswerBudget } from '../../../../../plugins/providers/streamed/transport/answer-budget.js'
import { createConnection } from '../../../../../plugins/providers/streamed/connection.js'
import { createTransport } from '../../../../../plugins/providers/streamed/transport/transport.js'
import { startLateEndServer } from '../../../../support/late-end-server.js'
import { answerOf, requestOf, userText } from '../../../../support/models.js'
import { classOf, linkParts, protocol, transport } from '../../../../support/model-client.js'
import { bytesOf, chunk, doneEvent } from '../../../../support/openai-server.js'

test.after.always(() => transport.close())

const piece = bytesOf([chunk({ content: 'a'.repeat(100) })]).toString()
const ending = bytesOf([chunk({}, 'stop'), doneEvent]).toString()

/** A server that sends so many bytes of an answer, and later its end. */
const begin = async (t: ExecutionContext, bytes: number, through = transport) => {
  const pieces = Math.ceil(bytes / piece.length)
  const server = await startLateEndServer({
    content_type: 'text/event-stream',
    first: piece.repeat(pieces),
    rest: piece + ending,
  })
  t.teardown(() => server.close())
  const connection = createConnection({ base_url: server.url, idle_timeout_ms: 60_000 }, protocol, {
    ...linkParts,
    transport: through,
  })
  const events = connection.stream(requestOf([userText('hi')]), new AbortController().signal)[Symbol.asyncIterator]()
  return { server, events, length: 100 * (pieces + 1) }
}

/** Everything from the second event on. */
const rest = async (first: IteratorResult<ModelEvent>, events: AsyncIterator<ModelEvent>) => {
  const all: ModelEvent[] = []
  for (let next = first; next.done !== true; next = await events.next()) all.push(next.value)
  return answerOf(all)
}

for (const bytes of [70_000, 140_000, 210_000])
  test.serial(`models-16: a server that ends ${bytes} bytes while nobody reads them ends nothing else`, async (t) => {
    const { server, events, length } = await begin(t, bytes)
    const first = await events.next()
    await server.finish()
    const answer = await rest(first, events)
    t.is(answer.text.length, length)
    t.is(answer.done?.outcome, 'stop')
    t.true(answer.events.length < 10, 'what nobody asked for meanwhile is joined')
  })

test('models-17: beyond the bound of all answers the largest is over it, and one that ends makes room', (t) => {
  const budget = createAnswerBudget(100)
  const [large, small] = [budget.open(), budget.open()]
  t.deepEqual([large.holds(60), small.holds(40)], [false, false])
  t.deepEqual([small.holds(50), large.holds(61)], [false, true])
  large.close()
  t.deepEqual([small.holds(100), small.holds(101)], [false, true])
  small.close()
  t.false(budget.open().holds(100))
})

test.serial(
  'models-17: of two answers that are too large together the larger fails and the other goes on',
  async (t) => {
    const small = createTransport({ most: 220_000 })
    t.teardown(() => small.close())
    const [large, other] = [await begin(t, 150_000, small), await begin(t, 69_500, small)]
    const firsts = [await large.events.next(), await other.events.next()] as const
    await new Promise((resolve) => setTimeout(resolve, 200))
    await large.server.finish()
    t.is(classOf(await rest(firsts[0], large.events)), 'overloaded retryable')
    await other.server.finish()
    const answer = await rest(firsts[1], other.events)
    t.is(answer.text.length, other.length)
  },
)
