import test from 'ava'
import { createReopening } from '../../../../../plugins/tools/mcp/connection/reopening.js'

/** A clock that goes on by what is waited for. */
const waiting = () => {
  let now = 5_000
  const waits: number[] = []
  const clock = {
    elapsed: () => now,
    sleep: (ms: number) => {
      waits.push(ms)
      now += ms
      return Promise.resolve(true)
    },
  }
  const pass = (ms: number): void => {
    now += ms
  }
  return { reopening: createReopening(clock), waits, pass }
}

test('mcp-26: a stream that ends again and again is asked for less and less often, and soon again once it held', async (t) => {
  const { reopening, waits, pass } = waiting()
  const open = async (lasts: number): Promise<void> => {
    t.false(await reopening.ask(null, undefined))
    const { onEnd } = reopening.watch(false)
    pass(lasts)
    onEnd()
  }
  for (let n = 0; n < 9; n += 1) await open(100)
  t.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  await open(10_000)
  await open(100)
  await open(100)
  t.deepEqual(waits.slice(8), [60_000, 1_000, 2_000])
  pass(4_000)
  await open(100)
  t.is(waits.length, 11, 'what has passed since is not waited for')
})

test('mcp-26: a stream that goes on with the answer of a request is waited for by nobody', async (t) => {
  const { reopening, waits } = waiting()
  reopening.watch(false).onEnd()
  const answer = reopening.watch(true)
  answer.onId('1')
  answer.onId('2')
  answer.onEnd()
  t.true(await reopening.ask('2', undefined))
  t.deepEqual(waits, [])
  t.false(await reopening.ask('1', undefined))
  t.deepEqual(waits, [1_000])
})
