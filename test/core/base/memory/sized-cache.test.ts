import test from 'ava'
import { createCacheRoom } from '../../../../core/base/memory/sized-cache.js'

test('of all values in a room the one goes first that was used longest ago, whosever it is', (t) => {
  const room = createCacheRoom(100)
  const [numbers, words] = [room.cache<number>(), room.cache<string>()]
  numbers.set('a', 1, 40)
  words.set('a', 'one', 40)
  t.is(numbers.get('a'), 1)
  words.set('b', 'two', 30)
  t.deepEqual([numbers.get('a'), words.get('a'), words.get('b')], [1, undefined, 'two'])
})

test('a value in the place of another counts once, and what is taken out not at all', (t) => {
  const cache = createCacheRoom(100).cache<number>()
  for (let n = 0; n < 10; n += 1) cache.set('a', n, 60)
  cache.set('b', 1, 40)
  t.deepEqual([cache.get('a'), cache.get('b')], [9, 1])
  cache.delete('a')
  cache.delete('a')
  cache.set('c', 2, 60)
  t.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], [undefined, 1, 2])
})

test('a cache that is cleared leaves the room to the others', (t) => {
  const room = createCacheRoom(100)
  const [numbers, words] = [room.cache<number>(), room.cache<string>()]
  words.set('a', 'one', 40)
  numbers.set('a', 1, 30)
  numbers.set('b', 2, 30)
  numbers.clear()
  t.deepEqual([numbers.get('a'), numbers.get('b')], [undefined, undefined])
  words.set('b', 'two', 60)
  t.deepEqual([words.get('a'), words.get('b')], ['one', 'two'])
})

test('a value that is larger than the room is not kept, and the one it replaces is not the value any more', (t) => {
  const cache = createCacheRoom(100).cache<number>()
  cache.set('a', 1, 60)
  cache.set('b', 2, 40)
  cache.set('a', 3, 101)
  t.deepEqual([cache.get('a'), cache.get('b')], [undefined, 2])
})
