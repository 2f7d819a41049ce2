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

const longestLine = 4000

test('runtime-19: a part that makes a commit too large is taken back, alone and with what was there before', async (t) => {
  const root = tempRoot(t)
  const { state, notes, journal, close } = await openNotes(root, { tuning: { longestLine } })
  await state.commit((tx) => {
    tx.insert(notes, note(1, { text: 'ä'.repeat(1000) }))
    for (const part of [
      () => tx.insert(notes, note(2, { text: 'x'.repeat(longestLine) })),
      () => tx.append(journal, 'n1', 'ä'.repeat(900)),
      () => {
        for (let n = 2; n < 100; n += 1) tx.insert(notes, note(n))
      },
    ])
      t.like(
        t.throws(() => tx.tryPart(part)),
        { code: 'commit_too_large' },
      )
    t.deepEqual([notes.has('n2'), notes.has('n50'), journal.length('n1')], [false, false, 0])
  })
  await close()
  const again = await openNotes(root)
  t.deepEqual(
    [1, 2, 50].map((n) => again.notes.has(`n${n}`)),
    [true, false, false],
  )
  await again.close()
})

test('runtime-19: a part that takes what it can get, and goes on where it is refused, leaves room to the rest', async (t) => {
  const { state, notes, close } = await openNotes(tempRoot(t), { tuning: { longestLine } })
  await state.commit((tx) => {
    tx.tryPart(() => {
      for (let n = 100; n < 200; n += 1)
        try {
          tx.insert(notes, note(n))
        } catch {
          // It is full.
        }
    })
    t.true(notes.has('n100'))
    t.false(notes.has('n199'))
    tx.insert(notes, note(1, { text: 'x'.repeat(500) }))
  })
  t.true(notes.has('n1'))
  await close()
})

test('state-11: a commit is as large as a line to the byte, whatever its signs', async (t) => {
  const { state, notes, close } = await openNotes(tempRoot(t), { tuning: { longestLine } })
  const told = (signs: string) => [1, 2, 3].map((n) => note(n, { text: n === 2 ? signs : '' }))
  const bytesOf = (signs: string): number => {
    const ops = told(signs).map((one) => JSON.stringify(['put', notes.spec.name, one.id, one]))
    return Buffer.byteLength(`"t":${Date.now()},"ops":[${ops.join(',')}]`)
  }
  const commit = (signs: string): Promise<void> =>
    state.commit((tx) => told(signs).forEach((one) => tx.put(notes, one)))
  for (const [sign, bytes] of [
    ['x', 1],
    ['ä', 2],
    ['€', 3],
  ] as const) {
    const most = sign.repeat(Math.floor((longestLine - bytesOf('')) / bytes))
    await t.notThrowsAsync(commit(most), sign)
    await t.throwsAsync(commit(most + sign), { message: /larger than one line/u }, sign)
    t.is(notes.find('n2')?.text, most)
  }
  await close()
})
