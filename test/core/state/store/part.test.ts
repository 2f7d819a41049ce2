/** A part of a commit that fails is taken back, and the rest stands. */
import test from 'ava'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

test('of a part that throws nothing stays, in memory or on the disk, and none of its effects runs', async (t) => {
  const root = tempRoot(t)
  const { state, notes, journal, close } = await openNotes(root)
  await state.commit((tx) => tx.insert(notes, note(1)))
  const effects: string[] = []
  const error = new Error('the part is broken')
  await state.commit((tx) => {
    tx.put(notes, note(1, { text: 'before' }))
    tx.append(journal, 'n1', 'before')
    tx.after(() => effects.push('before'))
    const thrown = t.throws(() =>
      tx.tryPart(() => {
        tx.put(notes, note(1, { text: 'within' }))
        tx.remove(notes, 'n1', 'it is removed')
        tx.insert(notes, note(2))
        tx.append(journal, 'n1', 'within')
        tx.after(() => effects.push('within'))
        throw error
      }),
    )
    t.is(thrown, error)
    t.is(notes.find('n1')?.text, 'before')
    tx.insert(notes, note(3))
    tx.append(journal, 'n1', 'behind')
    t.is(
      tx.tryPart(() => {
        tx.insert(notes, note(4))
        return 4
      }),
      4,
    )
  })
  t.deepEqual(effects, ['before'])
  await close()
  const again = await openNotes(root)
  t.is(again.notes.find('n1')?.text, 'before')
  t.deepEqual(
    [2, 3, 4].map((n) => again.notes.has(`n${n}`)),
    [false, true, true],
  )
  await again.close()
})
