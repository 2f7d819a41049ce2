import { getHeapStatistics } from 'node:v8'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { collectAtRest, createHeap } from '../../../../core/base/memory/heap.js'

const large = 200 * 1024 * 1024

/** A process whose work and time are those of the test. */
const begin = (bytes = large) => {
  const state = { cpu: 0, bytes, collected: 0, timers: 0 }
  let look = (): void => {}
  const end = collectAtRest(
    {
      ...createClock(),
      after(_, callback) {
        look = callback
        state.timers += 1
        return () => (state.timers -= 1)
      },
    },
    { bytes: () => state.bytes, cpu: () => state.cpu, collect: () => void (state.collected += 1) },
  )
  const pass = (...work: readonly number[]): number => {
    for (const ms of work) {
      state.timers -= 1
      state.cpu += ms
      look()
    }
    return state.collected
  }
  return { state, pass, end }
}

test('what a burst left is collected at rest, twice, and not again before the next one', (t) => {
  const { pass } = begin()
  t.is(pass(10, 10, 10), 0)
  t.is(pass(9000, 12_000), 0)
  t.is(pass(10), 1)
  t.is(pass(10), 2)
  t.is(pass(10, 10, 1000), 2)
  t.is(pass(9000, 10, 10, 10), 4)
})

test('a small heap is never collected, however much was done', (t) => {
  t.is(begin(50 * 1024 * 1024).pass(9000, 10, 10), 0)
})

test('its end leaves no timer', (t) => {
  const { state, pass, end } = begin()
  pass(10)
  t.is(state.timers, 1)
  end()
  t.is(state.timers, 0)
})

test('a collection frees what is dead', (t) => {
  const heap = createHeap()
  const used = (): number => getHeapStatistics().used_heap_size
  let dead: object[] | undefined = Array.from({ length: 1_000_000 }, (_, n) => ({ n }))
  t.is(dead.length, 1_000_000)
  const before = used()
  dead = undefined
  heap.collect()
  t.true(before - used() > 16_000_000)
  t.is(typeof globalThis.gc, 'undefined')
})
