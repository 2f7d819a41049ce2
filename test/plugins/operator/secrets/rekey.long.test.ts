import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { SecretSeal, SecretSlots } from '../../../../plugins/operator/secrets/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'

const fill = async ({ request }: TestDaemon, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1)
    await request('POST', '/v1/runtime/secrets', { slot_id: `s${n}`, state: { value: `canary-${n}` } })
}
const keysOf = async ({ request }: TestDaemon): Promise<string[]> => [
  ...new Set<string>((await request('GET', '/v1/runtime/secrets')).body.map(({ details }: any) => details.key_id)),
]

test('secrets-11: a new key takes the place of the old one, and every secret opens with it after a restart', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await fill(first, 5)
  const [before] = await keysOf(first)
  const file = join(root, 'secrets/slots.key')
  const old = readFileSync(file, 'utf8')
  const { out, code } = await createCommandLine(first)('secrets', 'rekey')
  t.is(code, 0)
  const [after, ...more] = await keysOf(first)
  t.deepEqual(more, [])
  t.not(after, before)
  t.is(out, `The key is now ${after}; 5 secrets encrypted anew.\n`)
  t.not(readFileSync(file, 'utf8'), old)
  t.false(existsSync(`${file}.next`))
  t.is((await first.request('GET', `/v1/runtime/secrets/s0`)).body.details.version, 1, 'the secret is as it was')
  await first.stop()
  const slots = lender({ slots: SecretSlots })
  await startTestDaemon(t, { root, plugins: [slots.plugin] })
  for (let n = 0; n < 5; n += 1) t.is(slots.services().slots.value(`s${n}`), `canary-${n}`)
})

test('secrets-11: where the disk does not take the new key, it is told, and the old one stays', async (t) => {
  const root = await freshRoot()
  const disk = createDisk()
  let full = true
  const replace: Disk['replace'] = (at, bytes) =>
    full && at.includes('slots.key.next')
      ? Promise.reject(Object.assign(new Error('no room'), { code: 'ENOSPC' }))
      : disk.replace(at, bytes)
  const daemon = await startTestDaemon(t, { root, disk: { ...disk, replace } })
  await fill(daemon, 2)
  const [before] = await keysOf(daemon)
  const refused = await daemon.request('POST', '/v1/runtime/secrets-key')
  t.deepEqual(codeOf(refused), [503, 'storage_write_failed'])
  t.deepEqual(await keysOf(daemon), [before])
  full = false
  const next = join(root, 'secrets/slots.key.next')
  symlinkSync('elsewhere', next)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/secrets-key')), [409, 'secrets_key_unusable'])
  rmSync(next)
  t.is((await daemon.request('POST', '/v1/runtime/secrets-key')).body.encrypted_anew, 2)
})

test('secrets-11: a start ends a change of the key that was cut off, at its beginning or at its end', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await fill(first, 3)
  await first.stop()
  const [file, next] = [join(root, 'secrets/slots.key'), 'ab'.repeat(32)]
  writeFileSync(`${file}.next`, `${next}\n`, { mode: 0o600 })
  writeFileSync(`${file}.next.123`, 'half', { mode: 0o600 })
  const second = await startTestDaemon(t, { root })
  t.is((await keysOf(second)).length, 1)
  t.true((await second.request('GET', '/v1/runtime/secrets')).body.every(({ details }: any) => details.readable))
  await second.stop()
  t.is(readFileSync(file, 'utf8'), `${next}\n`)
  t.false(existsSync(`${file}.next`) || existsSync(`${file}.next.123`))
  writeFileSync(`${file}.next`, `${next}\n`, { mode: 0o600 })
  const third = await startTestDaemon(t, { root })
  t.true((await third.request('GET', '/v1/runtime/secrets')).body.every(({ details }: any) => details.readable))
  t.false(existsSync(`${file}.next`))
})

test('secrets-11: a key of the operator is replaced by a start that names the old one', async (t) => {
  const [root, keys] = [await freshRoot(), await freshRoot()]
  const old = join(keys, 'old')
  writeFileSync(old, `${'01'.repeat(32)}\n`, { mode: 0o600 })
  const first = await startTestDaemon(t, { root, flags: { 'secrets-key-file': old } })
  await fill(first, 3)
  const [before] = await keysOf(first)
  t.deepEqual(codeOf(await first.request('POST', '/v1/runtime/secrets-key')), [409, 'secrets_key_elsewhere'])
  await first.stop()
  const flags = { 'secrets-key': '02'.repeat(32), 'secrets-previous-key-file': old }
  const second = await startTestDaemon(t, { root, flags })
  const [after, ...more] = await keysOf(second)
  t.deepEqual(more, [])
  t.not(after, before)
  await second.stop()
  const third = await startTestDaemon(t, { root, flags: { 'secrets-key': '02'.repeat(32) } })
  t.true((await third.request('GET', '/v1/runtime/secrets')).body.every(({ details }: any) => details.readable))
})

