import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const lists = {
  skill_allow: [],
  skill_deny: [],
  mcp_server_allow: [],
  mcp_server_deny: [],
  mcp_tool_allow: [],
  mcp_tool_deny: [],
}

test('a scope is stored normal, shown with what it comes to, and cleared', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const at = '/v1/sessions/s1/capability-scope'
  const set = await daemon.request('PUT', at, {
    capability_scope: { skill_allow: [' b ', 'a', 'b'], mcp_tool_deny: ['x', '*'] },
  })
  t.deepEqual(
    [set.status, set.body.capability_scope],
    [200, { ...lists, skill_allow: ['a', 'b'], mcp_tool_deny: ['*'] }],
  )
  t.deepEqual(set.body.effective_capability_scope, set.body.capability_scope)
  const blank = await daemon.request('POST', at, { capability_scope: { skill_deny: ['a', ' '] } })
  t.deepEqual(codeOf(blank), [400, 'blank_scope_entry'])
  t.deepEqual(blank.body.errors, [{ path: 'body.capability_scope.skill_deny.1', rule: 'must not be blank' }])
  t.deepEqual(
    (await daemon.request('GET', '/v1/sessions/s1')).body.capability_scope,
    set.body.capability_scope,
    'a refused change changes nothing',
  )
  t.is((await daemon.request('DELETE', at)).body.capability_scope, undefined)
  t.is((await daemon.request('GET', '/v1/sessions')).body[0].effective_capability_scope, undefined)
})

test('sessions-12: a change that changes nothing leaves no entry in the journal, and one that does leaves one', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const scope = { credential_scope: { route_allow: ['demo'] } }
  for (let count = 0; count < 3; count += 1) await daemon.request('PUT', '/v1/sessions/s1/credential-scope', scope)
  await daemon.request('DELETE', '/v1/sessions/s1/credential-scope')
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  t.deepEqual(
    body.session.journal.map(({ type, entry }: any) => [type, entry.change, entry.key]),
    [
      ['session', 'set', 'session_credential_scope'],
      ['session', 'cleared', 'session_credential_scope'],
    ],
  )
  t.deepEqual(body.session.metadata, {})
})

test('models-6: a route policy names a route that the daemon has and the session may use', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const at = '/v1/sessions/s1/route-policy'
  t.deepEqual(codeOf(await daemon.request('PUT', at, { route_policy: { provider: 'none' } })), [400, 'bad_request'])
  const set = await daemon.request('POST', at, { route_policy: { provider: 'demo', generation: { temperature: 0.5 } } })
  t.deepEqual(set.body.route_policy, { provider: 'demo', generation: { temperature: 0.5 } })
  await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope: { route_deny: ['demo'] } })
  t.deepEqual(codeOf(await daemon.request('PUT', at, { route_policy: { provider: 'demo' } })), [
    400,
    'route_not_allowed',
  ])
  t.is((await daemon.request('DELETE', at)).body.route_policy, undefined)
  t.is((await daemon.request('PUT', at, { route_policy: {} })).body.route_policy, undefined)
})

test('a session that waits is not idle: settings are refused, but for the route policy', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', '/ask Which? | A | B')).run_id, 'waiting_for_user_question')
  const before = (await daemon.request('GET', '/v1/sessions/s1')).body
  const bodies = {
    'capability-scope': { capability_scope: { skill_deny: ['*'] } },
    'credential-scope': { credential_scope: { route_deny: ['x'] } },
    'reply-targets': { reply_targets: [] },
    operator: { enabled: true, allow_notify: false },
    persona: { persona_id: 'p' },
  }
  for (const [segment, body] of Object.entries(bodies)) {
    for (const [method, sent] of [
      ['POST', body],
      ['PUT', body],
      ['DELETE', undefined],
    ] as const) {
      t.deepEqual(
        codeOf(await daemon.request(method, `/v1/sessions/s1/${segment}`, sent)),
        [409, 'session_not_idle'],
        `${method} ${segment}`,
      )
    }
  }
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1')).body, before)
  t.is(
    (await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'demo' } })).status,
    200,
  )
  await daemon.request('POST', '/v1/sessions/s1/interrupt')
  t.is((await daemon.request('PUT', '/v1/sessions/s1/capability-scope', bodies['capability-scope'])).status, 200)
})

