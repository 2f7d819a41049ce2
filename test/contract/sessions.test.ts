/**
 * docs/rules/sessions.md: rules that can be seen from outside, against a daemon, with kill -9 wherever something was
 * acknowledged.
 */
import test from 'ava'
import { spawnTestDaemon, startTestDaemon, type Answer, type Reachable, type TestDaemon } from '../support/daemon.js'
import { startMortal, type Mortal } from '../support/mortal.js'
import { startReceiver } from '../support/receiver.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'
import { capabilityScope, credentialScope } from '../support/scopes.js'

const start = async (t: any): Promise<TestDaemon> => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  return daemon
}
/** For tests that kill. */
const mortal = async (t: any): Promise<Mortal> => {
  const daemon = await startMortal(t)
  await openSession(daemon)
  return daemon
}
/** Kills the daemon and starts one on its root. */
const reborn = async (t: any, daemon: Mortal): Promise<TestDaemon> => {
  await daemon.kill('SIGKILL')
  return startTestDaemon(t, { root: daemon.root })
}
/** As `reborn`, to be killed again. */
const mortalAgain = async (t: any, daemon: Mortal): Promise<Mortal> => {
  await daemon.kill('SIGKILL')
  return startMortal(t, { root: daemon.root })
}
const at = '/v1/sessions/s1'
const read = async ({ request }: Reachable): Promise<any> => (await request('GET', at)).body
const pathOf = ({ body }: Answer): string => body.errors?.[0]?.path
const wait = async (daemon: Reachable, content = '/ask Which? | A | B'): Promise<any> =>
  until(daemon, (await submit(daemon, 's1', content)).run_id, 'waiting_for_user_question', 'waiting_for_approval')

const capability = capabilityScope()
const credential = credentialScope()
const target = { type: 'http', url: 'https://example.com/hook', headers: { 'x-team': 'a' } }

test.serial(
  'sessions-1: POST /v1/sessions: answers 201, and an id that exists is used again, also after kill -9',
  async (t) => {
    const first = await spawnTestDaemon(t)
    const body = {
      session_id: 's1',
      thread_id: 'th',
      capability_scope: { skill_allow: ['b', 'a'] },
      credential_scope: { route_deny: ['x'] },
    }
    const made = await first.request('POST', '/v1/sessions', body)
    t.is(made.status, 201)
    const daemon = await reborn(t, first)
    for (const again of [
      { session_id: 's1' },
      body,
      { session_id: 's1', capability_scope: { skill_allow: [' a', 'b', 'b'] } },
    ]) {
      const answer = await daemon.request('POST', '/v1/sessions', again)
      t.is(answer.status, 201)
      t.deepEqual(answer.body, made.body)
    }
    const made50 = await Promise.all(
      Array.from({ length: 50 }, () => daemon.request('POST', '/v1/sessions', { session_id: 'many' })),
    )
    t.is(new Set(made50.map((answer) => answer.body.agent_id)).size, 1)
  },
)

test.serial('sessions-2: POST /v1/sessions: session_id must not be empty, "." or ".."', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const session_id of ['', ' ', '.', '..'])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id })), [400, 'invalid_session_id'])
  t.deepEqual((await daemon.request('GET', '/v1/sessions')).body, [])
})

