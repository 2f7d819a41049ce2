import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createBodyBudget } from '../../../../core/http/server/body-budget.js'

const budgetOf = (bodyWait = 60_000) => createBodyBudget({ clock: createClock(), bodyBytes: 100, bodyWait })

test('http-35: what does not fit waits in order, also what would fit by itself', async (t) => {
  const budget = budgetOf()
  const [first, second, third] = [budget.open('small'), budget.open('small'), budget.open('small')]
  t.true(first.take(60))
  const turns: string[] = []
  const waits = [
    Promise.resolve(second.take(50)).then(() => turns.push('second')),
    Promise.resolve(third.take(1)).then(() => turns.push('third')),
  ]
  await Promise.resolve()
  t.deepEqual(turns, [])
  first.end()
  await Promise.all(waits)
  t.deepEqual([turns, budget.bytes], [['second', 'third'], 51])
  for (const hold of [first, second, third, third]) hold.end()
  t.is(budget.bytes, 0)
})

test('http-35: large bodies have three quarters, and small ones never wait behind them', (t) => {
  const budget = budgetOf()
  t.true(budget.open('large').take(70))
  t.not(budget.open('large').take(6), true)
  const small = budget.open('small')
  t.true(small.take(20))
  t.true(small.take(10))
  t.not(budget.open('small').take(1), true)
})

test('http-35: what waits too long takes nothing, and those behind it go on', async (t) => {
  const budget = budgetOf(50)
  const first = budget.open('small')
  t.true(first.take(90))
  const large = budget.open('small').take(20)
  const [taken] = await Promise.all([large, setTimeout(60)])
  t.false(taken)
  t.true(budget.open('small').take(10))
  t.is(budget.bytes, 100)
})

test('one that ends while it waits takes nothing, before its turn and with it', async (t) => {
  const budget = budgetOf()
  const [first, second, third] = [budget.open('small'), budget.open('small'), budget.open('small')]
  t.true(first.take(100))
  const [early, late] = [second.take(100), third.take(100)]
  second.end()
  t.false(await early)
  first.end()
  third.end()
  t.false(await late)
  t.is(budget.bytes, 0)
})

test('a body that is larger than all there is has its turn when nothing of its kind is held', async (t) => {
  const budget = budgetOf()
  const [small, large] = [budget.open('large'), budget.open('large')]
  t.true(small.take(10))
  const turn = large.take(1_000)
  small.end()
  t.true(await turn)
})