test('an ended session is seen as ended in the list, and opened again it is as it was', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope: { route_deny: ['x'] } })
  const ended = (await daemon.request('POST', '/v1/sessions/s1/end')).body
  t.is(ended.snapshot.agent.status, 'completed')
  t.true(ended.ended_at_ms > 0)
  const [row] = (await daemon.request('GET', '/v1/sessions')).body
  t.deepEqual([row.status, row.ended_at_ms], ['completed', ended.ended_at_ms])
  const opened = (await daemon.request('POST', '/v1/sessions', { session_id: 's1' })).body
  t.deepEqual(
    [opened.ended_at_ms, opened.snapshot.agent.status, opened.credential_scope.route_deny],
    [undefined, 'idle', ['x']],
  )
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  t.deepEqual(
    body.session.journal.map(({ entry }: any) => entry.change),
    ['set', 'ended', 'opened'],
  )
})

test('reply targets of an unknown plugin are refused, and an empty list is remembered as a clear', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/reply-targets')).body, { reply_targets: [] })
  const none = await daemon.request('POST', '/v1/sessions/s1/reply-targets', {
    reply_targets: [{ type: 'raw', plugin: 'pigeon', address: 'x' }],
  })
  t.deepEqual([...codeOf(none), none.body.errors[0].path], [400, 'reply_target_invalid', 'body.reply_targets.0.plugin'])
  t.is((await daemon.request('GET', '/v1/sessions/s1/events')).body.session.metadata.session_reply_targets, undefined)
  t.deepEqual((await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [] })).body, {
    reply_targets: [],
  })
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/events')).body.session.metadata, {
    session_reply_targets: [],
  })
  t.deepEqual((await daemon.request('DELETE', '/v1/sessions/s1/reply-targets')).body, { reply_targets: [] })
})

test('the operator contact is checked, set, read and switched off', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const off = { enabled: false, allow_notify: true, allow_questions: true }
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/operator')).body, off)
  t.deepEqual(codeOf(await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })), [
    400,
    'reply_targets_needed',
  ])
  const unsafe = await daemon.request('POST', '/v1/sessions/s1/operator', {
    enabled: true,
    allow_notify: false,
    display_name: 'robin@example.org',
  })
  t.deepEqual(
    [...codeOf(unsafe), unsafe.body.errors[0]],
    [400, 'operator_contact_unsafe', { path: 'body.display_name', rule: 'must not hold an e-mail address' }],
  )
  t.is(
    (await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, chat: 1 })).body.errors[0].rule,
    'is not a known field',
  )
  const set = (
    await daemon.request('PUT', '/v1/sessions/s1/operator', {
      enabled: true,
      allow_notify: false,
      display_name: ' Robin ',
      communication_style: ' ',
    })
  ).body
  t.deepEqual(set, { enabled: true, display_name: 'Robin', allow_notify: false, allow_questions: true })
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1')).body.operator, set)
  t.is((await daemon.request('DELETE', '/v1/sessions/s1/operator', { reply_targets: [] })).status, 400)
  t.deepEqual((await daemon.request('DELETE', '/v1/sessions/s1/operator')).body, off)
  t.is((await daemon.request('GET', '/v1/sessions/s1')).body.operator, undefined)
})

test('a session whose run is only queued is not idle', async (t) => {
  const daemon = await startTestDaemon(t, { config: { runs: { max_concurrent_runs: 1 } } })
  for (const id of ['s1', 's2']) await openSession(daemon, id)
  const first = await submit(daemon, 's2', '/sleep 3600000')
  const queued = await submit(daemon, 's1', 'later')
  t.is(queued.status, 'queued')
  const change = () => daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  t.deepEqual(codeOf(await change()), [409, 'session_not_idle'])
  await daemon.request('POST', `/v1/runs/${first.run_id}/cancel`)
  await until(daemon, queued.run_id, 'completed')
  t.is((await change()).status, 200)
})
