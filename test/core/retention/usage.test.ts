import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { measure } from '../../../core/retention/bytes.js'
import { sampleEvery } from '../../../core/retention/growth.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import type { Disk } from '../../../core/state/disk/disk.js'
import { showStatus, StatusAnswer } from '../../../plugins/operator/status/summary.js'
import { parse } from '../../../core/base/parse.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { createLeapingClock, type LeapingClock } from '../../../core/testing/leaping-clock.js'

const gigabyte = 1024 ** 3
const day = 86_400_000

/** A disk with one gigabyte free above what the daemon keeps for itself. */
const roomy: Disk = { ...createDisk(), space: () => ({ free: gigabyte + 64 * 1024 ** 2, type: 0 }) }

const usageOf = async ({ request }: TestDaemon) => (await request('GET', '/v1/status')).body.storage.usage
const samplesIn = (root: string): readonly unknown[] => {
  try {
    return JSON.parse(readFileSync(join(root, 'documents/retention.json'), 'utf8')).samples
  } catch {
    return []
  }
}
/** Makes the clock leap until the daemon has taken so many samples. */
const untilSampled = async (root: string, clock: LeapingClock, count: number): Promise<void> => {
  while (samplesIn(root).length < count) {
    clock.leap(3_600_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const grow = (root: string, name: string, bytes: number): void => {
  mkdirSync(join(root, 'blobs/growth'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'blobs/growth', name), '')
  truncateSync(join(root, 'blobs/growth', name), bytes)
}

test('the bytes of every file count, each in its area', async (t) => {
  const root = await freshRoot()
  for (const [folder, bytes] of [
    ['.', 1],
    ['log', 10],
    ['data/runs', 100],
    ['blobs/debug/ab', 1000],
  ] as const) {
    mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, folder, 'file'), Buffer.alloc(bytes))
    if (folder === 'data/runs') writeFileSync(join(root, folder, 'other'), Buffer.alloc(5))
  }
  const { total, areas } = await measure(createDisk(), root)
  t.is(total, 1116)
  t.deepEqual(Object.fromEntries(areas), { '': 1, log: 10, 'data/runs': 105, 'blobs/debug': 1000 })
})

/** What it says and what is there, with nothing written in between: a start writes for a moment. */
const atRest = async (daemon: TestDaemon) => {
  for (let tries = 1; ; tries += 1) {
    const usage = await usageOf(daemon)
    const there = await measure(createDisk(), daemon.root)
    if (usage.root_bytes === there.total || tries === 300) return { usage, there }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('retention-1: the status says how many bytes the root holds, and that its growth is not known yet', async (t) => {
  const daemon = await startTestDaemon(t, { disk: roomy })
  const { usage, there } = await atRest(daemon)
  const { root_bytes, free_bytes, log_bytes, forecast, growth_bytes_per_day } = usage
  const { total, areas } = there
  t.is(root_bytes, total)
  t.is(log_bytes, areas.get('log'))
  t.is(free_bytes, gigabyte + 64 * 1024 ** 2)
  t.deepEqual([forecast, growth_bytes_per_day], ['unknown', undefined])
})

test('retention-1: from some samples, kept over restarts, it says how fast the root grows and when the disk is full', async (t) => {
  const [clock, root] = [createLeapingClock(), await freshRoot()]
  const first = await startTestDaemon(t, { clock, disk: roomy, root })
  await untilSampled(root, clock, 1)
  await first.stop()
  const second = await startTestDaemon(t, { clock, disk: roomy, root })
  clock.leap(day)
  grow(root, 'one', 400 * 1024 ** 2)
  const { forecast, growth_bytes_per_day, full_at_ms, measured_at_ms } = await usageOf(second)
  t.is(forecast, 'full_at')
  const days = (gigabyte / growth_bytes_per_day) * day
  t.true(Math.abs(full_at_ms - measured_at_ms - days) < 1000, `${full_at_ms - measured_at_ms} and ${days}`)
  t.true(growth_bytes_per_day > 200 * 1024 ** 2 && growth_bytes_per_day < 402 * 1024 ** 2, `${growth_bytes_per_day}`)
  const { body } = await second.request('GET', '/v1/status')
  const [warning] = body.health.warnings.filter(({ code }: { code: string }) => code === 'disk_full_soon')
  t.regex(warning.message, /grows by \d\d\d MiB a day: at this rate its disk is full on \d{4}-\d\d-\d\d/u)
  const parsed = parse(StatusAnswer, body)
  t.true(parsed.ok)
  if (parsed.ok)
    t.regex(showStatus(parsed.value), / disk +40\d MiB in the state root, 1\.1 GiB free, grows by .* a day, full on/u)
  grow(root, 'one', 0)
})

test('retention-1: samples are six hours apart and bounded, however long the daemon lives', async (t) => {
  const [clock, root] = [createLeapingClock(), await freshRoot()]
  await startTestDaemon(t, { clock, root })
  await untilSampled(root, clock, 3)
  const at: number[] = samplesIn(root).map((sample: any) => sample.at_ms)
  t.true(at.every((one, place) => place === 0 || one - (at[place - 1] ?? 0) >= sampleEvery))
})
