import test from 'ava'
import { Transients, TransientsByKey } from '../../../../core/base/memory/transients.js'
import { promoted } from '../../../support/old-heap.js'

test('what was added is there in its order until it is taken out, once or twice', (t) => {
  const transients = new Transients<string>()
  const [leave, , leaveLast] = ['a', 'b', 'a'].map((value) => transients.add(value))
  t.deepEqual(transients.values(), ['a', 'b', 'a'])
  leaveLast?.()
  leaveLast?.()
  t.deepEqual([transients.size, transients.values()], [2, ['a', 'b']])
  leave?.()
  transients.add('c')
  t.deepEqual(transients.values(), ['b', 'c'])
  transients.clear()
  t.deepEqual([transients.size, transients.values()], [0, []])
})

test('by key the last value counts, in the place of the first', (t) => {
  const transients = new TransientsByKey<number>()
  transients.set('a', 1)
  transients.set('b', 2)
  transients.set('a', 3)
  t.deepEqual([transients.size, transients.keys(), transients.values()], [2, ['a', 'b'], [3, 2]])
  t.deepEqual(
    [transients.get('a'), transients.has('b'), transients.get('c'), transients.has('c')],
    [3, true, undefined, false],
  )
  transients.delete('a')
  transients.delete('a')
  t.deepEqual([transients.size, transients.get('a'), transients.values()], [1, undefined, [2]])
})

test('what has left does not reach the old heap, as it would through the tables of a Map', (t) => {
  const module = new URL('../../../../core/base/memory/transients.js', import.meta.url).href
  const of = {
    map: promoted('const all = new Map(); const enter = (key, thing) => (all.set(key, thing), () => all.delete(key))'),
    transients: promoted(`import { Transients } from '${module}'; const enter = (_, thing) => all.add(thing)
      const all = new Transients()`),
    byKey: promoted(`import { TransientsByKey } from '${module}'; const all = new TransientsByKey()
      const enter = (key, thing) => (all.set(key, thing), () => all.delete(key))`),
  }
  t.log(of)
  t.true(of.transients < of.map / 4 && of.byKey < of.map / 4)
})
