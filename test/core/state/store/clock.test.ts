/** A wall clock that jumps, between lives and within one. */
import test from 'ava'
import { createClock, type Clock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

const today = Date.UTC(2026, 5, 1)
const farAhead = Date.UTC(2041, 0, 1)
const hour = 3_600_000

const wallAt = (start: number): Clock & { at: number } => {
  const clock = { ...createClock(), at: start, now: () => clock.at }
  return clock
}

const openAt = async (root: string, at: number) => {
  const clock = wallAt(at)
  const ids = createIds(clock)
  const opened = await openNotes(root, { clock, ids })
  const write = (): Promise<{ id: string; now: number }> =>
    opened.state.commit((tx) => {
      const id = ids.make('note')
      tx.insert(opened.notes, note(1, { id }))
      return { id, now: tx.now }
    })
  return { ...opened, clock, write }
}

test('ids of a life with a slow clock sort behind those of the lives before it, from log and from pages', async (t) => {
  const root = tempRoot(t)
  const made: string[] = []
  const lives = [today, today - hour, farAhead, today, today - 2 * hour]
  for (const [life, at] of lives.entries()) {
    const { write, checkpoint, close } = await openAt(root, at)
    for (let n = 0; n < 1200; n += 300)
      made.push(...(await Promise.all(Array.from({ length: 300 }, write))).map((one) => one.id))
    if (life % 2 === 0) await checkpoint()
    await close()
  }
  t.deepEqual(made.toSorted(), made)
})

test('a name that people chose and that looks like a later id hides none of those that were made here', async (t) => {
  const root = tempRoot(t)
  const first = await openAt(root, today)
  const { id } = await first.write()
  const chosen = note(2, { id: 'run_01uuuuuuuuuuuuuuuuuuuuuuuu' })
  await first.state.commit((tx) => tx.insert(first.notes, chosen))
  await first.close()
  const second = await openAt(root, today - hour)
  t.true((await second.write()).id > id)
  await second.close()
})

test('state-10: a clock that was set back by a little is waited for, within a life and over a restart', async (t) => {
  const root = tempRoot(t)
  const first = await openAt(root, today)
  t.is((await first.write()).now, today)
  first.clock.at -= 30_000
  t.is((await first.write()).now, today)
  await first.close()
  const second = await openAt(root, today - 20_000)
  t.is((await second.write()).now, today)
  await second.close()
})

test('one commit with a clock that is far ahead leaves the stamps of later commits alone', async (t) => {
  const root = tempRoot(t)
  const first = await openAt(root, farAhead)
  await first.write()
  first.clock.at = today
  t.is((await first.write()).now, today)
  first.clock.at = farAhead
  await first.write()
  await first.checkpoint()
  await first.close()
  const second = await openAt(root, today)
  t.is((await second.write()).now, today)
  await second.close()
})