test.serial(
  'sessions-3: POST /v1/sessions: reuse is rejected when a supplied persona_id, capability_scope or ' +
    'credential_scope conflicts with the stored one',
  async (t) => {
    const daemon = await startTestDaemon(t)
    for (const persona_id of ['p', 'q'])
      await daemon.request('POST', '/v1/personas', { persona_id, display_name: persona_id })
    const full = {
      session_id: 's1',
      persona_id: 'p',
      capability_scope: { skill_deny: ['x'] },
      credential_scope: { route_deny: ['x'] },
    }
    await daemon.request('POST', '/v1/sessions', full)
    await daemon.request('POST', '/v1/sessions', { session_id: 'bare' })
    const before = await read(daemon)
    const others = { persona_id: 'q', capability_scope: {}, credential_scope: { route_deny: ['x', 'y'] } }
    for (const [field, value] of Object.entries(others)) {
      const answer = await daemon.request('POST', '/v1/sessions', { session_id: 's1', [field]: value })
      t.deepEqual([...codeOf(answer), pathOf(answer)], [409, 'session_conflict', `body.${field}`])
    }
    for (const field of ['persona_id', 'capability_scope', 'credential_scope'] as const) {
      t.deepEqual(
        codeOf(await daemon.request('POST', '/v1/sessions', { session_id: 'bare', [field]: full[field] })),
        [409, 'session_conflict'],
        'it has none',
      )
    }
    t.deepEqual(await read(daemon), before)
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id: 'new', persona_id: 'nobody' })), [
      404,
      'persona_not_found',
    ])
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/new')), [404, 'session_not_found'])
  },
)

test.serial(
  'sessions-4: GET /v1/sessions: an array, or an envelope with page, cursor and limit; an ended session is ' +
    'seen as ended',
  async (t) => {
    const daemon = await startTestDaemon(t)
    for (const id of ['s3', 's1', 's2']) await openSession(daemon, id)
    const ids = (rows: any): string[] => rows.map(({ session_id }: any) => session_id)
    t.deepEqual(ids((await daemon.request('GET', '/v1/sessions')).body), ['s1', 's2', 's3'])
    t.deepEqual(ids((await daemon.request('GET', '/v1/sessions?limit=2')).body), ['s1', 's2'])
    const page = (await daemon.request('GET', '/v1/sessions?page=true&limit=2')).body
    t.deepEqual([ids(page.items), page.pagination.has_more, page.pagination.total_count], [['s1', 's2'], true, 3])
    t.deepEqual(ids((await daemon.request('GET', `/v1/sessions?cursor=${page.pagination.next_cursor}`)).body.items), [
      's3',
    ])
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions?limit=0')), [400, 'invalid_limit'])
    await daemon.request('POST', '/v1/sessions/s2/end', {})
    const rows = (await daemon.request('GET', '/v1/sessions')).body
    t.deepEqual(
      rows.map(({ status, ended_at_ms }: any) => [status, ended_at_ms !== undefined]),
      [
        ['idle', false],
        ['completed', true],
        ['idle', false],
      ],
    )
  },
)

test.serial(
  'sessions-5: GET /v1/sessions?persona_id=: filters by the bound snapshot, not by the latest record, also ' +
    'after kill -9',
  async (t) => {
    const first = await mortal(t)
    await openSession(first, 's2')
    await first.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P' })
    await first.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })
    await first.request('PUT', '/v1/personas/p', { display_name: 'New' })
    const daemon = await reborn(t, first)
    const rows = (await daemon.request('GET', '/v1/sessions?persona_id=p')).body
    t.deepEqual(
      rows.map(({ session_id, persona }: any) => [session_id, persona.display_name, persona.persona_version]),
      [['s1', 'P', 1]],
    )
    t.deepEqual((await daemon.request('GET', '/v1/sessions?persona_id=other&page=true')).body.items, [])
    await daemon.request('DELETE', '/v1/sessions/s1/persona')
    t.deepEqual((await daemon.request('GET', '/v1/sessions?persona_id=p')).body, [])
  },
)

