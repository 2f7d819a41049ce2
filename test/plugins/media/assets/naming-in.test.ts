/** What is told of records that name assets; docs/rules/assets.md. */
import test from 'ava'
import type { Collection, CollectionSpec, State } from '../../../../core/plugin.js'
import { namingIn } from '../../../../plugins/media/assets/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

interface Note {
  readonly owner_id: string
  readonly asset_id: string
  readonly done?: boolean
}
const notes: CollectionSpec<Note> = {
  name: 'test_notes',
  version: 1,
  id: ({ owner_id, asset_id }) => `${owner_id} ${asset_id}`,
  indexes: { asset: { group: ({ asset_id, done = false }) => `${done ? 'done' : 'open'} ${asset_id}` } },
}
const owner = (at: number): string => `note_${String(at).padStart(6, '0')}`

const declared = (t: any): Promise<{ readonly state: State; readonly collection: Collection<Note> }> =>
  new Promise((resolve, reject) => {
    const plugin = testPlugin('notes', {
      register: ({ state, onStart }) => {
        const collection = state.collection(notes)
        onStart(() => resolve({ state, collection }))
      },
    })
    startTestDaemon(t, { plugins: [plugin] }).catch(reject)
  })

/** Notes of asset `a` from 0 on; every third one is done. Owners in `gone` fell. */
const stand = async (t: any, count: number) => {
  const gone = new Set<string>()
  const owners = { falls: 1, has: (id: string) => !gone.has(id) }
  const { state, collection } = await declared(t)
  const read: string[] = []
  await state.commit((tx) => {
    for (let at = 0; at < count; at += 1)
      tx.insert(collection, { owner_id: owner(at), asset_id: 'a', ...(at % 3 === 0 && { done: true }) })
    tx.insert(collection, { owner_id: owner(1), asset_id: 'b' })
  })
  const watched: Collection<Note> = {
    ...collection,
    spec: collection.spec,
    falls: 0,
    count: (...given) => collection.count(...given),
    page: (query) => collection.page(query),
    find(id) {
      read.push(id)
      return collection.find(id)
    },
  }
  const naming = namingIn({
    collection: watched,
    index: 'asset',
    group: (asset_id, hard) => `${hard ? 'open' : 'done'} ${asset_id}`,
    owners,
    reference: ({ owner_id }) => ({ owner_id, role: 'note' }),
  })
  const list = (hard: boolean, limit: number, beyond?: string): string[] =>
    naming.list({ asset_id: 'a', hard, limit, beyond }).map(({ reference }) => reference.owner_id)
  return { naming, list, gone, owners, read }
}

test('assets-6: references are counted without a look at a record, and told newest first', async (t) => {
  const { naming, list, read } = await stand(t, 3000)
  t.deepEqual([naming.count('a', true), naming.count('a', false), naming.count('c', true)], [2000, 1000, 0])
  t.deepEqual(read, [])
  t.deepEqual(list(true, 3), [owner(2999), owner(2998), owner(2996)])
  t.deepEqual(list(false, 1), [owner(2997)])
  t.is(read.length, 4)
  t.deepEqual(list(true, 2, `${owner(2)} a`), [owner(1)])
})

test('assets-6: what names for an owner that fell is neither counted nor told', async (t) => {
  const { naming, list, gone, owners } = await stand(t, 3000)
  t.is(naming.count('a', true), 2000)
  for (let at = 0; at < 2999; at += 1) gone.add(owner(at))
  owners.falls += 1
  t.deepEqual([naming.count('a', true), naming.count('a', false)], [1, 0])
  t.deepEqual(list(true, 1), [owner(2999)])
  gone.delete(owner(1))
  owners.falls += 1
  gone.add(owner(2999))
  t.deepEqual(list(true, 5), [owner(1)], 'those that fell are passed over')
  t.is(naming.count('a', true), 1)
  t.is(naming.find?.('a', owner(2)), undefined)
})

test('assets-6: how one owner names an asset is found without the others', async (t) => {
  const { naming, read } = await stand(t, 300)
  t.deepEqual(naming.find?.('a', owner(100)), { owner_id: owner(100), role: 'note' })
  t.deepEqual(naming.find?.('a', owner(99)), { owner_id: owner(99), role: 'note' })
  t.is(naming.find?.('a', owner(300)), undefined)
  t.is(naming.find?.('b', owner(2)), undefined)
  t.deepEqual(naming.find?.('b', owner(1)), { owner_id: owner(1), role: 'note' })
  t.true(read.length <= 10, `${read.length} records were looked at`)
})
