/** The end of a life: what was taken is durable, nothing is taken later, and the mark says the truth. */
import test from 'ava'
import { appendFileSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../../../core/base/errors.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { readWatermark, writeWatermark } from '../../../../core/state/format/watermark.js'
import { createHeldDisk } from '../../../support/held-disk.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'
import { createWrappedDisk, diskError } from '../../../../core/testing/wrapped-disk.js'

const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error))
const lastSegment = (root: string): string => join(root, 'log', readdirSync(join(root, 'log')).toSorted().at(-1) ?? '')
const markOf = (root: string) => readWatermark(createDisk(), join(root, 'watermark.json')).watermark

test('a close waits for what was taken, takes nothing more, and marks the sequence that the log ends with', async (t) => {
  const root = tempRoot(t)
  const held = createHeldDisk()
  const { state, notes, close } = await openNotes(root, { disk: held.disk })
  held.hold()
  const taken = state.commit((tx) => tx.insert(notes, note(1)))
  await held.reached()
  const waiting = state.commit((tx) => tx.insert(notes, note(2)))
  const closed = close()
  t.is(state.health.mode, 'closed')
  t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(3))))), 'storage_read_only')
  await t.throwsAsync(state.document('settings').write({ n: 1 }), { code: 'storage_read_only' })
  held.release()
  await Promise.all([taken, waiting])
  t.true(await closed)
  t.like(markOf(root), { clean: true, sequence: 2 })
  const again = await openNotes(root)
  t.is(again.report.damage, undefined)
  t.deepEqual(
    [1, 2, 3].map((n) => again.notes.has(`n${n}`)),
    [true, true, false],
  )
  await again.close()
})

test('a loop that commits all the time while the state closes loses nothing that was acknowledged', async (t) => {
  const root = tempRoot(t)
  const { state, notes, close } = await openNotes(root)
  const acknowledged: string[] = []
  const loop = async (): Promise<string> => {
    for (let n = 0; ; n += 1) {
      try {
        await state.commit((tx) => tx.insert(notes, note(n)))
        acknowledged.push(`n${n}`)
      } catch (error) {
        return codeOf(error)
      }
    }
  }
  const ended = loop()
  while (acknowledged.length < 5) await state.durable()
  t.true(await close())
  t.is(await ended, 'storage_read_only')
  const again = await openNotes(root)
  t.is(again.report.damage, undefined)
  t.is(again.report.replayed, 0)
  t.deepEqual(
    acknowledged.filter((id) => !again.notes.has(id)),
    [],
  )
  await again.close()
})

test('sound lines behind a clean mark of their generation are replayed, and what is torn behind them is cut', async (t) => {
  const root = tempRoot(t)
  const first = await openNotes(root)
  for (let n = 1; n <= 3; n += 1) await first.state.commit((tx) => tx.insert(first.notes, note(n)))
  const mark = markOf(root)
  if (mark === undefined) return t.fail()
  await writeWatermark(createDisk(), join(root, 'watermark.json'), { ...mark, sequence: 2, clean: true })
  const file = lastSegment(root)
  const { size } = statSync(file)
  appendFileSync(file, '{"s":4')
  const second = await openNotes(root)
  t.is(second.report.damage, undefined)
  t.is(second.report.replayed, 3)
  t.is(second.report.torn?.bytes, 6)
  t.is(statSync(file).size, size)
  t.true(second.notes.has('n3'))
  t.is(second.state.health.mode, 'ok')
  t.true(await second.close())
})

test('a close after a failed sync does not call itself clean', async (t) => {
  const root = tempRoot(t)
  let fails = false
  const { disk } = createWrappedDisk((call, path) => {
    if (fails && call === 'sync' && path.includes('/log/')) throw diskError('EIO')
  })
  const { state, notes, close } = await openNotes(root, { disk })
  await state.commit((tx) => tx.insert(notes, note(1)))
  fails = true
  t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(2))))), 'storage_sync_failed')
  const before = readFileSync(join(root, 'watermark.json'))
  t.false(await close())
  t.deepEqual(readFileSync(join(root, 'watermark.json')), before)
})
