import test from 'ava'
import { openKept, verifyKept } from '../../../../support/kept-notes.js'
import { tempRoot } from '../../../../support/notes.js'

test('what names a record that fell is in order, and what names another that is not there is not', async (t) => {
  const root = tempRoot(t)
  const life = await openKept(root)
  const old = await life.write()
  await life.checkpoint()
  life.pass()
  await life.write()
  await life.fall(1)
  t.true(life.plain.list({ index: 'all', group: 'all', limit: 9 }).some(({ note }) => note === old.id))
  const young = life.ids.make('note')
  for (const note of [old.id, young, 'chosen'])
    await life.state.commit((tx) => tx.insert(life.plain, { id: life.ids.make('plain'), note }))
  await life.close()
  const { findings } = await verifyKept(root)
  t.deepEqual(
    findings.map(({ kind, rule }) => [kind, /names (\S+) of/u.exec(rule)?.[1]]),
    [
      ['reference', young],
      ['reference', 'chosen'],
    ],
  )
})