test.serial(
  'sessions-6: GET /v1/sessions/{session_id}: SessionView has all its fields, and leaves out those that are empty',
  async (t) => {
    const daemon = await start(t)
    t.deepEqual(Object.keys(await read(daemon)).sort(), ['agent_id', 'outputs', 'session_id', 'snapshot'])
    await daemon.request('POST', '/v1/personas', {
      persona_id: 'p',
      display_name: 'P',
      soul: 'deep',
      capability_scope: { skill_allow: ['a'] },
    })
    await daemon.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })
    await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_deny: ['b'] } })
    await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope: { connector_allow: ['mail'] } })
    await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'demo' } })
    await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })
    await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
    const view = await read(daemon)
    const fields = [
      'route_policy',
      'capability_scope',
      'effective_capability_scope',
      'credential_scope',
      'effective_credential_scope',
      'persona',
      'reply_targets',
      'operator',
    ]
    t.deepEqual(Object.keys(view).sort(), ['agent_id', 'outputs', 'session_id', 'snapshot', ...fields].sort())
    t.deepEqual(
      Object.keys(view.persona).sort(),
      ['bound_at_ms', 'display_name', 'persona_id', 'persona_version'],
      'a compact summary, without the soul',
    )
    const [row] = (await daemon.request('GET', '/v1/sessions')).body
    for (const field of fields) t.deepEqual(row[field], view[field], field)
    t.deepEqual([row.snapshot, row.outputs], [undefined, undefined])
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/none')), [404, 'session_not_found'])
  },
)

test.serial(
  'sessions-13: POST, PUT, DELETE /v1/sessions/{session_id}/persona: binds, binds anew and clears, durably',
  async (t) => {
    const first = await mortal(t)
    for (const persona_id of ['p', 'q'])
      await first.request('POST', '/v1/personas', { persona_id, display_name: persona_id.toUpperCase() })
    const bound = await first.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })
    t.deepEqual([bound.status, bound.body.persona.display_name], [200, 'P'])
    const second = await mortalAgain(t, first)
    t.deepEqual((await read(second)).persona, bound.body.persona)
    t.is((await second.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'q' })).body.persona.display_name, 'Q')
    t.deepEqual(codeOf(await second.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'none' })), [
      404,
      'persona_not_found',
    ])
    t.is((await read(second)).persona.persona_id, 'q')
    t.is((await second.request('DELETE', '/v1/sessions/s1/persona')).body.persona, undefined)
    t.is((await read(await reborn(t, second))).persona, undefined)
  },
)

test.serial(
  'sessions-9: POST, PUT, DELETE /v1/sessions/{session_id}/capability-scope: sets and clears, durably',
  async (t) => {
    const first = await mortal(t)
    const set = await first.request('POST', '/v1/sessions/s1/capability-scope', {
      capability_scope: { mcp_tool_allow: ['b', 'a'] },
    })
    t.deepEqual([set.status, set.body.capability_scope], [200, { ...capability, mcp_tool_allow: ['a', 'b'] }])
    const second = await mortalAgain(t, first)
    t.deepEqual((await read(second)).capability_scope, set.body.capability_scope)
    t.deepEqual(
      (await second.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_deny: ['x'] } }))
        .body.capability_scope,
      { ...capability, skill_deny: ['x'] },
      'replaced as a whole',
    )
    t.is((await second.request('DELETE', '/v1/sessions/s1/capability-scope')).body.capability_scope, undefined)
    t.is((await read(await reborn(t, second))).capability_scope, undefined)
  },
)

test.serial(
  'sessions-9: POST, PUT, DELETE /v1/sessions/{session_id}/credential-scope: sets and clears, durably',
  async (t) => {
    const first = await mortal(t)
    const set = await first.request('POST', '/v1/sessions/s1/credential-scope', {
      credential_scope: { route_allow: ['demo'] },
    })
    t.deepEqual([set.status, set.body.credential_scope], [200, { ...credential, route_allow: ['demo'] }])
    const second = await reborn(t, first)
    t.deepEqual((await read(second)).credential_scope, set.body.credential_scope)
    const denied = await second.request('PUT', '/v1/sessions/s1/credential-scope', {
      credential_scope: { route_deny: ['*'] },
    })
    t.deepEqual(denied.body.credential_scope, { ...credential, route_deny: ['*'] })
    t.deepEqual(
      codeOf(await second.request('POST', `${at}/runs`, { content: 'x' })),
      [400, 'route_not_allowed'],
      'it decides which routes can resolve',
    )
    t.is((await second.request('DELETE', '/v1/sessions/s1/credential-scope')).body.credential_scope, undefined)
    t.is((await second.request('POST', `${at}/runs`, { content: 'x' })).status, 202)
  },
)

