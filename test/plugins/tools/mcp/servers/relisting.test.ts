import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { createRelisting } from '../../../../../plugins/tools/mcp/servers/relisting.js'

/** Sleeps are noted and over at once. */
const start = () => {
  const slept: number[] = []
  let elapsed = 0
  const clock = {
    ...createClock(),
    elapsed: () => elapsed,
    sleep: async (ms: number) => {
      slept.push(Math.round(ms))
      await setImmediate()
      return true
    },
  }
  const told: unknown[] = []
  const ended = new AbortController()
  const relisting = createRelisting({ clock, signal: ended.signal, onRead: (error) => told.push(error) })
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 40; turns += 1) await setImmediate()
  }
  return { relisting, slept, told, ended, settle, work: (ms: number) => void (elapsed += ms) }
}

test('mcp-7: changes before the first list, and while a list is read, are read', async (t) => {
  const { relisting, told, settle } = start()
  let reads = 0
  relisting.changed()
  await settle()
  relisting.begin(async () => {
    reads += 1
    if (reads === 1) relisting.changed()
    await setImmediate()
    if (reads === 1) relisting.changed()
  })
  await settle()
  t.is(reads, 2)
  t.deepEqual(told, [undefined, undefined])
  relisting.changed()
  relisting.changed()
  await settle()
  t.is(reads, 3, 'changes that come together are one')
})

test('mcp-7: a change that cannot be read is told of, and read again later and later', async (t) => {
  const { relisting, slept, told, settle } = start()
  let reads = 0
  relisting.begin(async () => {
    reads += 1
    if (reads < 4) throw new Error(`failure ${reads}`)
  })
  relisting.changed()
  await settle()
  t.deepEqual(slept, [50, 1_000, 2_000, 4_000])
  t.deepEqual(
    told.map((error) => (error instanceof Error ? error.message : error)),
    ['failure 1', 'failure 2', 'failure 3', undefined],
  )
})

test('mcp-23: a server that tells of changes without an end is listed for a fifth of the time', async (t) => {
  const { relisting, slept, ended, settle, work } = start()
  let reads = 0
  relisting.begin(async () => {
    reads += 1
    work(500)
    relisting.changed()
    if (reads === 4) ended.abort()
  })
  relisting.changed()
  await settle()
  t.deepEqual([reads, slept], [4, [50, 2_000, 2_000, 2_000, 2_000]])
})
