import test from 'ava'
import { Removals } from '../../../../core/state/memory/removals.js'

test('what is removed again while a checkpoint writes its first removal stays gone behind that checkpoint', (t) => {
  const removals = new Removals(true)
  removals.settle('a', { reason: 'test', number: removals.add('a') })
  const taken = removals.take()
  removals.comeBack('a')
  removals.isBack('a')
  const number = removals.add('a')
  removals.evict(taken)
  t.true(removals.hides('a'), 'the record in between may be on its way to the tables')
  removals.settle('a', { reason: 'test', number })
  removals.evict(removals.take())
  t.false(removals.hides('a'), 'nothing is left of it')
})

test('what could not be written of removals is written by the next checkpoint, unless it is there again', (t) => {
  const removals = new Removals(true)
  for (const id of ['a', 'b', 'c']) removals.settle(id, { reason: 'test', number: removals.add(id) })
  const taken = removals.take()
  removals.comeBack('b')
  removals.settle('c', { reason: 'again', number: removals.add('c') })
  removals.restore(taken, (id) => id === 'b')
  t.deepEqual([...removals.take().forgotten.keys()].toSorted(), ['a', 'c'])
})
