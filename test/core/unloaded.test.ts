/** A root whose state could not be loaded is not served as an empty one. */
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { copyRoot } from '../support/crash.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { showStatus } from '../../plugins/operator/status/summary.js'
import { codeOf, openSession } from '../support/runs.js'
import { note, openNotes, tempRoot } from '../support/notes.js'

const flip = (path: string, at = 40): void => {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test('state-20: a daemon whose manifest is damaged serves status and probes, and nothing of the state', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  await first.stop()
  flip(join(root, 'manifest.json'))
  const { request, stop } = await startTestDaemon(t, { root })
  for (const path of ['/readyz', '/v1/sessions', '/v1/sessions/s1', '/v1/runs', '/v1/events/stream'])
    t.deepEqual(codeOf(await request('GET', path)), [503, 'storage_damaged'], path)
  t.deepEqual(codeOf(await request('POST', '/v1/sessions', { session_id: 's2' })), [503, 'storage_damaged'])
  t.is((await request('GET', '/healthz')).status, 200)
  const { body } = await request('GET', '/v1/status')
  t.like(body, { ready: false, storage: { ok: false }, health: { ok: false } })
  t.deepEqual([body.runs, body.sessions, typeof body.provider_readiness], [undefined, undefined, 'object'])
  t.regex(showStatus(body), /^Holdfast \S+ is up and not ready for work: process/u)
  t.is((await request('GET', '/v1/openapi.json')).status, 200)
  await stop()
  flip(join(root, 'manifest.json'))
  const again = await startTestDaemon(t, { root })
  t.is((await again.request('GET', '/v1/sessions/s1')).status, 200)
  t.is((await again.request('GET', '/readyz')).text, 'ready')
  await again.stop()
  rmSync(root, { recursive: true })
})

test('runtime-12: a daemon without room is not ready for work, says why, and serves reads', async (t) => {
  const real = createDisk()
  let full = true
  const disk: Disk = { ...real, space: (path) => ({ ...real.space(path), ...(full && { free: 1024 }) }) }
  const { request } = await startTestDaemon(t, {
    disk,
    flags: { 'http-admin-token': 'admin-token-1' },
    headers: { authorization: 'Bearer admin-token-1' },
  })
  const bare = (path: string) => request('GET', path, undefined, { authorization: '' })
  const refused = await bare('/readyz')
  t.deepEqual([(await bare('/healthz')).status, (await bare('/v1/sessions')).status], [200, 401])
  t.deepEqual(codeOf(refused), [503, 'storage_read_only'])
  t.like(refused.body, { reason: 'disk_full' })
  t.is((await request('GET', '/v1/sessions')).status, 200)
  full = false
  let ready = refused
  for (let looks = 0; looks < 400 && ready.status !== 200; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    ready = await bare('/readyz')
  }
  t.is(ready.text, 'ready')
})

/** A root with a page, an index, tombstones and a log of two lines, as a kill leaves it. */
const usedRoot = async (t: ExecutionContext): Promise<string> => {
  const [live, root] = [tempRoot(t), join(tempRoot(t), 'root')]
  const { state, notes, journal, checkpoint, close } = await openNotes(live)
  for (let n = 0; n < 3; n += 1)
    await state.commit((tx) => {
      tx.insert(notes, note(n))
      tx.append(journal, 'ann', `${n}`)
    })
  await state.commit((tx) => tx.remove(notes, 'n2', 'test'))
  await checkpoint()
  for (let n = 3; n < 5; n += 1) await state.commit((tx) => tx.insert(notes, note(n)))
  copyRoot(live, root)
  await close()
  return root
}
const fileIn = (folder: string, prefix: string): string =>
  join(folder, readdirSync(folder).filter((name) => name.startsWith(prefix))[0] ?? '')

const damages: Readonly<Record<string, { damage: (root: string) => void; loaded: boolean }>> = {
  'a changed manifest': { damage: (root) => flip(join(root, 'manifest.json')), loaded: false },
  'a missing manifest': { damage: (root) => rmSync(join(root, 'manifest.json')), loaded: false },
  'a line of the log with another behind it': {
    damage: (root) => {
      const file = fileIn(join(root, 'log'), '0')
      flip(file, readFileSync(file).indexOf('"ops"') + 20)
    },
    loaded: false,
  },
  'a short page': {
    damage: (root) => {
      const file = fileIn(join(root, 'data/notes'), 'page')
      writeFileSync(file, readFileSync(file).subarray(0, -5))
    },
    loaded: false,
  },
  'a changed tombstone': {
    damage: (root) =>
      flip(
        join(root, 'tombstones/notes.ndjson'),
        readFileSync(join(root, 'tombstones/notes.ndjson')).lastIndexOf('n2'),
      ),
    loaded: false,
  },
  'a changed record whose row is there': {
    damage: (root) => {
      const file = fileIn(join(root, 'data/notes'), 'page')
      flip(file, readFileSync(file).indexOf('"r"') + 20)
    },
    loaded: true,
  },
  nothing: { damage: () => {}, loaded: true },
}
for (const [what, { damage, loaded }] of Object.entries(damages)) {
  test(`after ${what} the state counts as ${loaded ? 'loaded' : 'not loaded'}`, async (t) => {
    const root = await usedRoot(t)
    damage(root)
    const { state, notes, report, close } = await openNotes(root)
    t.is(state.health.loaded, loaded)
    t.is(report.damage === undefined, what === 'nothing')
    if (loaded && what !== 'nothing') t.throws(() => notes.find('n0'), { code: 'storage_damaged' })
    await close()
  })
}
