/** `root.json` under a live daemon: what speaks against it, and what says nothing. */
import test, { type ExecutionContext } from 'ava'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { diskError } from '../../../../core/testing/wrapped-disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { acquireLock, type Lock } from '../../../../core/state/root/lock.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { tempRoot } from '../../../support/notes.js'

const clock = createClock()
const real = createDisk()
/** The real disk with another answer for `root.json`. */
const lying = (read: (path: string) => Uint8Array | undefined): Disk => ({
  ...real,
  readFile: (path, most) => (path.endsWith('/root.json') ? read(path) : real.readFile(path, most)),
})

const take = async (t: ExecutionContext, disk = real) => {
  const root = tempRoot(t)
  const told: { fact: string; action: unknown }[] = []
  const quiet = (): void => {}
  const log = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (fact: string, details = {}) => void told.push({ fact, action: Reflect.get(details, 'action') }),
  }
  const lock = await acquireLock({ root, clock, log, disk })
  t.teardown(() => lock.release())
  return { lock, told, file: join(root, 'root.json') }
}
const reasonOf = (lock: Lock): string | undefined => {
  let found: string | undefined
  lock.onLost((reason) => {
    found = reason
  })
  return found
}
/** By the same bytes, as another file. */
const replace = (file: string): void => {
  copyFileSync(file, `${file}.copy`)
  renameSync(`${file}.copy`, file)
}

const harms: Readonly<Record<string, readonly [harm: (file: string) => void, reason: string]>> = {
  removed: [(file) => rmSync(file), 'root_json_removed'],
  emptied: [(file) => truncateSync(file), 'root_json_damaged'],
  'a folder': [
    (file) => {
      rmSync(file)
      mkdirSync(file)
    },
    'root_json_damaged',
  ],
  'that of another root': [
    (file) => writeFileSync(file, seal({ ...unseal<object>(readFileSync(file)), root_id: 'a'.repeat(32) })),
    'generation_raised',
  ],
}
for (const [what, [harm, reason]] of Object.entries(harms))
  test(`state-2: a root whose root.json is ${what} is lost, and one line says why and what to do`, async (t) => {
    const { lock, told, file } = await take(t)
    t.true(lock.held())
    harm(file)
    t.false(lock.held())
    t.is(reasonOf(lock), reason)
    t.is(told.length, 1)
    t.regex(told[0]?.fact ?? '', /^lock lost: root\.json /u)
    t.regex(String(told[0]?.action), /holdfast state (?:repair|verify) --state-root \S+/u)
  })

test('a root.json that was replaced by the same, and one that cannot be read at the moment, say nothing', async (t) => {
  let code: string | undefined
  const disk = lying((path) => {
    if (code !== undefined) throw diskError(code)
    return real.readFile(path)
  })
  const { lock, told, file } = await take(t, disk)
  replace(file)
  t.true(lock.held())
  for (code of ['EMFILE', 'EIO', 'EACCES']) {
    replace(file)
    t.true(lock.held(), code)
  }
  rmSync(file)
  code = undefined
  t.false(lock.held(), 'the next look reads it again')
  t.is(told.length, 1)
})

test('whoever writes root.json anew in its place is not caught amid it', async (t) => {
  let torn = false
  const disk = lying((path) => {
    if (!torn) return real.readFile(path)
    torn = false
    return new Uint8Array()
  })
  const { lock, file } = await take(t, disk)
  replace(file)
  torn = true
  t.true(lock.held())
  t.false(torn, 'the half was read')
})
