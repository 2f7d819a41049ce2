/** What a checkpoint need not look for: records of ids that no table has. */
import test from 'ava'
import type { CollectionSpec } from '../../../../core/state/contract.js'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { Tables } from '../../../../core/state/tables/tables.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'
import { shelf } from '../../../support/shelf.js'

interface Item {
  readonly id: string
}
const spec: CollectionSpec<Item> = {
  name: 'items',
  version: 1,
  id: ({ id }) => id,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
}
const [a, b] = [{ id: 'a' }, { id: 'b' }]

/** Over tables that have rows of these ids, and records of them but for those that a row says are gone. */
const open = (known: readonly Item[] = [], removed: readonly Item[] = []) => {
  const pages = shelf(spec, new Map(known.map((one) => [one.id, one])))
  const rows = new Set([...known, ...removed].map(({ id }) => id))
  const items = createCollection(spec, { ...pages, knows: (id) => rows.has(id) })
  const take = (): Record<string, boolean> =>
    Object.fromEntries(Array.from(items.takeDirty().records, ([id, { isNew }]) => [id, isNew]))
  return { items, take }
}

test('an inserted record of which no table has a row is new until a checkpoint takes it, however often it is put', (t) => {
  const { items, take } = open()
  const [inserted, changed] = [items.insert(a), items.put(a)]
  inserted.onDurable()
  changed.onDurable()
  items.put(a).onDurable()
  t.deepEqual(take(), { a: true })
  items.put(a).onDurable()
  t.deepEqual(take(), { a: false }, 'the checkpoint that took it writes a row')
})

test('a record is not new of which a table has a row, if only of its removal, or nobody looked', (t) => {
  const { items, take } = open([a], [b])
  t.throws(() => items.insert(a))
  items.put(a).onDurable()
  items.insert(b).onDurable()
  items.put({ id: 'c' }).onDurable()
  items.replayPut('d', { id: 'd' })
  items.put({ id: 'd' }).onDurable()
  t.deepEqual(take(), { a: false, b: false, c: false, d: false })
})

test('a record that was removed and inserted again is not new, whatever of that is in which checkpoint', (t) => {
  const { items, take } = open()
  items.insert(a).onDurable()
  items.remove('a', 'gone')?.onDurable()
  items.insert(a).onDurable()
  t.deepEqual(take(), { a: false })
  items.insert(b).onDurable()
  t.deepEqual(take(), { b: true })
  items.remove('b', 'gone')?.onDurable()
  items.insert(b).onDurable()
  t.deepEqual(take(), { b: false }, 'a checkpoint writes a row of it')
  const [inserted, removed, again] = [items.insert({ id: 'c' }), items.remove('c', 'gone'), items.insert({ id: 'c' })]
  inserted.onDurable()
  removed?.onDurable()
  again.onDurable()
  t.deepEqual(take(), { c: false })
})

test('a record that a failed checkpoint gives back is looked for', (t) => {
  const { items } = open()
  items.insert(a).onDurable()
  items.restoreDirty(items.takeDirty())
  items.put(a).onDurable()
  t.deepEqual([...items.takeDirty().records.values()], [{ record: a, text: '{"id":"a"}', isNew: false }])
})

test.serial('a new record is looked for in the tables once, when it is inserted', async (t) => {
  const root = tempRoot(t)
  const { state, notes, checkpoint, close } = await openNotes(root)
  const insert = (n: number): Promise<void> => state.commit((tx) => tx.insert(notes, note(n)))
  await insert(0)
  await checkpoint()
  const find = Tables.prototype.find
  let looks: unknown[] = []
  Tables.prototype.find = function (shape, key) {
    looks.push(key[0])
    return find.call(this, shape, key)
  }
  t.teardown(() => {
    Tables.prototype.find = find
  })
  await insert(1)
  await state.commit((tx) => tx.put(notes, note(1, { owner: 'bob' })))
  await checkpoint()
  t.deepEqual(looks, ['n1'])
  looks = []
  await state.commit((tx) => tx.put(notes, note(1, { owner: 'cid' })))
  await checkpoint()
  t.true(looks.filter((id) => id === 'n1').length > 0, 'it has a row now')
  t.is(notes.count('by_owner', 'bob'), 0)
  await close()
})
