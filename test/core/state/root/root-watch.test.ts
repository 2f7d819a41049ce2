/** `root.json` under a live daemon: what speaks against it, and what says nothing. */
import test, { type ExecutionContext } from 'ava'
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { diskError } from '../../../../core/testing/wrapped-disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { seal, unseal } from '../../../../core/state/format/sealed.js'
import { acquireLock, type Lock } from '../../../../core/state/root/lock.js'
import { nameForm, readRoot } from '../../../../core/state/root/root-document.js'
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
  const warned: string[] = []
  const quiet = (): void => {}
  const log = {
    debug: quiet,
    info: quiet,
    warn: (fact: string) => void warned.push(fact),
    error: (fact: string, details = {}) => void told.push({ fact, action: Reflect.get(details, 'action') }),
  }
  const lock = await acquireLock({ root, clock, log, disk })
  t.teardown(() => lock.release())
  return { lock, told, warned, file: join(root, 'root.json') }
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

/** As an editor does: with its own white space, and a digest that was not made anew. */
const edit = (file: string, change: (facts: object) => object): void =>
  writeFileSync(file, JSON.stringify(change(JSON.parse(readFileSync(file, 'utf8')))))

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
  'edited to another id': [
    (file) => edit(file, (facts) => ({ ...facts, root_id: 'a'.repeat(32) })),
    'root_json_damaged',
  ],
  'edited to another generation': [(file) => edit(file, (facts) => ({ ...facts, generation: 7 })), 'root_json_damaged'],
  'cut off': [(file) => truncateSync(file, 120), 'root_json_damaged'],
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

const rewritings: Readonly<Record<string, (text: string) => string>> = {
  'without its last line end': (text) => text.trimEnd(),
  indented: (text) => `${JSON.stringify(JSON.parse(text), undefined, 4)}\n`,
  'in one line': (text) => JSON.stringify(JSON.parse(text)),
  'behind a mark of its byte order': (text) => `\ufeff${text}`,
  'with a note of somebody': (text) => JSON.stringify({ ...JSON.parse(text), note: 'mine' }),
}
for (const [how, rewrite] of Object.entries(rewritings))
  test(`state-2: a root.json that somebody wrote anew ${how} is the same, and its daemon mends it`, async (t) => {
    const { lock, told, warned, file } = await take(t)
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, rewrite(before))
    t.true(lock.held())
    t.true(lock.held())
    t.is(warned.length, 1)
    t.regex(warned[0] ?? '', /^root\.json was written by somebody else/u)
    await lock.release()
    t.is(readFileSync(file, 'utf8'), before)
    t.deepEqual(told, [])
  })

test('a root.json that was written anew just before the end is mended, with the forms that were named since the start', async (t) => {
  const { lock, told, file } = await take(t)
  const place = { root: lock.root, disk: real }
  await nameForm(place, 'partitions')
  writeFileSync(file, readFileSync(file, 'utf8').trimEnd())
  await lock.release()
  t.deepEqual(readRoot(place)?.incompat, ['partitions'])
  t.deepEqual(told, [])
})