test.serial(
  'sessions-14: Scopes: entries are trimmed, sorted and de-duplicated, a star collapses a list, and a blank ' +
    'entry is refused',
  async (t) => {
    const daemon = await start(t)
    const scope = { route_allow: [' b', 'a', 'b '], route_deny: ['x', '*', 'y'] }
    t.like(
      (await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope: scope })).body
        .credential_scope,
      { route_allow: ['a', 'b'], route_deny: ['*'] },
    )
    for (const blank of ['', '  ']) {
      const answer = await daemon.request('PUT', '/v1/sessions/s1/credential-scope', {
        credential_scope: { route_allow: ['a', blank] },
      })
      t.deepEqual(
        [...codeOf(answer), pathOf(answer)],
        [400, 'blank_scope_entry', 'body.credential_scope.route_allow.1'],
      )
    }
    t.like((await read(daemon)).credential_scope, { route_allow: ['a', 'b'] })
    t.is(
      (await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { route_allow: ['a'] } }))
        .status,
      400,
      'unknown lists are refused',
    )
  },
)

test.serial(
  'sessions-16: CapabilityScope: the effective scope is the baseline of the persona restricted by the scope ' +
    'of the session, never wider',
  async (t) => {
    const daemon = await start(t)
    await daemon.request('POST', '/v1/personas', {
      persona_id: 'p',
      display_name: 'P',
      capability_scope: {
        skill_allow: ['a', 'b'],
        mcp_server_allow: ['*'],
        mcp_tool_allow: ['t'],
        mcp_tool_deny: ['u'],
      },
    })
    await daemon.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })
    const scope = { skill_allow: ['b', 'c'], mcp_server_allow: ['m'], mcp_tool_allow: ['other'], mcp_tool_deny: ['v'] }
    const { body } = await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: scope })
    t.deepEqual(
      body.effective_capability_scope,
      { ...capability, skill_allow: ['b'], mcp_server_allow: ['m'], mcp_tool_deny: ['*'] },
      'no common tool: none',
    )
    t.like(body.capability_scope, scope)
    await daemon.request('DELETE', '/v1/sessions/s1/persona')
    t.deepEqual((await read(daemon)).effective_capability_scope, body.capability_scope)
  },
)

test.serial(
  'sessions-18: CredentialScope: where connectors are scoped and no credential is allowed by name, ' +
    'connector credentials are denied',
  async (t) => {
    const daemon = await start(t)
    const denied = async (credential_scope: object): Promise<unknown> =>
      (await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope })).body
        .effective_credential_scope.connector_credential_deny
    t.deepEqual(await denied({ connector_allow: ['mail'] }), ['*'])
    t.deepEqual(await denied({ connector_deny: ['chat'] }), ['*'])
    t.deepEqual(await denied({ connector_allow: ['mail'], connector_credential_allow: ['MAIL_KEY'] }), [])
    t.deepEqual(await denied({ route_allow: ['demo'] }), [])
  },
)

