import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { createDeadlines } from '../../../../../plugins/execution/runs/lifecycle/deadlines.js'
import { unsafeCast } from '../../../../../core/base/schema.js'

/** A watcher over runs in memory whose timers the test fires. */
const open = (due: Readonly<Record<string, number>>) => {
  const left = new Map(Object.entries(due))
  const time = { now: 1000 }
  const timers: { ms: number; fire: () => void }[] = []
  const health = { mode: 'ok' }
  const list = ({ group, limit }: { group: string; limit: number }) =>
    group === 'waiting_for_approval'
      ? [...left]
          .toSorted((a, b) => a[1] - b[1])
          .slice(0, limit)
          .map(([run_id, expires_at_ms]) => ({ run_id, pending: ['r'], expires_at_ms }))
      : []
  const warnings: string[] = []
  const deadlines = createDeadlines({
    store: unsafeCast({ runs: { list }, state: { health } }),
    clock: {
      ...createClock(),
      now: () => time.now,
      after: (ms, fire) => {
        timers.splice(0, timers.length, { ms, fire })
        return () => void timers.splice(0)
      },
    },
    log: unsafeCast({ error: (fact: string) => warnings.push(fact) }),
  })
  return { left, time, timers, health, warnings, deadlines }
}

test(
  'one timer watches the earliest deadline, looks at the clock every five seconds, and is gone when nothing is ' +
    'left',
  async (t) => {
    const { left, time, timers, deadlines } = open({ a: 3000, b: 100_000 })
    const expired: string[] = []
    deadlines.watch('waiting_for_approval', async ({ run_id }) => {
      left.delete(run_id)
      expired.push(run_id)
    })
    t.deepEqual(
      timers.map(({ ms }) => ms),
      [2000],
    )
    time.now = 3000
    timers[0]?.fire()
    t.deepEqual([expired, timers.map(({ ms }) => ms)], [['a'], [5000]])
    time.now = 500_000
    timers[0]?.fire()
    t.deepEqual([expired, timers], [['a', 'b'], []], 'a clock that jumped is noticed at the next look')
    left.set('c', 500_001)
    deadlines.checkSoon()
    t.deepEqual(
      timers.map(({ ms }) => ms),
      [0],
    )
  },
)

test('what cannot be closed is tried again after a while, and nothing is tried while storage refuses changes', async (t) => {
  const { timers, health, warnings, deadlines } = open({ a: 1 })
  let tries = 0
  deadlines.watch('waiting_for_approval', async () => {
    tries += 1
    throw new Error('no')
  })
  await Promise.resolve()
  t.deepEqual([tries, warnings.length, timers.map(({ ms }) => ms)], [1, 1, [1000]])
  health.mode = 'read_only'
  timers[0]?.fire()
  t.deepEqual([tries, timers.map(({ ms }) => ms)], [1, [5000]])
  health.mode = 'ok'
  timers[0]?.fire()
  t.is(tries, 2)
  deadlines.end()
  t.deepEqual(timers, [])
})

test('thousands that are due at once are taken in turns', (t) => {
  const { left, timers, deadlines } = open(Object.fromEntries(Array.from({ length: 1200 }, (_, at) => [`r${at}`, 1])))
  deadlines.watch('waiting_for_approval', async ({ run_id }) => void left.delete(run_id))
  for (const rest of [700, 200, 0]) {
    t.is(left.size, rest)
    timers[0]?.fire()
  }
  t.deepEqual(timers, [])
})
