import test from 'ava'
import { createCall } from '../../../../plugins/providers/openai-compatible/call.js'
import { createAnswerBudget } from '../../../../plugins/providers/openai-compatible/answer-budget.js'
import { classify } from '../../../../plugins/providers/openai-compatible/failure.js'
import { createTransport } from '../../../../plugins/providers/openai-compatible/transport.js'
import { startLateEndServer } from '../../../support/late-end-server.js'
import { clock, transport } from '../../../support/openai-client.js'

test.after.always(() => transport.close())

const callOf = () => createCall({ clock, signal: new AbortController().signal, idle_timeout_ms: 60_000 })

/** Reads as somebody who has other work between any two pieces. */
const readSlowly = async (answer: Response): Promise<number> => {
  let bytes = 0
  for await (const piece of answer.body ?? []) {
    bytes += piece.length
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return bytes
}

for (const first of [70_000, 140_000, 210_000])
  test.serial(`models-16: a server that ends ${first} bytes while nobody reads them ends nothing else`, async (t) => {
    const call = callOf()
    t.teardown(() => call.close())
    const server = await startLateEndServer({
      content_type: 'text/event-stream',
      first: 'a'.repeat(first),
      rest: 'b'.repeat(5000),
    })
    t.teardown(() => server.close())
    const fetch = await transport.fetchFor(call)
    const answer = await fetch(server.url, { method: 'POST', body: '{}' })
    await server.finish()
    t.is(await readSlowly(answer), first + 5000)
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
    const small = createTransport({ most: 200_000 })
    t.teardown(() => small.close())
    const begin = async (first: number) => {
      const call = callOf()
      t.teardown(() => call.close())
      const server = await startLateEndServer({
        content_type: 'text/event-stream',
        first: 'a'.repeat(first),
        rest: 'b',
      })
      t.teardown(() => server.close())
      const answer = await (await small.fetchFor(call))(server.url, { method: 'POST', body: '{}' })
      return { server, reader: answer.body?.getReader() }
    }
    const [large, other] = [await begin(150_000), await begin(70_000)]
    for (const [{ reader }, size] of [
      [large, 150_000],
      [other, 70_000],
    ] as const)
      for (let read = 0; read < size;) read += (await reader?.read())?.value?.length ?? size
    await large.server.finish()
    const error = await t.throwsAsync(async () => {
      while ((await large.reader?.read())?.done === false);
    })
    t.like(classify(error, { model: 'm', keyed: false, redact: (text) => text, now: () => 0 }), {
      class: 'overloaded',
      retryable: true,
    })
    await other.server.finish()
    while ((await other.reader?.read())?.done === false);
  },
)
