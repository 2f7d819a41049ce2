/** The rates of connectors; docs/rules/ingress.md. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { createRates } from '../../../../../plugins/connectors/ingress/rates/rates.js'
import { connectorOf } from '../sending.js'

const rated = (ingress_events_per_second: number, name = 'shop') => connectorOf({ ingress_events_per_second }, { name })

const ratesAt = (daemon: number) => {
  let now = 1000
  const rates = createRates({ elapsed: () => now }, daemon)
  const burst = (rate: number, { name = 'shop', scope }: { name?: string; scope?: string } = {}): number => {
    let taken = 0
    while (taken < 100_000 && rates.take(rated(rate, name), scope) === undefined) taken += 1
    return taken
  }
  return { burst, take: rates.take, leap: (ms: number) => void (now += ms) }
}

test('ingress-8: as many events as its rate at once, and as many a second from then on', (t) => {
  const { burst, take, leap } = ratesAt(100_000)
  t.is(burst(10), 10, 'it begins full')
  t.is(take(rated(10), undefined), 100, 'until the next one')
  leap(250)
  t.is(burst(10), 2)
  t.is(take(rated(10), undefined), 50)
  leap(60_000)
  t.is(burst(10), 10, 'no more than a second of them is kept')
  t.is(take(rated(3000), undefined), 1, 'a millisecond is the least')
  t.is(burst(60, { name: 'other' }), 60, 'another connector has its own')
})

test('ingress-9: another rate lowers what is left, and never raises it at once', (t) => {
  const { burst, take, leap } = ratesAt(100_000)
  t.is(take(rated(100), undefined), undefined)
  t.is(burst(5), 5, 'lowered from 99')
  leap(60_000)
  t.is(burst(1000), 5, 'what there was at the old rate')
  leap(100)
  t.is(burst(1000), 100)
})

test('ingress-8: parts of a connector have rates of their own, and those beyond 10,000 have one together', (t) => {
  const { burst, take, leap } = ratesAt(100_000)
  t.is(burst(2, { scope: 'one' }), 2)
  t.is(burst(2, { scope: 'two' }), 2)
  t.is(burst(2), 2, 'the connector as a whole')
  for (let at = 2; at < 10_000; at += 1) take(rated(2), `scope ${at}`)
  t.is(burst(2, { scope: 'beyond' }), 2)
  t.is(burst(2, { scope: 'further' }), 0)
  leap(1000)
  t.is(burst(2, { scope: 'further' }), 2, 'full ones make room')
  t.is(burst(2, { scope: 'beyond' }), 2)
})

test('ingress-10: a noisy connector has what others leave, and takes nothing of their share', (t) => {
  const { burst, leap } = ratesAt(100)
  t.is(burst(10_000, { name: 'noisy' }), 100)
  t.is(burst(30, { name: 'quiet' }), 30, 'the first of a connector are let in')
  for (let second = 0; second < 20; second += 1) {
    leap(1000)
    t.true(burst(10_000, { name: 'noisy' }) <= 100)
    t.is(burst(30, { name: 'quiet' }), 30, `second ${second}`)
  }
  let [noisy, other] = [0, 0]
  for (let step = 0; step < 100; step += 1) {
    leap(100)
    noisy += burst(10_000, { name: 'noisy' })
    other += burst(10_000, { name: 'other' })
  }
  t.true(other > 350 && noisy > 350 && noisy + other < 1200, `${noisy} and ${other} in ten seconds`)
  leap(11_000)
  t.is(burst(10_000, { name: 'other' }), 100, 'alone it has everything')
})

test('ingress-10: where there are more connectors than the rate, each is let in now and then', (t) => {
  const { burst, leap } = ratesAt(1)
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) burst(10, { name })
  const taken = new Map(names.map((name) => [name, 0]))
  for (let step = 0; step < 400; step += 1) {
    leap(100)
    for (const name of names) taken.set(name, (taken.get(name) ?? 0) + burst(10, { name }))
  }
  for (const [name, count] of taken) t.true(count >= 8 && count <= 14, `${name}: ${count}`)
})

test('ingress-8: a scope that outsiders name takes no more memory than a digest', (t) => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const { burst, take } = ratesAt(100_000)
  const long = (name: string): string => Buffer.alloc(100_000, name).toString('latin1')
  t.is(burst(2, { scope: `${long('a')}1` }), 2)
  t.is(burst(2, { scope: `${long('a')}1` }), 0)
  t.is(burst(2, { scope: `${long('a')}2` }), 2, 'all of it counts')
  collect()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < 500; at += 1) take(rated(2), long(`scope ${at} `))
  collect()
  const grown = process.memoryUsage().heapUsed - before
  t.true(grown < 20_000_000, `${grown} bytes for 50 MB of scopes`)
})
