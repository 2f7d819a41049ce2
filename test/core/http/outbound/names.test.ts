import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { boundLookups, rememberNames, type Resolve } from '../../../../core/http/outbound/names.js'

const address = (n: number) => [{ address: `192.0.2.${n}`, family: 4 }]

/** A resolver that counts, and a clock that goes on when it is told to. */
const bench = (answer: (n: number) => ReturnType<Resolve>) => {
  let [asked, now] = [0, 0]
  const resolve = rememberNames(() => answer((asked += 1)), { ...createClock(), elapsed: () => now })
  return { resolve, asked: () => asked, pass: (ms: number) => void (now += ms) }
}

test('deliveries-27: the addresses of a name are known for five seconds, then they are looked up again', async (t) => {
  const { resolve, asked, pass } = bench((n) => Promise.resolve(address(n)))
  t.deepEqual(await resolve('a.example'), address(1))
  pass(4999)
  t.deepEqual(await resolve('a.example'), address(1))
  t.deepEqual(await resolve('b.example'), address(2), 'another name is another answer')
  pass(1)
  t.deepEqual(await resolve('a.example'), address(3))
  t.is(asked(), 3)
})

test('a name is asked for once at a time, and what could not be found is asked for again', async (t) => {
  const { resolve, asked } = bench((n) => (n === 1 ? Promise.reject(new Error('no')) : Promise.resolve(address(n))))
  const both = await Promise.allSettled([resolve('a.example'), resolve('a.example')])
  t.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.is(asked(), 1)
  t.deepEqual(await resolve('a.example'), address(2))
})

test('of very many names the oldest are forgotten', async (t) => {
  const { resolve, asked } = bench((n) => Promise.resolve(address(n % 200)))
  for (let n = 0; n < 600; n += 1) await resolve(`n${n}.example`)
  await resolve('n599.example')
  t.is(asked(), 600)
  await resolve('n0.example')
  t.is(asked(), 601)
})

test('lookups that hang leave others their turn: so many run at a time, the others in order', async (t) => {
  const running: (() => void)[] = []
  const begun: string[] = []
  const resolve = boundLookups((hostname) => {
    begun.push(hostname)
    return new Promise((found) => running.push(() => found(address(1))))
  }, 3)
  const all = ['a', 'b', 'c', 'd', 'e'].map(resolve)
  await turn()
  t.deepEqual(begun, ['a', 'b', 'c'])
  running[1]?.()
  await turn()
  t.deepEqual(begun, ['a', 'b', 'c', 'd'])
  for (let at = 0; at < 5; at += 1) {
    running[at]?.()
    await turn()
  }
  t.is((await Promise.all(all)).length, 5)
})
