/** What happens while something falls: it is written to, and its disk is full. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { randomBytes } from 'node:crypto'
import test from 'ava'
import { measure } from '../../../core/retention/bytes.js'
import type { Policy } from '../../../core/retention/policy.js'
import { createRetention } from '../../../core/retention/retention.js'
import type { Beside } from '../../../core/state/contract.js'
import type { Disk } from '../../../core/state/disk/disk.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { freshRoot } from '../../support/folders.js'
import { kind, openKept, verifyKept, type KeptNotes } from '../../support/kept-notes.js'
import { tempRoot } from '../../support/notes.js'

const hour = 3_600_000
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const retentionOf = (life: KeptNotes, disk: Disk, more: Partial<Policy>) => {
  const policy = { minAge: hour, unknown: [], kinds: new Map([[kind, { isPromise: false }]]), ...more }
  const { root, clock, ids, state } = life
  return createRetention({ root, rootId: 'ba21', disk, clock, ids, log, state, policy })
}
const textOf = (path: string): string => gunzipSync(readFileSync(path)).toString('utf8')

test('retention-5: what is written while its partition is archived neither falls nor is lost', async (t) => {
  const root = tempRoot(t)
  const archiveDir = await freshRoot()
  mkdirSync(archiveDir, { recursive: true })
  const life = await openKept(root)
  const old = await life.write()
  await life.checkpoint()
  life.clock.advance(3 * hour)
  const young: string[] = []
  const busy: Disk = {
    ...createDisk(),
    open: async (path, how) => {
      if (path.endsWith('.part')) {
        young.push((await life.write()).id)
        await life.checkpoint()
      }
      return createDisk().open(path, how)
    },
  }
  const maxBytes = (await measure(createDisk(), root)).total - 1
  const { fallen, failed } = await retentionOf(life, busy, { archiveDir, maxBytes }).run()
  t.deepEqual(failed, [])
  t.like(fallen, [{ kind, records: 1, cause: 'bytes', from: old.at, to: old.at }])
  t.is(young.length, 1)
  t.deepEqual(life.notes.ids('all', 'all'), young)
  const archived = textOf(fallen[0]?.archive ?? '')
  t.true(archived.includes(old.id))
  t.false(archived.includes(young[0] ?? ''))
  await life.close()
  t.deepEqual((await verifyKept(root)).findings, [])
})

/** Four partitions of about the same size, of which one has to fall; the oldest are old enough. */
const tooLarge = async (root: string) => {
  const life = await openKept(root)
  for (let n = 0; n < 5; n += 1) {
    await life.write({ text: randomBytes(100_000).toString('hex') })
    await life.checkpoint()
    life.pass()
  }
  const { total } = await measure(createDisk(), root)
  const [size = 0] = life.state.retention
    .kinds()
    .flatMap(({ partitions: [oldest] }) => oldest?.shares.reduce((sum, { bytes }) => sum + bytes, 0) ?? [])
  return { life, policy: { maxBytes: total - Math.floor(size / 2) } }
}

for (const [when, during] of [
  ['at once', (_, work) => work()],
  ['while somebody copies what fell', (life, work) => life.snapshot(work)],
] as const satisfies [string, (life: KeptNotes, work: () => Promise<void>) => Promise<void>][])
  test(`retention-8: what fell is not counted again by whoever asks for room ${when}`, async (t) => {
    const { life, policy } = await tooLarge(tempRoot(t))
    const retention = retentionOf(life, createDisk(), policy)
    await retention.usage.report()
    await during(life, async () => {
      const first = await retention.run()
      t.like(first, { fallen: [{ kind, records: 1, cause: 'bytes' }], failed: [], stays: [] })
      t.is(first.fallen.length, 1)
      t.deepEqual((await retention.due()).falls, [])
      t.deepEqual((await retention.run()).fallen, [])
      writeFileSync(join(life.root, 'later'), 'What goes behind a fall changes the root too.')
      t.is((await retention.usage.report()).root_bytes, (await measure(createDisk(), life.root)).total)
    })
    t.true((await measure(createDisk(), life.root)).total <= policy.maxBytes)
    await life.close()
  })

test('a kind that nobody leads now, and a root that is too large still, are told', async (t) => {
  const life = await openKept(tempRoot(t))
  await life.write()
  await life.checkpoint()
  const unled = retentionOf(life, createDisk(), { kinds: new Map() })
  const { falls, stays } = await unled.due()
  t.deepEqual(falls, [])
  t.regex(stays[0]?.sentence ?? '', /^notes: .* KiB stay: nobody declares what leads it now: a plugin is missing\.$/u)
  t.is(unled.report().kinds[kind]?.stays_because, stays[0]?.sentence)
  const { total } = await measure(createDisk(), life.root)
  const large = retentionOf(life, createDisk(), { maxBytes: total - 1 })
  const [young, over] = (await large.due()).stays
  t.regex(young?.sentence ?? '', /stay: It is younger than min_age\.$/u)
  t.regex(over?.sentence ?? '', /^The root holds .* more than max_bytes, and nothing else of it may fall/u)
  t.like(large.warnings(), [{ code: 'max_bytes_exceeded', message: `${over?.sentence} ${young?.sentence}` }])
  t.regex(large.warnings()[0]?.action ?? '', /or let go of what stays\. .*: holdfast state retention --dry-run$/u)
  await life.close()
})

