import test, { type ExecutionContext } from 'ava'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBlobs } from '../../../../core/state/side/blobs.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'

const place = (t: ExecutionContext) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'holdfast-blobs-')), 'blobs')
  t.teardown(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  const calls: string[] = []
  const real = createDisk()
  /** Reads of the event loop, and files that a thread was given. */
  const reads = { pieces: 0, digested: 0 }
  const disk: Disk = {
    ...real,
    openSync: (path) => {
      const file = real.openSync(path)
      return {
        ...file,
        read: (position, length) => {
          reads.pieces += 1
          return file.read(position, length)
        },
        get system() {
          const system = file.system ?? t.fail()
          return {
            stamp: system.stamp,
            get fd() {
              reads.digested += 1
              return system.fd
            },
          }
        },
      }
    },
    replace: (path, bytes) => {
      calls.push(path)
      return real.replace(path, bytes)
    },
  }
  const open = (write?: () => Promise<void>) => {
    const blobs = createBlobs({ folder, disk, ...(write && { write }) })
    t.teardown(blobs.close)
    return blobs
  }
  return { folder, calls, reads, open }
}
const pathOf = (folder: string, sha256: string): string => join(folder, 'assets', sha256.slice(0, 2), sha256)

test('bytes come back by their content, also for the next life, and are named by their digest', async (t) => {
  const { folder, open } = place(t)
  const bytes = randomBytes(70_000)
  const ref = await open().area('assets').put(bytes)
  t.deepEqual(ref, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: 70_000 })
  const again = open().area('assets')
  t.true(again.has(ref))
  t.deepEqual(Buffer.from((await again.read(ref)) ?? []), bytes)
  t.deepEqual(readFileSync(pathOf(folder, ref.sha256)), bytes)
  const empty = await again.put(new Uint8Array())
  t.is((await again.read(empty))?.length, 0)
})

test('equal content is written once, and again in the next life, which cannot know that it is on disk', async (t) => {
  const { calls, open } = place(t)
  const area = open().area('assets')
  await Promise.all(Array.from({ length: 8 }, () => area.put(Buffer.from('same'))))
  t.is(calls.length, 1)
  await open().area('assets').put(Buffer.from('same'))
  t.is(calls.length, 2)
})

test('absent bytes are undefined, and so is a digest that is none', async (t) => {
  const area = place(t).open().area('assets')
  for (const sha256 of ['0'.repeat(64), '../../root.json', 'A'.repeat(64), '']) {
    t.is(await area.read({ sha256, bytes: 1 }), undefined)
    t.false(area.has({ sha256, bytes: 1 }))
    await t.notThrowsAsync(area.remove({ sha256, bytes: 1 }))
  }
})

test('state-17: every changed bit and every wrong length is a problem, never bytes', async (t) => {
  const { folder, open } = place(t)
  const area = open().area('assets')
  const good = Buffer.from('whole bytes')
  const ref = await area.put(good)
  const path = pathOf(folder, ref.sha256)
  const variants = Array.from({ length: good.length * 8 }, (_, bit) => {
    const bad = Buffer.from(good)
    bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return bad
  })
  for (const bad of [...variants, good.subarray(1), Buffer.alloc(0), Buffer.concat([good, good])]) {
    writeFileSync(path, bad)
    await t.throwsAsync(area.read(ref), { code: 'blob_damaged' })
  }
  writeFileSync(path, good)
  await t.notThrowsAsync(area.read(ref))
})

test('bytes that were found damaged or absent are there again once they are stored again', async (t) => {
  const { folder, open } = place(t)
  const area = open().area('assets')
  const ref = await area.put(Buffer.from('kept'))
  writeFileSync(pathOf(folder, ref.sha256), 'cept')
  await t.throwsAsync(area.read(ref), { code: 'blob_damaged' })
  await area.put(Buffer.from('kept'))
  t.is(Buffer.from((await area.read(ref)) ?? []).toString(), 'kept')
  rmSync(pathOf(folder, ref.sha256))
  t.is(await area.read(ref), undefined)
  await area.put(Buffer.from('kept'))
  t.is(Buffer.from((await area.read(ref)) ?? []).toString(), 'kept')
})

