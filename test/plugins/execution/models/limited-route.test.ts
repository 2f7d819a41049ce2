import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import type { ModelConnection } from '../../../../plugins/execution/models/contract.js'
import { limitedRoute } from '../../../../plugins/execution/models/limited-route.js'
import { createRoutePace } from '../../../../plugins/execution/models/route-pace.js'
import { ask, requestOf, userText } from '../../../support/models.js'

/** A connection whose calls end when they are told to, and what is under way of it. */
const heldConnection = () => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const connection: ModelConnection = {
    readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
    async *stream({ model }) {
      begun.push(model)
      await new Promise<void>((resolve) => ends.set(model, resolve))
      yield { type: 'done', outcome: 'stop', usage: { input_tokens: 1, output_tokens: 1 } }
    },
  }
  return { connection, begun, end: (model: string) => ends.get(model)?.() }
}

const requestFor = (model: string) => requestOf([userText('hi')], { model })

test('models-35: calls beyond the limit begin in the order in which they came', async (t) => {
  const { connection, begun, end } = heldConnection()
  const limited = limitedRoute(
    connection,
    2,
    createRoutePace(createClock(), () => {}),
  )
  const calls = ['a', 'b', 'c', 'd'].map((model) => ask(limited, requestFor(model)))
  t.deepEqual(begun, ['a', 'b'])
  end('b')
  await calls[1]
  end('a')
  await calls[0]
  await setImmediate()
  t.deepEqual(begun, ['a', 'b', 'c', 'd'])
  end('d')
  end('c')
  t.deepEqual(
    (await Promise.all(calls)).map(({ done }) => done?.outcome),
    ['stop', 'stop', 'stop', 'stop'],
  )
})

test('models-35: a call that is aborted while it waits ends at once and takes nobody’s turn', async (t) => {
  const { connection, begun, end } = heldConnection()
  const limited = limitedRoute(
    connection,
    1,
    createRoutePace(createClock(), () => {}),
  )
  const first = ask(limited, requestFor('a'))
  const controller = new AbortController()
  const waiting = ask(limited, requestFor('b'), controller.signal)
  const aborted = ask(limited, requestFor('c'), AbortSignal.abort())
  const last = ask(limited, requestFor('d'))
  controller.abort()
  for (const call of [waiting, aborted]) t.like((await call).done, { outcome: 'failed', failure: { class: 'aborted' } })
  end('a')
  await first
  await setImmediate()
  t.deepEqual(begun, ['a', 'd'])
  end('d')
  await last
  end('e')
  const next = ask(limited, requestFor('e'))
  t.deepEqual(begun, ['a', 'd', 'e'], 'every place was given back')
  end('e')
  await next
})

test('models-35: a call says that it waits for its turn and has it, and one that nobody reads any more takes no turn', async (t) => {
  const { connection, begun, end } = heldConnection()
  const limited = limitedRoute(
    connection,
    1,
    createRoutePace(createClock(), () => {}),
  )
  const first = ask(limited, requestFor('a'))
  const signal = new AbortController().signal
  const left = limited.stream(requestFor('b'), signal)[Symbol.asyncIterator]()
  t.deepEqual((await left.next()).value, { type: 'turn', waits: true })
  const next = ask(limited, requestFor('c'))
  const leaving = left.return?.()
  end('a')
  t.deepEqual(
    (await first).events.map(({ type }) => type),
    ['done'],
  )
  await leaving
  await setImmediate()
  t.deepEqual(begun, ['a', 'c'])
  end('c')
  t.deepEqual((await next).events.slice(0, 2), [
    { type: 'turn', waits: true },
    { type: 'turn', waits: false },
  ])
})
