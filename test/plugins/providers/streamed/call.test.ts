import test from 'ava'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { createAnswerBudget } from '../../../../plugins/providers/streamed/transport/answer-budget.js'
import { createConnection } from '../../../../plugins/providers/streamed/connection.js'
import type { Listener, Transport } from '../../../../plugins/providers/streamed/transport/transport.js'
import { answerOf, requestOf, userText } from '../../../support/models.js'
import { clock, linkParts, protocol } from '../../../support/model-client.js'
import { bytesOf, chunk, doneEvent } from '../../../support/openai-server.js'

/** A call whose server is the test, whose turns come when the test says so, and for which no time passes. */
const begin = () => {
  let listener: Listener | undefined
  let turns: (() => void)[] = []
  const transport: Transport = {
    budget: createAnswerBudget(1_000_000),
    post(_, told) {
      listener = told
      return { stop: () => undefined }
    },
    close: async () => undefined,
  }
  const inTurn = (): Promise<void> => new Promise((resolve) => void turns.push(resolve))
  const connection = createConnection({ base_url: 'http://host/v1', idle_timeout_ms: 60_000 }, protocol, {
    ...linkParts,
    transport,
    inTurn,
    clock: { ...clock, elapsed: () => 0 },
  })
  const events = connection.stream(requestOf([userText('hi')]), new AbortController().signal)[Symbol.asyncIterator]()
  const first = events.next()
  listener?.head(200, { 'content-type': 'text/event-stream' })
  return {
    first,
    events,
    send: (bytes: Buffer) => listener?.bytes(bytes),
    end: () => listener?.end(),
    /** How many wait for a turn; gives it to them. */
    async turn(): Promise<number> {
      const waiting = turns
      turns = []
      for (const go of waiting) go()
      await new Promise((resolve) => setImmediate(resolve))
      return waiting.length
    },
  }
}

const textOf = (event: ModelEvent | undefined): string =>
  event?.type === 'text_delta' || event?.type === 'reasoning_delta' ? event.text : ''

const large = (sign: string): Buffer => bytesOf([chunk({ content: sign.repeat(40_000) })])

test('models-25: what exceeds 64 KiB at once waits for a turn of its own, and the end waits with it', async (t) => {
  const { first, events, send, end, turn } = begin()
  for (const sign of ['a', 'b', 'c']) send(large(sign))
  send(bytesOf([chunk({}, 'stop'), doneEvent]))
  end()
  t.is(textOf((await first).value), 'a'.repeat(40_000))
  const next = events.next()
  t.is(await turn(), 1)
  t.is(textOf((await next).value), 'b'.repeat(40_000))
  const rest: ModelEvent[] = []
  const reading = (async () => {
    for (let one = await events.next(); one.done !== true; one = await events.next()) rest.push(one.value)
  })()
  t.is(await turn(), 1)
  t.true(rest.length === 1 && textOf(rest[0]) === 'c'.repeat(40_000))
  t.is(await turn(), 1)
  await reading
  const { text, done } = answerOf(rest)
  t.is(text.length, 120_000)
  t.is(done?.outcome, 'stop')
})

test('models-25: deltas of one piece, and those that nobody asked for yet, come as one', async (t) => {
  const { first, events, send, end } = begin()
  send(bytesOf([chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({ reasoning: 'c' })]))
  send(bytesOf([chunk({ reasoning: 'd' }), chunk({ content: 'e' })]))
  send(bytesOf([chunk({ content: 'f' }), chunk({}, 'stop')]))
  end()
  const all: ModelEvent[] = []
  for (let one = await first; one.done !== true; one = await events.next()) all.push(one.value)
  t.deepEqual(all.slice(0, 3), [
    { type: 'text_delta', text: 'ab' },
    { type: 'reasoning_delta', text: 'cd' },
    { type: 'text_delta', text: 'ef' },
  ])
})

test('models-25: what several say in one turn is heard before any of their answers ends', async (t) => {
  const calls = [begin(), begin()]
  for (const { send, end } of calls) {
    send(bytesOf([chunk({ content: 'a' }), chunk({}, 'stop'), doneEvent]))
    end()
  }
  const heard: string[] = []
  await Promise.all(
    calls.map(async ({ first, events }) => {
      for (let one = await first; one.done !== true; one = await events.next()) heard.push(one.value.type)
    }),
  )
  t.deepEqual(heard, ['text_delta', 'text_delta', 'part', 'done', 'part', 'done'])
})