test.serial(
  'models-6: POST, PUT, DELETE /v1/sessions/{session_id}/route-policy: sets, replaces and clears, durably; ' +
    'a run uses it',
  async (t) => {
    const first = await mortal(t)
    const policy = {
      provider: 'demo',
      generation: {
        model: 'm1',
        fallback_model: 'm2',
        tool_choice: { type: 'auto' },
        allow_parallel_tool_calls: false,
        max_output_tokens: 9,
        temperature: 0.5,
        response_format: { type: 'text' },
      },
    }
    const set = await first.request('POST', '/v1/sessions/s1/route-policy', { route_policy: policy })
    t.deepEqual([set.status, set.body.route_policy], [200, policy])
    const second = await reborn(t, first)
    t.deepEqual((await read(second)).route_policy, policy)
    t.like((await second.request('POST', `${at}/runs`, { content: 'x' })).body.request, {
      provider: 'demo',
      model: 'm1',
    })
    t.deepEqual(
      (await second.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'demo' } })).body
        .route_policy,
      { provider: 'demo' },
    )
    t.deepEqual(
      codeOf(await second.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'none' } })),
      [400, 'bad_request'],
    )
    t.is(
      (
        await second.request('PUT', '/v1/sessions/s1/route-policy', {
          route_policy: { generation: { temperature: 'hot' } },
        })
      ).status,
      400,
    )
    t.deepEqual((await read(second)).route_policy, { provider: 'demo' })
    t.is((await second.request('DELETE', '/v1/sessions/s1/route-policy')).body.route_policy, undefined)
  },
)

test.serial(
  'sessions-19: GET, POST, PUT, DELETE /v1/sessions/{session_id}/reply-targets: each answers with the ' +
    'normalised handles, durably',
  async (t) => {
    const first = await mortal(t)
    t.deepEqual((await first.request('GET', '/v1/sessions/s1/reply-targets')).body, { reply_targets: [] })
    const set = await first.request('POST', '/v1/sessions/s1/reply-targets', {
      reply_targets: [target, { type: 'http', url: 'https://example.org/' }, target],
    })
    t.deepEqual([set.status, Object.keys(set.body)], [200, ['reply_targets']])
    t.deepEqual(
      set.body.reply_targets.map(({ plugin, ...rest }: any) => [plugin, Object.keys(rest)]),
      [
        ['http', ['address']],
        ['http', ['address']],
      ],
      'handles, each once, in order',
    )
    const second = await reborn(t, first)
    t.deepEqual((await second.request('GET', '/v1/sessions/s1/reply-targets')).body, set.body)
    t.deepEqual((await read(second)).reply_targets, set.body.reply_targets)
    const [handle] = set.body.reply_targets
    t.deepEqual(
      (await second.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [{ type: 'raw', ...handle }] }))
        .body,
      { reply_targets: [handle] },
    )
    t.deepEqual((await second.request('DELETE', '/v1/sessions/s1/reply-targets')).body, { reply_targets: [] })
  },
)

test.serial(
  'sessions-20: Reply targets: an unknown plugin, connector, variant or field is refused with its path, and ' +
    'nothing is changed',
  async (t) => {
    const daemon = await start(t)
    const { body: before } = await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })
    const refused: readonly (readonly [object, string])[] = [
      [{ type: 'raw', plugin: 'none', address: 'x' }, 'body.reply_targets.1.plugin'],
      [{ type: 'external', connector: 'c', route: 'r' }, 'body.reply_targets.1.connector'],
      [
        { type: 'telegram', connector: 'c', chat_id: 5, message_thread_id: 6, reply_to_message_id: 7 },
        'body.reply_targets.1.connector',
      ],
      [
        { type: 'slack', connector: 'c', channel_id: 'C1', enterprise_id: 'E1', team_id: 'T1', thread_ts: '1.2' },
        'body.reply_targets.1.connector',
      ],
      [{ type: 'http', url: 'http://127.0.0.1/' }, 'body.reply_targets.1.url'],
      [{ type: 'http', url: 'ftp://example.com' }, 'body.reply_targets.1.url'],
      [{ type: 'http' }, 'body.reply_targets.1.url'],
      [{ type: 'telegram', connector: 'c', chat_id: 'five' }, 'body.reply_targets.1.chat_id'],
      [{ type: 'pigeon' }, 'body.reply_targets.1.type'],
      [{ plugin: 'http', address: 'ftp://example.com' }, 'body.reply_targets.1.address'],
    ]
    for (const [bad, path] of refused) {
      const answer = await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target, bad] })
      t.deepEqual([answer.status, pathOf(answer)], [400, path], JSON.stringify(bad))
    }
    t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/reply-targets')).body, before)
  },
)

