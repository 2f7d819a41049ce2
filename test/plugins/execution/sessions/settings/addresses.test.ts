import test from 'ava'
import { unsafeCast, type JsonObject } from '../../../../../core/base/schema.js'
import type { Caller } from '../../../../../core/http/routes/route.js'
import { viewSchedule } from '../../../../../plugins/execution/schedules/view.js'
import { shownSettings } from '../../../../../plugins/execution/sessions/settings/shown-settings.js'

const targets = [
  { type: 'http', url: 'https://example.com/secret-1', headers: { authorization: 'Bearer secret-2' } },
  { type: 'telegram', connector: 'bot', chat_id: 4711 },
  { type: 'slack', connector: 'work', channel_id: 'secret-3' },
  { type: 'raw', plugin: 'pigeon', address: 'secret-4' },
  { plugin: 'mail', address: 'secret-5' },
]
const request = { content: 'x', reply_targets: targets, reply_plugin: 'mail', reply_address: 'secret-6' }
const schedule = (payload: JsonObject, caller?: Caller): any =>
  viewSchedule(unsafeCast({ schedule_id: 's', executions: [], payload }), caller)

const payloads: JsonObject[] = [
  { kind: 'request', request },
  { kind: 'flow_start', value: { flow_id: 'f', request } },
  { kind: 'observation_materialization', value: request },
]

test('schedules-33: a read-only token, a model and a subscriber of events see no address and no header in a schedule', (t) => {
  for (const payload of payloads)
    for (const caller of [undefined, { role: 'read' }, { role: 'ingress' }] as const) {
      const shown = JSON.stringify(schedule(payload, caller))
      t.notRegex(shown, /secret-\d|4711|example\.com/u)
      t.regex(shown, /"plugin":"http","address":"hidden".*"telegram".*"slack".*"pigeon".*"mail"/u)
    }
  t.is(schedule({ kind: 'request', request }).request.content, 'x')
})

test('who may change where outputs go sees it', (t) => {
  for (const role of ['admin', 'anonymous'] as const)
    t.deepEqual(schedule({ kind: 'request', request }, { role }).request, request)
  const session: any = { session_id: 's', reply_targets: [{ plugin: 'mail', address: 'secret-5' }] }
  t.deepEqual(shownSettings(session, { role: 'admin' }).reply_targets, session.reply_targets)
  for (const caller of [undefined, { role: 'read' }] as const)
    t.deepEqual(shownSettings(session, caller).reply_targets, [{ plugin: 'mail', address: 'hidden' }])
})

test('a request that names no target stays as it is', (t) => {
  t.deepEqual(schedule({ kind: 'request', request: { content: 'x' } }, { role: 'read' }).request, { content: 'x' })
})
