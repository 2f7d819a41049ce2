import test from 'ava'
import { createPassing, createPassingByKey } from '../../../../core/base/memory/passing.js'
import { promoted } from '../../../support/old-heap.js'

test('what was added is there in its order until it is taken out, once or twice', (t) => {
  const passing = createPassing<string>()
  const [leave, , leaveLast] = ['a', 'b', 'a'].map((value) => passing.add(value))
  t.deepEqual(passing.values(), ['a', 'b', 'a'])
  leaveLast?.()
  leaveLast?.()
  t.deepEqual([passing.size, passing.values()], [2, ['a', 'b']])
  leave?.()
  passing.add('c')
  t.deepEqual(passing.values(), ['b', 'c'])
  passing.clear()
  t.deepEqual([passing.size, passing.values()], [0, []])
})

test('by key the last value counts, in the place of the first', (t) => {
  const passing = createPassingByKey<number>()
  passing.set('a', 1)
  passing.set('b', 2)
  passing.set('a', 3)
  t.deepEqual([passing.size, passing.keys(), passing.values()], [2, ['a', 'b'], [3, 2]])
  t.deepEqual([passing.get('a'), passing.has('b'), passing.get('c'), passing.has('c')], [3, true, undefined, false])
  passing.delete('a')
  passing.delete('a')
  t.deepEqual([passing.size, passing.get('a'), passing.values()], [1, undefined, [2]])
})

test('what has left does not reach the old heap, as it would through the tables of a Map', (t) => {
  const module = new URL('../../../../core/base/memory/passing.js', import.meta.url).href
  const of = {
    map: promoted('const all = new Map(); const enter = (key, thing) => (all.set(key, thing), () => all.delete(key))'),
    passing: promoted(`import { createPassing } from '${module}'; const enter = (_, thing) => all.add(thing)
      const all = createPassing()`),
    byKey: promoted(`import { createPassingByKey } from '${module}'; const all = createPassingByKey()
      const enter = (key, thing) => (all.set(key, thing), () => all.delete(key))`),
  }
  t.log(of)
  t.true(of.passing < of.map / 4 && of.byKey < of.map / 4)
})
