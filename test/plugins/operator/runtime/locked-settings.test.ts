/** Settings whose key is lost: what is kept of them stays as it is, and nothing else waits for the key. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession } from '../../../support/runs.js'

const hooks = { pre_tool_use: [{ name: 'guard', executor: { type: 'command', command: 'true' } }] }

const set = ({ request }: TestDaemon, what: string, body: object = {}) => request('POST', `/v1/runtime/${what}`, body)

/** A daemon that has hooks at its first revision, and no key: that lies elsewhere. */
const startLocked = async (t: ExecutionContext) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  t.is((await set(first, 'hooks', { hooks })).status, 200)
  await first.stop()
  const [key, lost] = [join(root, 'secrets/slots.key'), join(await freshRoot(), 'lost.key')]
  await rename(key, lost)
  return { root, key, lost, daemon: await startTestDaemon(t, { root }) }
}

test('runtime-29: a rollback brings back no setting whose key is lost', async (t) => {
  const { daemon } = await startLocked(t)
  t.is((await set(daemon, 'hooks', { hooks: {} })).status, 200)
  for (const body of [{}, { target_revision: 1 }]) {
    const back = await set(daemon, 'rollback', body)
    t.deepEqual(codeOf(back), [409, 'runtime_revision_unfit'])
    t.is(
      back.body.detail,
      'What revision 1 has of the setting hooks cannot hold any more: it cannot be decrypted, its key is not here.',
    )
  }
  await openSession(daemon)
  t.is((await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hello' })).status, 202)
  t.deepEqual((await daemon.request('GET', '/v1/runtime/revisions')).body.revisions[0].unfit, undefined)
})

test('runtime-29: where a setting is locked, others are set, and it holds again with its key', async (t) => {
  const { root, key, lost, daemon } = await startLocked(t)
  t.is((await set(daemon, 'permission-mode', { mode: 'plan' })).body.permission_mode, 'plan')
  t.is((await set(daemon, 'rollback')).body.permission_mode, 'default')
  t.like(
    daemon.daemon.view.warnings().find(({ code }) => code === 'setting_locked'),
    { related_id: 'hooks' },
  )
  await daemon.stop()
  await rename(lost, key)
  const again = await startTestDaemon(t, { root })
  t.deepEqual((await again.request('GET', '/v1/runtime/hooks')).body.hooks, hooks)
})

test('runtime-29: others are set too where an earlier key opens what is kept and there is none to seal it', async (t) => {
  const { root, lost, daemon } = await startLocked(t)
  await daemon.stop()
  const second = await startTestDaemon(t, { root, flags: { 'secrets-previous-key-file': lost } })
  t.is((await set(second, 'permission-mode', { mode: 'plan' })).body.permission_mode, 'plan')
  t.deepEqual((await second.request('GET', '/v1/runtime/hooks')).body.hooks, hooks)
  t.is((await set(second, 'rollback')).body.permission_mode, 'default')
})

test('runtime-40, secrets-5: where another key is in the place of the lost one, what is told has both', async (t) => {
  const { root, key, lost, daemon } = await startLocked(t)
  await daemon.stop()
  await writeFile(key, `${'0123456789abcdef'.repeat(4)}\n`, { mode: 0o600 })
  const second = await startTestDaemon(t, { root })
  t.is(
    (await second.request('POST', '/v1/runtime/secrets', { slot_id: 'new', state: { value: 'canary' } })).status,
    200,
  )
  const told = second.daemon.view.warnings().find(({ code }) => code === 'setting_locked')
  t.regex(told?.message ?? '', /the key that is here is another one\. Leave it where it is\.$/u)
  t.regex(told?.action ?? '', /^Put that key into a file of its own .* as --secrets-previous-key-file\. To go on/u)
  await second.stop()
  const third = await startTestDaemon(t, { root, flags: { 'secrets-previous-key-file': lost } })
  t.deepEqual((await third.request('GET', '/v1/runtime/hooks')).body.hooks, hooks)
  await third.stop()
  const fourth = await startTestDaemon(t, { root })
  t.deepEqual((await fourth.request('GET', '/v1/runtime/hooks')).body.hooks, hooks, 'it was encrypted anew')
  t.like((await fourth.request('GET', '/v1/runtime/secrets/new')).body.details, { readable: true })
})

test('runtime-40: what cannot be encrypted is refused with the way to go on without it', async (t) => {
  const { daemon } = await startLocked(t)
  const refused = await set(daemon, 'hooks', { hooks })
  t.deepEqual(codeOf(refused), [409, 'secrets_key_unusable'])
  t.regex(
    refused.body.action,
    /and start again\. To go on without the setting hooks: holdfast runtime hooks set --reset$/u,
  )
})