test.serial(
  'sessions-21: Reply targets: an empty list and DELETE are remembered as a clear, distinct from never set, ' +
    'also after kill -9',
  async (t) => {
    const first = await mortal(t)
    await openSession(first, 's2')
    const metadata = async (daemon: Reachable, session_id: string): Promise<any> =>
      (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session.metadata
    await first.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [] })
    const daemon = await reborn(t, first)
    t.deepEqual(await metadata(daemon, 's1'), { session_reply_targets: [] })
    t.deepEqual(await metadata(daemon, 's2'), {})
    await daemon.request('DELETE', '/v1/sessions/s2/reply-targets')
    t.deepEqual(await metadata(daemon, 's2'), { session_reply_targets: [] })
  },
)

test.serial(
  'sessions-23: GET, POST, PUT, DELETE /v1/sessions/{session_id}/operator: answers with the policy; DELETE ' +
    'disables and never accepts destinations',
  async (t) => {
    const first = await mortal(t)
    const off = { enabled: false, allow_notify: true, allow_questions: true }
    t.deepEqual((await first.request('GET', '/v1/sessions/s1/operator')).body, off)
    const asked = {
      enabled: true,
      display_name: 'Robin',
      communication_style: 'Short and friendly.',
      allow_notify: false,
      allow_questions: true,
    }
    const set = await first.request('POST', '/v1/sessions/s1/operator', asked)
    t.deepEqual([set.status, set.body], [200, asked])
    const daemon = await reborn(t, first)
    t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/operator')).body, asked)
    t.deepEqual((await read(daemon)).operator, asked)
    t.deepEqual(
      (await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })).body,
      { enabled: true, allow_notify: false, allow_questions: true },
      'replaced as a whole',
    )
    for (const more of [{ reply_targets: [] }, { chat_id: 5 }])
      t.is((await daemon.request('PUT', '/v1/sessions/s1/operator', { ...asked, ...more })).status, 400)
    t.is((await daemon.request('DELETE', '/v1/sessions/s1/operator', { reply_targets: [target] })).status, 400)
    t.true((await daemon.request('GET', '/v1/sessions/s1/operator')).body.enabled)
    t.deepEqual((await daemon.request('DELETE', '/v1/sessions/s1/operator')).body, off)
    t.is((await read(daemon)).operator, undefined)
  },
)

test.serial(
  'sessions-24: Operator contact: display_name and communication_style must not hold tokens, URLs, e-mail ' +
    'addresses, chat ids, channel ids or webhook details',
  async (t) => {
    const daemon = await start(t)
    const unsafe = [
      'sk-1234567890abcdef',
      'see https://example.com',
      'robin@example.com',
      '-1001234567890',
      'C024BE91L',
      'post to the webhook',
    ]
    for (const field of ['display_name', 'communication_style']) {
      for (const text of unsafe) {
        const answer = await daemon.request('PUT', '/v1/sessions/s1/operator', {
          enabled: true,
          allow_notify: false,
          [field]: text,
        })
        t.deepEqual([...codeOf(answer), pathOf(answer)], [400, 'operator_contact_unsafe', `body.${field}`], text)
        t.false(answer.text.includes(text), 'what was refused is not repeated')
      }
    }
    t.false((await daemon.request('GET', '/v1/sessions/s1/operator')).body.enabled)
  },
)

test.serial(
  'sessions-25: Operator contact: allow_notify needs a deliverable reply target, and targets stay while it is on',
  async (t) => {
    const daemon = await start(t)
    const refused = await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: true })
    t.deepEqual([...codeOf(refused), pathOf(refused)], [400, 'reply_targets_needed', 'body.allow_notify'])
    await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })
    t.is((await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: true })).status, 200)
    t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/sessions/s1/reply-targets')), [400, 'reply_targets_needed'])
    t.is((await daemon.request('GET', '/v1/sessions/s1/reply-targets')).body.reply_targets.length, 1)
  },
)