test('removed bytes are gone and can be stored again', async (t) => {
  const { open } = place(t)
  const area = open().area('assets')
  const ref = await area.put(Buffer.from('short life'))
  await area.remove(ref)
  t.false(area.has(ref))
  t.is(await area.read(ref), undefined)
  await Promise.all([area.put(Buffer.from('short life')), area.remove(ref), area.put(Buffer.from('short life'))])
  t.true(area.has(ref))
})

test('half-written files are swept, areas are apart, and nothing is written while storage refuses', async (t) => {
  const { folder, open } = place(t)
  const blobs = open()
  const ref = await blobs.area('assets').put(Buffer.from('x'))
  const half = `${pathOf(folder, ref.sha256)}.99`
  writeFileSync(half, 'hal')
  t.deepEqual(await blobs.sweep(), [half])
  t.is(await blobs.area('previews').read(ref), undefined)
  t.is(blobs.area('assets'), blobs.area('assets'))
  t.throws(() => blobs.area('../log'), { message: /no name/u })
  const refusing = open(() => Promise.reject(new TypeError('refused'))).area('later')
  await t.throwsAsync(refusing.put(Buffer.from('y')), { message: 'refused' })
  t.deepEqual(readdirSync(folder), ['assets'])
})

test('what is in an area is listed with its lengths, named or not', async (t) => {
  const { open } = place(t)
  const area = open().area('assets')
  t.deepEqual([...area.refs()], [])
  const refs = [await area.put(Buffer.from('one')), await area.put(Buffer.from('three'))]
  await open().area('others').put(Buffer.from('four'))
  const sorted = (all: readonly { sha256: string }[]): unknown[] =>
    [...all].toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
  t.deepEqual(sorted([...area.refs()]), sorted(refs))
  await area.remove(refs[0] ?? t.fail())
  t.deepEqual([...area.refs()], refs.slice(1))
})

test('a blob is read in pieces from any place on, each verified once more', async (t) => {
  const { folder, open } = place(t)
  const area = open().area('assets')
  const bytes = randomBytes(700_000)
  const ref = await area.put(bytes)
  const opened = (await area.open(ref)) ?? t.fail()
  const read = (start: number, end: number): Buffer => Buffer.concat([...opened.pieces(start, end)])
  for (const [start, end] of [
    [0, 700_000],
    [0, 1],
    [262_143, 262_145],
    [262_144, 524_288],
    [699_999, 700_000],
    [5, 5],
  ] as const)
    t.true(read(start, end).equals(bytes.subarray(start, end)), `${start} to ${end}`)
  t.true([...opened.pieces(0, 700_000)].every(({ length }) => length <= 262_144))
  const bad = Buffer.from(bytes)
  bad[600_000] = (bad[600_000] ?? 0) ^ 1
  writeFileSync(pathOf(folder, ref.sha256), bad)
  t.true(read(0, 524_288).equals(bytes.subarray(0, 524_288)))
  t.throws(() => read(524_287, 524_289), { code: 'blob_damaged' })
  await opened.close()
  await t.throwsAsync(area.open(ref), { code: 'blob_damaged' })
  t.is(await area.open({ ...ref, sha256: '0'.repeat(64) }), undefined)
})

test('the digest of large bytes is made between turns of the event loop', async (t) => {
  const area = place(t).open().area('assets')
  let turns = 0
  const count = (): void => void ((turns += 1), (turn = setImmediate(count)))
  let turn = setImmediate(count)
  await area.put(Buffer.alloc(12 * 1024 * 1024))
  clearImmediate(turn)
  t.true(turns >= 47, `${turns} turns`)
})

test('state-32: a large file is read and digested beside the event loop, and once while it is unchanged', async (t) => {
  const { folder, open, reads } = place(t)
  const area = open().area('assets')
  const bytes = randomBytes(3_000_000)
  const ref = await area.put(bytes)
  const look = async (): Promise<void> => (await area.open(ref))?.close()
  await Promise.all(Array.from({ length: 20 }, look))
  t.deepEqual(reads, { pieces: 0, digested: 1 })
  await look()
  t.deepEqual(reads, { pieces: 0, digested: 1 })
  bytes[2_900_000] = (bytes[2_900_000] ?? 0) ^ 1
  writeFileSync(pathOf(folder, ref.sha256), bytes)
  await t.throwsAsync(look(), { code: 'blob_damaged' })
  t.deepEqual(reads, { pieces: 0, digested: 2 })
})