test('retention-10: where all history would not make the room, none of it falls for that, and a warning says so', async (t) => {
  const { life } = await tooLarge(tempRoot(t))
  const retention = retentionOf(life, createDisk(), { maxBytes: 1 })
  const { fallen, stays } = await retention.run()
  t.deepEqual(fallen, [])
  const [told] = stays
  t.regex(told?.sentence ?? '', /^The root holds .* more than max_bytes\. What cannot fall, such as stored files, is /u)
  t.like(retention.warnings(), [{ code: 'max_bytes_out_of_reach', message: told?.sentence }])
  t.is(life.notes.count('all', 'all'), 5)
  await life.close()
})

/** Days of a note and of much more in the journal, of which an open note holds what was written since the third. */
const heldSinceThird = async (root: string) => {
  const life = await openKept(root)
  for (let n = 0; n < 7; n += 1) {
    const done = await life.write({ text: randomBytes(5_000).toString('hex') })
    await life.state.commit((tx) => tx.append(life.journal, done.owner, randomBytes(100_000).toString('hex')))
    if (n === 2) await life.write({ done: false })
    await life.checkpoint()
    life.pass()
  }
  return { life, total: (await measure(createDisk(), root)).total }
}

test('retention-10: what a record holds is no room, and one fall is enough', async (t) => {
  const { life, total } = await heldSinceThird(tempRoot(t))
  const policy = { maxBytes: total - 650_000 }
  const retention = retentionOf(life, createDisk(), policy)
  const { fallen, stays } = await retention.run()
  t.like(fallen, [{ kind, records: 4 }], 'two with their journal and two without, not three')
  t.true((await measure(createDisk(), life.root)).total <= policy.maxBytes)
  t.regex(stays[0]?.sentence ?? '', /^notes: .* KiB stay because kept_notes note_.* can still change/u)
  t.deepEqual((await retention.run()).fallen, [])
  t.deepEqual(retention.warnings(), [])
  await life.close()
})

test('retention-10: that a record holds so much that the root stays too large is a warning before the fall and behind it', async (t) => {
  const { life, total } = await heldSinceThird(tempRoot(t))
  const retention = retentionOf(life, createDisk(), { maxBytes: total - 1_200_000 })
  const exceeded = () => retention.warnings().find(({ code }) => code === 'max_bytes_exceeded')?.message ?? ''
  const why = /^The root holds .* more than max_bytes, .* stay because kept_notes note_.* can still change/u
  await retention.due()
  t.regex(exceeded(), why)
  const { stays } = await retention.run()
  t.regex(exceeded(), why)
  t.true(stays.some(({ sentence }) => sentence.startsWith('The root holds')))
  await life.close()
})

/** As if so many bytes of something went behind each partition, and some were on their way out. */
const withBeside = (life: KeptNotes, beside: () => Beside): KeptNotes => {
  const retention = { ...life.state.retention, beside: () => Promise.resolve(beside()) }
  const state: KeptNotes['state'] = Object.create(life.state, { retention: { value: retention } })
  return { ...life, state }
}

test('retention-10: what goes behind a fall makes room too, and what is on its way out is not counted again', async (t) => {
  const { life, policy } = await tooLarge(tempRoot(t))
  const parts = new Map([1, 2, 3, 4, 5].map((no) => [no, 1_000_000]))
  let gone = 0
  const own = withBeside(life, () => ({ gone, parts }))
  // Of their own bytes four of the five would have to fall.
  const few = retentionOf(own, createDisk(), { maxBytes: policy.maxBytes - 700_000 })
  const { falls } = await few.due()
  t.like(falls, [{ upto: 1, records: 1, beside: 1_000_000 }])
  t.like(await few.run(), { fallen: [{ records: 1 }] })
  gone = 1_000_000
  t.deepEqual((await few.run()).fallen, [])
  t.is(life.notes.count('all', 'all'), 4)
  await life.close()
})

test('what falls makes room on a full disk, with the room that was kept for that', async (t) => {
  const root = tempRoot(t)
  const ballast = await openKept(root, { tuning: { ballastBytes: 4096 } })
  await ballast.write()
  await ballast.close()
  const real = createDisk()
  const isFull = (): boolean => real.stat(join(root, 'ballast')) !== undefined
  const refuse = (): Promise<never> => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))
  let fills = false
  const disk: Disk = {
    ...real,
    space: (path) => (fills ? { free: isFull() ? 0 : 1, type: 0 } : real.space(path)),
    replace: (path, bytes) => (fills && isFull() ? refuse() : real.replace(path, bytes)),
    open: (path, how) => (fills && isFull() && how === 'create' ? refuse() : real.open(path, how)),
  }
  const life = await openKept(root, { disk, tuning: { ballastBytes: 4096, freeBytes: 10 } })
  fills = true
  life.clock.advance(3 * hour)
  await t.throwsAsync(life.state.document('x').write({}), { code: 'storage_write_failed' })
  t.is(life.state.health.reason, 'disk_full')
  const kinds = new Map([[kind, { isPromise: false, maxAge: 2 * hour }]])
  const { fallen, failed } = await retentionOf(life, disk, { kinds }).run()
  t.deepEqual(failed, [])
  t.like(fallen, [{ kind, records: 1 }])
  t.deepEqual(life.notes.ids('all', 'all'), [])
  t.is(life.state.health.reason, 'disk_full', 'there is still no room for others')
  await life.close()
})