test.serial(
  'sessions-26: Operator contact: notifications are queued through the reply targets of the session, and ' +
    'are sent under one key through kill -9',
  async (t) => {
    const receiver = await startReceiver(t)
    const first = await mortal(t)
    const to = (path: string) => [{ type: 'raw', plugin: 'http', address: receiver.address(path) }]
    await first.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: to('/operator') })
    await first.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
    receiver.on('/operator', () => {})
    const accepted = await first.request('POST', `${at}/runs`, {
      content: '/tool notify_operator {"message":"The disk is full."}',
      reply_targets: to('/run'),
    })
    const run = await until(first, accepted.body.run_id, 'completed')
    t.deepEqual(
      run.outputs.map(({ content, source_kind }: any) => [content, source_kind]),
      [
        ['The disk is full.', 'operator_notification'],
        ['Done.', 'assistant_text'],
      ],
    )
    await receiver.until(() => receiver.at('/operator').length > 0, 'a first attempt')
    await first.kill('SIGKILL')
    receiver.on('/operator', (_, response) => void response.end('ok'))
    const daemon = await startTestDaemon(t, { root: first.root })
    await receiver.until(
      async () => (await daemon.request('GET', '/v1/deliveries?status=delivered')).body.length === 2,
      'both delivered',
    )
    t.is(new Set(receiver.at('/operator').map(({ key, body }) => `${key} ${body.content}`)).size, 1)
    t.deepEqual(receiver.at('/operator')[0]?.body.content, 'The disk is full.')
    t.deepEqual(
      [...new Set(receiver.at('/run').map(({ body }) => body.content))],
      ['Done.'],
      'what the run says goes where the run says',
    )
  },
)

test.serial(
  'sessions-27: Operator contact: operator questions are ordinary pending questions and need no transport; ' +
    'the run goes on through kill -9',
  async (t) => {
    const first = await mortal(t)
    await first.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
    const run = await wait(
      first,
      '/tool ask_operator {"questions":[{"question":"Go on?","options":[{"label":"Yes"},{"label":"No"}]}]}',
    )
    const daemon = await reborn(t, first)
    const [pending] = (await daemon.request('GET', '/v1/questions')).body
    t.deepEqual([pending.run_id, pending.request.questions[0].question], [run.run_id, 'Go on?'])
    const resolution = { request_id: pending.request.id, answers: [{ question_id: 'q1', selected_option_ids: ['o1'] }] }
    t.is((await daemon.request('POST', `/v1/runs/${run.run_id}/questions`, { resolution })).status, 202)
    await until(daemon, run.run_id, 'completed')
  },
)

test.serial(
  'sessions-10: Session states: persona, scopes, operator and reply targets need an idle session, else 409 ' +
    'with nothing changed; the route policy does not',
  async (t) => {
    const daemon = await start(t)
    await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P' })
    const bodies = {
      persona: { persona_id: 'p' },
      'capability-scope': { capability_scope: { skill_deny: ['x'] } },
      'credential-scope': { credential_scope: { mcp_server_deny: ['x'] } },
      'reply-targets': { reply_targets: [target] },
      operator: { enabled: true, allow_notify: false },
    }
    const refusedAll = async (why: string): Promise<void> => {
      const before = await read(daemon)
      for (const [segment, body] of Object.entries(bodies)) {
        for (const [method, sent] of [
          ['POST', body],
          ['PUT', body],
          ['DELETE', undefined],
        ] as const) {
          t.deepEqual(
            codeOf(await daemon.request(method, `${at}/${segment}`, sent)),
            [409, 'session_not_idle'],
            `${method} ${segment}: ${why}`,
          )
        }
      }
      t.deepEqual(await read(daemon), before)
    }
    await wait(daemon)
    await refusedAll('a question is pending')
    await daemon.request('POST', `${at}/interrupt`)
    const approval = await wait(daemon, '/tool bash {"command":"true"}')
    await refusedAll('an approval is pending')
    t.is(
      (await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'demo' } })).status,
      200,
    )
    await daemon.request('POST', `/v1/runs/${approval.run_id}/cancel`)
    for (const [segment, body] of Object.entries(bodies))
      t.is((await daemon.request('PUT', `${at}/${segment}`, body)).status, 200, segment)
  },
)

