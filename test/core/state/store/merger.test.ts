import test from 'ava'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Disk } from '../../../../core/state/disk/disk.js'
import type { Manifest } from '../../../../core/state/format/manifest.js'
import { unseal } from '../../../../core/state/format/sealed.js'
import { note, openNotes, tempRoot, type OpenNotes } from '../../../support/notes.js'
import { createWrappedDisk, diskError, type DiskCall } from '../../../../core/testing/wrapped-disk.js'
import { createLatch } from '../../../support/latch.js'

const tuning = { tables: { blockRows: 8, levelRows: 64, fanOut: 2, fullRows: 10_000 } }

/** Tables of the notes that the manifest names, and that are there. */
const tablesOf = (root: string): { readonly named: number; readonly there: number } => ({
  named: unseal<Manifest>(readFileSync(join(root, 'manifest.json')))?.collections['notes']?.tables.length ?? 0,
  there: tableNames(root).length,
})

const tableNames = (root: string): readonly string[] =>
  readdirSync(join(root, 'data', 'notes')).filter((name) => name.startsWith('index-'))

const idsOf = ({ notes }: OpenNotes): readonly string[] => notes.ids('by_owner', 'ann')

/** Notes that come with checkpoints; `merging` is told of calls for tables that no checkpoint makes. */
const createWriter = (merging: (call: DiskCall) => void | Promise<void>) => {
  let isInside = false
  let next = 0
  const { disk } = createWrappedDisk((call, path) =>
    !isInside && path.includes('/notes/index-') ? merging(call) : undefined,
  )
  const write = async (opened: OpenNotes): Promise<boolean> => {
    await opened.state.commit((tx) => {
      for (let n = 0; n < 20; n += 1) tx.insert(opened.notes, note((next += 1), { done: true }))
    })
    isInside = true
    const isWritten = await opened.checkpoint()
    isInside = false
    return isWritten
  }
  const writeUntil = async (opened: OpenNotes, isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) {
      await write(opened)
      for (let turns = 0; turns < 50; turns += 1) await setImmediate()
    }
  }
  return { disk, write, writeUntil }
}

const reopen = async (root: string, disk: Disk): Promise<OpenNotes> => openNotes(root, { disk, tuning })

test('state-31: tables that have become many become one beside checkpoints, which do not wait for it', async (t) => {
  const root = tempRoot(t)
  const latch = createLatch()
  let isFirst = true
  const { disk, write, writeUntil } = createWriter((call) => {
    if (call !== 'sync' || !isFirst) return
    isFirst = false
    return latch.wait()
  })
  const opened = await reopen(root, disk)
  t.true(await write(opened))
  t.true(await write(opened))
  await latch.reached
  const waiting = [...tableNames(root)]
  t.is(waiting.length, 3)
  t.true(await write(opened))
  await writeUntil(opened, () => tablesOf(root).named < idsOf(opened).length / 20)
  t.true(
    waiting.every((name) => tableNames(root).includes(name)),
    'newer ones became one, and the first still wait',
  )
  t.deepEqual(readdirSync(join(root, 'log')).length, 1)
  const before = idsOf(opened)
  latch.open()
  await writeUntil(opened, () => !waiting.every((name) => tableNames(root).includes(name)))
  t.deepEqual(idsOf(opened).slice(0, before.length), before)
  t.truthy(opened.notes.find('n1'))
  const seen = idsOf(opened)
  await opened.close()
  t.is(tablesOf(root).there, tablesOf(root).named)
  const again = await reopen(root, disk)
  t.deepEqual(again.report.swept, [])
  t.deepEqual(idsOf(again), seen)
  await again.close()
})

test('state-31: tables that cannot become one stay as they are, and it is tried again', async (t) => {
  const root = tempRoot(t)
  let isFull = true
  let refused = 0
  const { disk, write, writeUntil } = createWriter((call) => {
    if (!isFull || call !== 'write') return
    refused += 1
    throw diskError('ENOSPC')
  })
  const opened = await reopen(root, disk)
  await writeUntil(opened, () => refused > 0)
  const { named } = tablesOf(root)
  t.true(await write(opened))
  t.true(opened.state.health.writeErrors > 0)
  t.is(opened.state.health.mode, 'ok')
  t.is(tablesOf(root).named, named + 1)
  const before = idsOf(opened)
  await writeUntil(opened, () => tablesOf(root).named > 12)
  t.true(refused < 8, `${refused} tries: each failure lets more checkpoints pass`)
  isFull = false
  await writeUntil(opened, () => tablesOf(root).named < 4)
  t.deepEqual(idsOf(opened).slice(0, before.length), before)
  await opened.close()
  t.is(tablesOf(root).there, tablesOf(root).named)
})

test('state-31: what became one outlives a checkpoint that fails', async (t) => {
  const root = tempRoot(t)
  let isFull = false
  const { disk } = createWrappedDisk((call, path) => {
    if (isFull && call === 'write' && path.includes('/page-')) throw diskError('ENOSPC')
  })
  const opened = await reopen(root, disk)
  let next = 0
  const write = async (): Promise<boolean> => {
    await opened.state.commit((tx) => tx.insert(opened.notes, note((next += 1), { done: true })))
    return opened.checkpoint()
  }
  t.true(await write())
  t.true(await write())
  while (tablesOf(root).there < 3) await setImmediate()
  for (let turns = 0; turns < 200; turns += 1) await setImmediate()
  isFull = true
  t.false(await write())
  isFull = false
  t.true(await write())
  t.is(tablesOf(root).named, 2)
  await opened.close()
  const again = await reopen(root, disk)
  t.deepEqual(again.report.rebuilt, [])
  t.deepEqual(idsOf(again), ['n1', 'n2', 'n3', 'n4'])
  await again.close()
})

test('state-13: a failed sync of a table that others became is one: the daemon only reads', async (t) => {
  const root = tempRoot(t)
  const { disk, writeUntil } = createWriter((call) => {
    if (call === 'sync') throw diskError('EIO')
  })
  const opened = await reopen(root, disk)
  await writeUntil(opened, () => opened.state.health.mode !== 'ok').catch(() => undefined)
  t.is(opened.state.health.reason, 'sync_failed')
  const seen = idsOf(opened)
  await opened.close()
  const again = await openNotes(root)
  t.deepEqual(idsOf(again), seen)
  await again.close()
})
