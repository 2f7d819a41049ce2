/** Two daemons and one root: whatever happens to the file of the lock, at most one of them is believed. */
import test, { type ExecutionContext } from 'ava'
import {
  cpSync,
  copyFileSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { Problem } from '../../../../core/base/errors.js'
import { acquireLock, type Lock } from '../../../../core/state/root/lock.js'
import { readOwner } from '../../../../core/state/root/owner.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { contend, type Contender } from '../../../support/contender.js'
import { createHeldDisk } from '../../../support/held-disk.js'
import { note, openNotes, tempRoot } from '../../../support/notes.js'

const clock = createClock()
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const removals: Readonly<Record<string, (root: string) => void>> = {
  'removing its file': (root) => rmSync(join(root, 'daemon.lock')),
  'replacing its file by a copy': (root) => {
    copyFileSync(join(root, 'daemon.lock'), join(root, 'copy'))
    renameSync(join(root, 'copy'), join(root, 'daemon.lock'))
  },
  'removing its file and the folder of proper-lockfile': (root) => {
    rmSync(join(root, 'daemon.lock'))
    rmSync(join(root, 'lock'), { recursive: true })
  },
}

for (const [how, remove] of Object.entries(removals)) {
  test(`a live owner is not taken over after ${how}, a dead one is at once`, async (t) => {
    const root = tempRoot(t)
    const holder = await contend(t, root)
    remove(root)
    const second = await contend(t, root)
    t.deepEqual(second.answer, ['refused', 'state_root_locked', String(holder.process.pid)])
    await holder.kill()
    const heir = await contend(t, root)
    t.deepEqual(heir.answer, ['locked', '2'])
    await heir.kill()
  })
}

test('a copy of a root that somebody holds is taken: the record that came along speaks of another folder', async (t) => {
  const root = tempRoot(t)
  const holder = await contend(t, root)
  const copy = join(tempRoot(t), 'copy')
  cpSync(root, copy, { recursive: true })
  rmSync(join(copy, 'lock'), { recursive: true, force: true })
  const second = await contend(t, copy)
  t.deepEqual(second.answer, ['locked', '2'])
  await second.kill()
  await holder.kill()
})

test('an owner whom the process table does not show is dead if the kernel freed his own file, else waited for', async (t) => {
  const root = tempRoot(t)
  const killed = await contend(t, root)
  await killed.kill()
  const path = join(root, 'owner.json')
  const elsewhere = { ...JSON.parse(readFileSync(path, 'utf8')), pid_space: 'pid:[1]' }
  writeFileSync(path, JSON.stringify(elsewhere))
  const heir = await contend(t, root)
  t.deepEqual(heir.answer, ['locked', '2'], 'the file that the dead one signed')
  await heir.kill()
  writeFileSync(path, JSON.stringify({ ...elsewhere, start_ticks: '1' }))
  const fresh = new Date(clock.now() + 3_600_000)
  utimesSync(join(root, 'lock'), fresh, fresh)
  const third = await contend(t, root)
  t.deepEqual(third.answer.slice(0, 2), ['refused', 'state_root_locked'], 'the file was signed by another')
})

const losses: Readonly<Record<string, (root: string) => void>> = {
  moved: (root) => renameSync(root, `${root}.before`),
  removed: (root) => rmSync(root, { recursive: true }),
}
const ends: Readonly<Record<string, (one: Contender) => Promise<unknown>>> = {
  'releases its lock': (one) => one.end(),
  'ends without that': (one) => {
    one.process.kill('SIGTERM')
    return once(one.process, 'exit')
  },
}

for (const [how, lose] of Object.entries(losses))
  for (const [what, end] of Object.entries(ends))
    test(`whose root was ${how} and who ${what} leaves the one who took the path since alone`, async (t) => {
      const root = join(tempRoot(t), 'state')
      const former = await contend(t, root)
      lose(root)
      const heir = await contend(t, root)
      t.deepEqual(heir.answer, ['locked', '1'])
      await end(former)
      t.deepEqual(readdirSync(root), ['daemon.lock', 'lock', 'owner.json', 'root.json'])
      await heir.end()
      t.deepEqual(readdirSync(root), ['daemon.lock', 'root.json'])
    })

test('a record of another process that has the same number and generation is left, as containers have them', async (t) => {
  const root = tempRoot(t)
  const lock = await acquireLock({ root, clock, log: silent })
  const path = join(root, 'owner.json')
  writeFileSync(path, JSON.stringify({ ...lock.owner, start_ticks: '1' }))
  await lock.release()
  t.is(readOwner(path)?.start_ticks, '1')
})

test('who has lost the root writes nothing into the one in its place', async (t) => {
  const root = join(tempRoot(t), 'state')
  const lock = await acquireLock({ root, clock, log: silent })
  renameSync(root, `${root}.before`)
  const heir = await contend(t, root)
  const before = readFileSync(join(root, 'owner.json'), 'utf8')
  lock.listensAt('127.0.0.1:4000')
  await lock.release()
  t.is(readFileSync(join(root, 'owner.json'), 'utf8'), before)
  await heir.end()
})

/** A state behind a lock, as the daemon puts them together. */
const openLocked = async (t: ExecutionContext, root: string, disk = createHeldDisk()) => {
  const lock = await acquireLock({ root, clock, log: silent })
  t.teardown(() => lock.release())
  const opened = await openNotes(root, { disk: disk.disk, generation: lock.generation, owned: lock.held })
  return { lock, disk, ...opened }
}
const reasonsOf = (lock: Lock): string[] => {
  const reasons: string[] = []
  lock.onLost((reason) => reasons.push(reason))
  return reasons
}
const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error))
const logBytes = (root: string): number =>
  readdirSync(join(root, 'log')).reduce((sum, name) => sum + statSync(join(root, 'log', name)).size, 0)