test.serial(
  'sessions-28: GET /v1/sessions/{session_id}/events: changes of settings are in the journal, the current ' +
    'ones in metadata; no soul, and no address in the journal',
  async (t) => {
    const first = await mortal(t)
    await first.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P', soul: 'my secret soul' })
    await first.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })
    await first.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })
    await first.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_deny: ['x'] } })
    await first.request('DELETE', '/v1/sessions/s1/capability-scope')
    await first.request('POST', `${at}/end`, { reason: 'done' })
    const daemon = await reborn(t, first)
    const answer = await daemon.request('GET', `${at}/events`)
    const { journal, metadata } = answer.body.session
    t.deepEqual(
      journal.map(({ type, entry }: any) => [type, entry.change, entry.key ?? entry.reason]),
      [
        ['session', 'set', 'session_persona_binding'],
        ['session', 'set', 'session_reply_targets'],
        ['session', 'set', 'session_capability_scope'],
        ['session', 'cleared', 'session_capability_scope'],
        ['session', 'ended', 'done'],
      ],
    )
    t.deepEqual(Object.keys(metadata).sort(), ['session_persona_binding', 'session_reply_targets'])
    t.false(answer.text.includes('secret soul'))
    t.false(JSON.stringify(journal).includes('example.com'))
    t.deepEqual(Object.keys(answer.body).sort(), ['daemon_outputs', 'run_events', 'session'])
  },
)

test.serial(
  'sessions-29, sessions-30: POST /v1/sessions/{session_id}/end: a body with a reason; the session is ' +
    'opened again by POST /v1/sessions and keeps its settings',
  async (t) => {
    const first = await mortal(t)
    await first.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 'demo' } })
    const ended = await first.request('POST', `${at}/end`, { reason: 'enough' })
    t.is(ended.status, 200)
    const daemon = await reborn(t, first)
    t.is((await read(daemon)).ended_at_ms, ended.body.ended_at_ms)
    t.deepEqual(codeOf(await daemon.request('POST', `${at}/runs`, { content: 'x' })), [409, 'session_ended'])
    const opened = await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
    t.deepEqual(
      [opened.status, opened.body.ended_at_ms, opened.body.route_policy],
      [201, undefined, { provider: 'demo' }],
    )
    t.is((await daemon.request('POST', `${at}/runs`, { content: 'x' })).status, 202)
  },
)

test.serial(
  'sessions-22: Authentication: a token that may only read sees no addresses of reply targets and changes nothing',
  async (t) => {
    const daemon = await spawnTestDaemon(t, {
      env: { SERVICE_DAEMON_ADMIN_TOKEN: 'a'.repeat(32), SERVICE_DAEMON_READONLY_TOKEN: 'r'.repeat(32) },
      headers: { authorization: `Bearer ${'a'.repeat(32)}` },
    })
    await openSession(daemon)
    await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [target] })
    const reader = { authorization: `Bearer ${'r'.repeat(32)}` }
    for (const path of [at, '/v1/sessions', '/v1/sessions/s1/reply-targets', `${at}/events`]) {
      const answer = await daemon.request('GET', path, undefined, reader)
      t.is(answer.status, 200, path)
      t.false(answer.text.includes('example.com'), path)
      t.true((await daemon.request('GET', path)).text.includes('example.com'), path)
    }
    for (const segment of [
      'persona',
      'capability-scope',
      'credential-scope',
      'reply-targets',
      'operator',
      'route-policy',
    ])
      t.is((await daemon.request('DELETE', `${at}/${segment}`, undefined, reader)).status, 403)
  },
)
