import test from 'ava'
import { createDeadlines, onAbort } from '../../../../core/http/outbound/deadlines.js'

/** A clock that is moved on by hand, and how many timers it has. */
const createHands = () => {
  let now = 0
  const timers = new Map<object, { at: number; run: () => void }>()
  const next = (until: number) =>
    [...timers].filter(([, { at }]) => at <= until).toSorted(([, a], [, b]) => a.at - b.at)[0]
  return {
    timers,
    elapsed: () => now,
    after: (ms: number, run: () => void) => {
      const key = {}
      timers.set(key, { at: now + ms, run })
      return () => void timers.delete(key)
    },
    pass(ms: number) {
      const until = now + ms
      for (let due = next(until); due !== undefined; due = next(until)) {
        timers.delete(due[0])
        now = Math.max(now, due[1].at)
        due[1].run()
      }
      now = until
    },
  }
}

test('deadlines of one length share a timer, and each ends at its time unless it was cancelled', (t) => {
  const clock = createHands()
  const deadlines = createDeadlines(clock)
  const ended: string[] = []
  const begin = (name: string, ms: number): (() => void) => deadlines.after(ms, () => ended.push(name))
  const first = begin('first', 100)
  clock.pass(10)
  begin('second', 100)
  clock.pass(10)
  const third = begin('third', 100)
  begin('short', 30)
  t.is(clock.timers.size, 2)
  first()
  clock.pass(30)
  t.deepEqual(ended, ['short'])
  clock.pass(59)
  t.deepEqual(ended, ['short'])
  clock.pass(1)
  t.deepEqual(ended, ['short', 'second'])
  third()
  third()
  t.is(clock.timers.size, 0)
  clock.pass(1000)
  t.deepEqual(ended, ['short', 'second'])
})

test('a deadline that begins another of its length leaves one timer', (t) => {
  const clock = createHands()
  const deadlines = createDeadlines(clock)
  let rounds = 0
  const again = (): void => {
    rounds += 1
    if (rounds < 5) deadlines.after(10, again)
  }
  deadlines.after(10, again)
  clock.pass(20)
  t.deepEqual([rounds, clock.timers.size], [2, 1])
  clock.pass(100)
  t.deepEqual([rounds, clock.timers.size], [5, 0])
})

test('requests that share a signal end with it, those that have forgotten it do not', (t) => {
  const ending = new AbortController()
  const ended: number[] = []
  const forget = [1, 2, 3].map((n) => onAbort(ending.signal, () => ended.push(n)))
  forget[1]?.()
  ending.abort()
  t.deepEqual(ended, [1, 3])
})