test('no commit is taken once the file of the lock was moved away and another stands in its place', async (t) => {
  const root = tempRoot(t)
  const { lock, state, notes, close } = await openLocked(t, root)
  const reasons = reasonsOf(lock)
  await state.commit((tx) => tx.insert(notes, note(1)))
  const before = logBytes(root)
  renameSync(join(root, 'daemon.lock'), join(root, 'moved.lock'))
  writeFileSync(join(root, 'daemon.lock'), '')
  t.is(codeOf(await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(2))))), 'storage_read_only')
  t.false(notes.has('n2'))
  t.is(state.health.reason, 'lock_lost')
  t.deepEqual(reasons, ['guard_removed'])
  t.is(logBytes(root), before)
  await close()
  t.is(logBytes(root), before)
})

test('state-2: a commit is not acknowledged if the lock went while it was written', async (t) => {
  const root = tempRoot(t)
  const { disk, state, notes } = await openLocked(t, root)
  disk.hold()
  const commit = state.commit((tx) => tx.insert(notes, note(1)))
  await disk.reached()
  rmSync(join(root, 'daemon.lock'))
  disk.release()
  await t.throwsAsync(commit)
  t.is(state.health.reason, 'lock_lost')
})

test('no commit is taken once root.json is of another generation, though the file of the lock is in its place', async (t) => {
  const root = tempRoot(t)
  const { lock, state, notes } = await openLocked(t, root)
  const reasons = reasonsOf(lock)
  const path = join(root, 'root.json')
  const facts = unsafeCast<{ generation: number }>(unseal(readFileSync(path)))
  const write = (generation: number): void => {
    writeFileSync(join(root, 'new'), seal({ ...facts, generation }))
    renameSync(join(root, 'new'), path)
  }
  write(facts.generation)
  await state.commit((tx) => tx.insert(notes, note(1)))
  write(facts.generation + 1)
  await t.throwsAsync(state.commit((tx) => tx.insert(notes, note(2))))
  t.deepEqual(reasons, ['generation_raised'])
  t.is(state.health.reason, 'lock_lost')
})

test('a document is not acknowledged if the lock went while it was replaced, and none is written later', async (t) => {
  const root = tempRoot(t)
  const held = createHeldDisk()
  const disk = {
    ...held.disk,
    replace: async (path: string, bytes: Uint8Array) => {
      if (Buffer.from(bytes).includes('"n": 2') && path.endsWith('settings.json')) rmSync(join(root, 'daemon.lock'))
      await held.disk.replace(path, bytes)
    },
  }
  const { state } = await openLocked(t, root, { ...held, disk })
  const settings = state.document<{ n: number }>('settings')
  await settings.write({ n: 0 })
  await t.throwsAsync(settings.write({ n: 2 }))
  const before = readFileSync(settings.path, 'utf8')
  await t.throwsAsync(settings.write({ n: 1 }))
  t.is(readFileSync(settings.path, 'utf8'), before)
})
