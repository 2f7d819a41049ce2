/** The example of the guide for secrets, hooks and metrics. */
import { createHmac } from 'node:crypto'
import { rmSync } from 'node:fs'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makeSigner from '../../docs/examples/signer/plugin.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { openSession, submit, until } from '../support/runs.js'

test.serial('signer: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeSigner))
  t.pass()
})

test.serial('signer: texts are signed with the secret of now, as long as the hook lets them', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { root, plugins: [makeSigner(kit)] })
  const { request } = daemon
  await openSession(daemon)
  const sign = async (text: string): Promise<string> => {
    const { run_id } = await submit(daemon, 's1', `/tool sign_text ${JSON.stringify({ text })}`)
    await until(daemon, run_id, 'completed')
    return (await request('GET', '/v1/sessions/s1/events')).text
  }
  t.regex(await sign('early'), /secret_not_found|no secret signer\.key/u)
  for (const value of ['first', 'second']) {
    await request('POST', '/v1/runtime/secrets', { slot_id: 'signer.key', state: { value } })
    t.true((await sign('a text')).includes(createHmac('sha256', value).update('a text').digest('hex')))
  }
  t.is((await request('DELETE', '/v1/runtime/secrets/signer.key')).status, 409)
  const hook = { name: 'short', matcher: 'sign_text', executor: { type: 'callback', name: 'short-texts' } }
  await request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [hook] } })
  t.regex(await sign('x'.repeat(200)), /Only short texts are signed/u)
  t.regex((await request('GET', '/metrics')).text, /^service_signatures_total 2$/mu)
})