test('secrets-11: an old key that is named and cannot be read is told, whatever is wrong with it', async (t) => {
  const folder = await freshRoot()
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  const told = async (old: string) => {
    const flags = { 'secrets-key': '02'.repeat(32), 'secrets-previous-key-file': old }
    const daemon = await startTestDaemon(t, { flags })
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    await daemon.stop()
    return warnings.find(({ code }: { code: string }) => code === 'secrets_previous_key_unusable')?.message
  }
  t.regex(await told(join(folder, 'absent')), /absent.*does not exist/u)
  t.regex(await told(file('odd', 'no key')), /odd: it is not 32 bytes/u)
  t.is(await told(file('good', '03'.repeat(32))), undefined)
})

test('secrets-5: a backup has no key: the restored root says which one it needs, and works when it is back', async (t) => {
  const [root, folder] = [await freshRoot(), await freshRoot()]
  const [backup, copy] = [join(folder, 'backup'), join(folder, 'copy')]
  const first = await startTestDaemon(t, { root })
  await fill(first, 2)
  const [key_id] = await keysOf(first)
  const line = createCommandLine(first)
  t.is((await line('backup', 'create', backup, '--state-root', root)).code, 0)
  t.is((await line('backup', 'restore', backup, '--to', copy)).code, 0)
  t.false(existsSync(join(copy, 'secrets/slots.key')))
  const second = await startTestDaemon(t, { root: copy })
  const { warnings } = (await second.request('GET', '/v1/status')).body.health
  const missing = warnings.find(({ code }: { code: string }) => code === 'secrets_key_missing')
  t.like(missing, { related_id: key_id, message: `2 secrets cannot be decrypted: the key ${key_id} is not here.` })
  t.regex(missing.action, /store each secret again, the first with holdfast secrets set [\w-]+ --stdin/u)
  t.false(existsSync(join(copy, 'secrets/slots.key')), 'no other key takes its place')
  await second.stop()
  mkdirSync(join(copy, 'secrets'), { recursive: true, mode: 0o700 })
  copyFileSync(join(root, 'secrets/slots.key'), join(copy, 'secrets/slots.key'))
  const third = await startTestDaemon(t, { root: copy })
  t.true((await third.request('GET', '/v1/runtime/secrets')).body.every(({ details }: any) => details.readable))
})

test('secrets-24: what was sealed just before a crash opens through a change of the key that comes first after it', async (t) => {
  const [root, other] = [await freshRoot(), await freshRoot()]
  const key = join(root, 'secrets/slots.key')
  const first = await startTestDaemon(t, { root })
  await first.stop()
  // Of a daemon whose record of it never reached the disk: it stands in another root.
  const elsewhere = lender({ seal: SecretSeal })
  await startTestDaemon(t, { root: other, flags: { 'secrets-key-file': key }, plugins: [elsewhere.plugin] })
  const sealed = elsewhere.services().seal.sealLasting('canary', 'here')
  const again = lender({ seal: SecretSeal })
  const second = await startTestDaemon(t, { root, plugins: [again.plugin] })
  t.is((await second.request('POST', '/v1/runtime/secrets-key')).status, 200)
  t.is(again.services().seal.open(sealed, 'here'), 'canary')
  await second.stop()
  const last = lender({ seal: SecretSeal })
  await startTestDaemon(t, { root, plugins: [last.plugin] })
  t.is(last.services().seal.open(sealed, 'here'), 'canary')
})

test('secrets-24: what is sealed with a lasting key opens through changes of the key, also where the operator has it', async (t) => {
  const [root, keys] = [await freshRoot(), await freshRoot()]
  const old = join(keys, 'old')
  writeFileSync(old, `${'01'.repeat(32)}\n`, { mode: 0o600 })
  const open = (flags: Record<string, string>) => {
    const lent = lender({ seal: SecretSeal })
    return startTestDaemon(t, { root, flags, plugins: [lent.plugin] }).then((daemon) => ({
      daemon,
      ...lent.services(),
    }))
  }
  const first = await open({ 'secrets-key-file': old })
  const sealed = first.seal.sealLasting('canary', 'here')
  t.deepEqual(first.seal.sealLasting('canary', 'here'), sealed)
  t.notDeepEqual(first.seal.sealLasting('canary', 'there'), sealed)
  t.is(first.seal.open(sealed, 'there'), undefined)
  await first.daemon.stop()
  const second = await open({ 'secrets-key': '02'.repeat(32), 'secrets-previous-key-file': old })
  t.is(second.seal.open(sealed, 'here'), 'canary')
  await second.daemon.stop()
  const third = await open({ 'secrets-key': '02'.repeat(32) })
  t.is(third.seal.open(sealed, 'here'), 'canary')
  t.notDeepEqual(third.seal.sealLasting('canary', 'here'), sealed, 'what is new has a key of its own')
  await third.daemon.stop()
  const own = await open({})
  t.false(existsSync(join(root, 'secrets/slots.key')), 'no key is made where one is missing')
  t.is(own.seal.open(sealed, 'here'), undefined)
})
