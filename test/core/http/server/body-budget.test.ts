import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createManualClock } from '../../../faults/stillness.js'
import { createBodyBudget, type BodyBudget, type Hold } from '../../../../core/http/server/body-budget.js'

const kibibyte = 1024
/** Bodies that are tiny, small and large. */
const [tiny, small, large] = [64 * kibibyte, 1024 * kibibyte, 2048 * kibibyte]
const budgetOf = (bodyWait = 60_000) => createBodyBudget({ clock: createClock(), bodyBytes: 80, bodyWait })
/** Bodies of a kind that have begun; the first of them is never made to wait. */
const begun = (budget: BodyBudget, most: number, all: readonly number[]): Hold[] =>
  all.map((bytes) => {
    const hold = budget.open(most)
    void hold.take(bytes)
    return hold
  })

test('http-35: what does not fit waits in order, also what would fit by itself', async (t) => {
  const budget = budgetOf()
  const [first] = begun(budget, tiny, [60])
  const [second, third] = [budget.open(tiny), budget.open(tiny)]
  const turns: string[] = []
  const waits = [
    Promise.resolve(second.take(50)).then(() => turns.push('second')),
    Promise.resolve(third.take(1)).then(() => turns.push('third')),
  ]
  await Promise.resolve()
  t.deepEqual(turns, [])
  first?.end()
  await Promise.all(waits)
  t.deepEqual([turns, budget.bytes], [['second', 'third'], 51])
  for (const hold of [second, third, third]) hold.end()
  t.is(budget.bytes, 0)
})

test('http-35: large bodies have three quarters, with small ones seven eighths, and tiny ones never wait behind them', (t) => {
  const budget = budgetOf()
  begun(budget, large, [30, 30])
  t.not(budget.open(large).take(1), true)
  begun(budget, small, [5, 5])
  t.not(budget.open(small).take(1), true)
  begun(budget, tiny, [5, 5])
  t.is(budget.bytes, 80)
  t.not(budget.open(tiny).take(1), true)
})

test('http-35: what has begun comes to its end before others begin, also when each has a part and nothing is left', async (t) => {
  const budget = budgetOf()
  const [first, second] = begun(budget, tiny, [40, 39])
  const turns: string[] = []
  const later = budget.open(tiny)
  const wait = async (name: string, hold: Hold | undefined, bytes: number): Promise<void> => {
    if ((await hold?.take(bytes)) === true) turns.push(name)
  }
  const waits = [wait('later', later, 2), wait('second', second, 30)]
  t.true(first?.take(30))
  t.deepEqual([turns, budget.bytes], [[], 109])
  first?.end()
  await Promise.all(waits)
  t.deepEqual([turns, budget.bytes], [['second', 'later'], 71])
})

test('http-35: what waits too long takes nothing, and those behind it go on', async (t) => {
  const budget = budgetOf(50)
  begun(budget, tiny, [1, 70])
  const long = budget.open(tiny).take(20)
  const [taken] = await Promise.all([long, setTimeout(60)])
  t.false(taken)
  t.true(budget.open(tiny).take(9))
  t.is(budget.bytes, 80)
})

test('one that ends while it waits takes nothing, before its turn and with it', async (t) => {
  const budget = budgetOf()
  const [first] = begun(budget, tiny, [80])
  const [second, third] = [budget.open(tiny), budget.open(tiny)]
  const [early, late] = [second.take(80), third.take(80)]
  second.end()
  t.false(await early)
  third.end()
  first?.end()
  t.false(await late)
  t.is(budget.bytes, 0)
})

test('a body that is larger than all there is has its turn when nothing of its kind is held', async (t) => {
  const budget = budgetOf()
  const [first] = begun(budget, large, [10])
  const turn = budget.open(large).take(1000)
  first?.end()
  t.true(await turn)
})

test('http-35: all waits of one body together have its time', async (t) => {
  const clock = createManualClock()
  const budget = createBodyBudget({ clock, bodyBytes: 80, bodyWait: 100 })
  const [, first] = begun(budget, tiny, [10, 70])
  const body = budget.open(tiny)
  const begins = body.take(10)
  clock.advance(60)
  first?.end()
  t.true(await begins)
  begun(budget, tiny, [60])
  const goesOn = body.take(10)
  t.not(goesOn, true)
  clock.advance(39)
  let taken: boolean | undefined
  void Promise.resolve(goesOn).then((fits) => (taken = fits))
  await setTimeout(1)
  t.is(taken, undefined)
  clock.advance(1)
  t.false(await goesOn)
})
