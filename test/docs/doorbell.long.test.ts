/** The example of the guide for callers that have no token: a platform. */
import { createHmac } from 'node:crypto'
import { rmSync } from 'node:fs'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin } from '../../core/testing/contract.js'
import makeDoorbell from '../../docs/examples/doorbell/plugin.js'
import { createCommandLine } from '../support/command-line.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { until } from '../support/runs.js'

test.serial('doorbell: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeDoorbell))
  t.pass()
})

test.serial('http-48: why callers cannot be checked is a warning of the status and a line of the log', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [makeDoorbell(kit)] })
  for (let at = 0; at < 3; at += 1) {
    const response = await fetch(`${daemon.url}/v1/doorbell`, { method: 'POST', body: '{}' })
    t.is(response.status, 503)
    t.notRegex(await response.text(), /secret|doorbell\.key/u)
  }
  const { health } = (await daemon.request('GET', '/v1/status')).body
  const warnings = health.warnings.filter(({ code }: { code: string }) => code === 'ingress_not_ready')
  t.is(warnings.length, 1)
  t.like(warnings[0], { severity: 'warning', related_id: 'doorbell.ring' })
  t.regex(warnings[0].message, /doorbell\.ring .*\(secret_not_found\)$/u)
  const lines = daemon.log.filter(({ fact }) => fact === 'callers of a route cannot be checked')
  t.deepEqual(
    lines.map(({ level, details }) => [level, details['route'], details['code']]),
    [['warn', 'doorbell.ring', 'secret_not_found']],
  )
  const told = await createCommandLine(daemon)('doctor')
  t.is(told.code, 1)
  t.regex(told.out, /doorbell\.ring/u)
})

test.serial('doorbell: a signed message of an unknown chat opens its session, and is answered once', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { root, plugins: [makeDoorbell(kit)] })
  const { request, url } = daemon
  const ring = async (message: object, key = 'the key') => {
    const body = JSON.stringify(message)
    const signature = createHmac('sha256', key).update(body).digest('hex')
    const response = await fetch(`${url}/v1/doorbell`, { method: 'POST', body, headers: { 'x-signature': signature } })
    return { status: response.status, body: (await response.json()) as { run_id: string; code?: string } }
  }
  const message = { chat: 'c1', id: 'm1', text: 'hello', more: 'of the platform' }
  t.is((await ring(message)).body.code, 'ingress_not_ready', 'what is missing is no matter of strangers')
  await request('POST', '/v1/runtime/secrets', { slot_id: 'doorbell.key', state: { value: 'the key' } })
  t.is((await ring(message, 'another')).status, 401)
  t.is((await request('GET', '/v1/sessions')).body.length, 0)
  const first = await ring(message)
  t.is(first.status, 202)
  await until(daemon, first.body.run_id, 'completed')
  t.deepEqual(await ring(message), first, 'what is sent again is the same run')
  t.is((await ring({ ...message, text: 'other' })).status, 409)
  const second = await ring({ ...message, id: 'm2' })
  t.not(second.body.run_id, first.body.run_id)
  await ring({ ...message, chat: 'c2', id: 'm3' })
  t.is((await request('GET', '/v1/sessions')).body.length, 2)
})
