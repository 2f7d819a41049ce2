import test from 'ava'
import { createCache } from '../../../../core/base/memory/cache.js'

test('a cache keeps what was used last, and tells what goes', (t) => {
  const gone: number[] = []
  const cache = createCache<number>(2, (value) => gone.push(value))
  cache.set('a', 1)
  cache.set('b', 2)
  t.is(cache.get('a'), 1)
  cache.set('c', 3)
  t.deepEqual([gone, cache.get('b')], [[2], undefined])
  cache.delete('a')
  t.deepEqual(gone, [2], 'what is taken out on purpose is not told')
  cache.set('d', 4)
  t.deepEqual(cache.clear(), [3, 4])
  t.deepEqual([gone, cache.get('c'), cache.clear()], [[2], undefined, []])
})

test('what was asked for is the newest, whatever was the newest before', (t) => {
  const gone: string[] = []
  const cache = createCache<string>(2, (value) => gone.push(value))
  cache.set('a', 'a')
  cache.set('b', 'b')
  for (const key of ['a', 'b', 'b']) cache.get(key)
  cache.set('c', 'c')
  cache.get('b')
  cache.set('d', 'd')
  t.deepEqual(gone, ['a', 'c'])
})
