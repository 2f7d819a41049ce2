import test from 'ava'
import fc from 'fast-check'
import {
  arraySource,
  decodeCursor,
  encodeCursor,
  listPage,
  pageFields,
  pageOf,
  type ListReply,
  type Page,
  type PageInput,
  type PageRequest,
} from '../../../../core/http/routes/pages.js'
import { slicedItems } from '../../../../core/http/routes/sliced.js'
import { parse } from '../../../../core/base/parse.js'
import { object, string, unsafeCast } from '../../../../core/base/schema.js'

const items = (count: number): string[] => Array.from({ length: count }, (_, n) => `k${String(n).padStart(4, '0')}`)
/** A list in slices as the array that it becomes. */
const whole = <V>(reply: ListReply<V>): V[] | Page<V> =>
  'items' in reply || Array.isArray(reply) ? reply : unsafeCast<V[]>([...(slicedItems(reply) ?? [])])
const list = (count: number, query: PageRequest, more: Partial<PageInput<string, string>> = {}) =>
  whole(
    listPage({
      query,
      source: arraySource(items(count).toReversed(), (key) => key),
      label: 'key_asc',
      view: (key) => key,
      ...more,
    }),
  )

test('without page or cursor a list is a plain array, cut by a limit', (t) => {
  t.deepEqual(list(120, {}), items(120))
  t.deepEqual(list(120, { limit: 2 }), items(2))
  t.deepEqual(list(120, { limit: 2, page: false }), items(2))
  t.deepEqual(list(120, { limit: 500 }), items(100))
  t.deepEqual(list(5, { limit: 2 }, { legacy: 'last' }), items(5).slice(3))
})

test('a plain array may be bounded, and pages go on behind it', (t) => {
  t.deepEqual(list(320, {}, { mostPlain: 200 }), items(200))
  t.deepEqual(list(150, {}, { mostPlain: 200 }), items(150))
  t.like(list(320, { page: true }, { mostPlain: 200 }), { pagination: { total_count: 320 } })
})

test('page or any cursor asks for an envelope', (t) => {
  t.deepEqual(list(2, { page: true }), {
    items: items(2),
    pagination: { limit: 50, total_count: 2, has_more: false, order: 'key_asc' },
  })
  const first = list(5, { page: true, limit: 2 })
  t.deepEqual(first, {
    items: ['k0000', 'k0001'],
    pagination: {
      limit: 2,
      total_count: 5,
      has_more: true,
      next_cursor: encodeCursor('key_asc', 'k0001'),
      order: 'key_asc',
    },
  })
  t.deepEqual(list(5, { cursor: encodeCursor('key_asc', 'k0003'), limit: 2 }), {
    items: ['k0004'],
    pagination: { limit: 2, total_count: 5, has_more: false, order: 'key_asc' },
  })
  t.like(list(300, { page: true, limit: 900 }), { pagination: { limit: 100 } })
  t.like(list(5, { cursor: encodeCursor('key_asc', 'k0002'), limit: 2 }, { order: 'desc' }), {
    items: ['k0001', 'k0000'],
  })
})

test('a limit below one and a cursor that was not made here are refused', (t) => {
  for (const limit of [0, -1]) t.throws(() => list(5, { limit }), { name: 'Problem', message: /limit/u })
  for (const cursor of ['!', 'a', 'YQ==', 'gA', '%', 'eA', 'MDAw', encodeCursor('key_desc', 'k0001')])
    t.throws(() => list(5, { cursor }), { name: 'Problem', message: /cursor/u }, cursor)
})

test('http-14: following next_cursor visits every item once, in order, also while items come and go', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      (keys, limit, order) => {
        const wellFormed = keys.filter((key) => Buffer.from(key, 'utf8').toString('utf8') === key)
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = listPage({
            query: { page: true, limit, cursor },
            source: arraySource(wellFormed, (key) => key),
            label: 'key',
            order,
            view: (key) => key,
          })
          if (!('items' in page)) return false
          seen.push(...page.items)
          cursor = page.pagination.next_cursor
        } while (cursor !== undefined)
        const sorted = wellFormed.toSorted()
        return JSON.stringify(seen) === JSON.stringify(order === 'asc' ? sorted : sorted.toReversed())
      },
    ),
    { numRuns: 100 },
  )
  t.pass()
})

test('cursors carry any key', (t) => {
  for (const key of ['', 'a', '00000000000000000001:run_1', 'é€😀', 'a:b/c?d'])
    t.is(decodeCursor('id_asc', encodeCursor('id_asc', key)), key)
})

test('the structs of a list route describe both forms', (t) => {
  const struct = pageOf(string())
  t.true(parse(struct, list(3, {})).ok)
  t.true(parse(struct, list(3, { page: true, limit: 1 })).ok)
  t.false(parse(struct, { items: [] }).ok)
  t.false(parse(object(pageFields), { page: 'yes' }).ok)
})
