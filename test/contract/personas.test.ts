/** docs/rules/personas.md: rules that can be seen from outside, against a daemon. */
import { createHash } from 'node:crypto'
import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { startMortal, type Mortal } from '../support/mortal.js'
import { startOpenAiServer, saying } from '../support/openai-server.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

const reborn = async (t: any, daemon: Mortal): Promise<TestDaemon> => {
  await daemon.kill('SIGKILL')
  return startTestDaemon(t, { root: daemon.root })
}
const ids = (rows: any): string[] => rows.map(({ persona_id }: any) => persona_id)

test.serial(
  'personas-1: POST /v1/personas: creates with an id that is chosen or made, 201, durably; a duplicate id ' +
    'is 409 persona_already_exists',
  async (t) => {
    const first = await startMortal(t)
    const made = await first.request('POST', '/v1/personas', {
      persona_id: 'p',
      display_name: 'P',
      soul: 'A soul.',
      capability_scope: { skill_allow: ['b', ' a'] },
      default_skills: [],
      metadata: { a: { b: 1 } },
    })
    t.is(made.status, 201)
    t.like(made.body, { persona_id: 'p', display_name: 'P', soul: 'A soul.', version: 1, metadata: { a: { b: 1 } } })
    t.deepEqual([made.body.capability_scope.skill_allow, made.body.default_skills], [['a', 'b'], undefined])
    const daemon = await reborn(t, first)
    t.deepEqual((await daemon.request('GET', '/v1/personas/p')).body, made.body)
    const again = await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'Other' })
    t.deepEqual([...codeOf(again), again.body.domain], [409, 'persona_already_exists', 'personas'])
    t.deepEqual((await daemon.request('GET', '/v1/personas/p')).body, made.body)
    t.truthy((await daemon.request('POST', '/v1/personas', { display_name: 'Made' })).body.persona_id)
    const fifty = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        daemon.request('POST', '/v1/personas', { persona_id: 'one', display_name: `N${n}` }),
      ),
    )
    t.deepEqual(
      fifty
        .map(({ status }) => status)
        .sort()
        .slice(0, 2),
      [201, 409],
      'of fifty at once one is created',
    )
  },
)

test.serial(
  'personas-3: GET /v1/personas: query is a substring over id and display name; an array, or an envelope ' +
    'with page, cursor and limit',
  async (t) => {
    const daemon = await startTestDaemon(t)
    for (const [persona_id, display_name] of [
      ['b-1', 'Writer'],
      ['a-1', 'Reader'],
      ['c-2', 'writer too'],
    ])
      await daemon.request('POST', '/v1/personas', { persona_id, display_name })
    t.deepEqual(ids((await daemon.request('GET', '/v1/personas')).body), ['a-1', 'b-1', 'c-2'])
    t.deepEqual(Object.keys((await daemon.request('GET', '/v1/personas')).body[0]).sort(), [
      'created_at_ms',
      'display_name',
      'persona_id',
      'updated_at_ms',
      'version',
    ])
    t.deepEqual(ids((await daemon.request('GET', '/v1/personas?query=WRITE')).body), ['b-1', 'c-2'])
    t.deepEqual(ids((await daemon.request('GET', '/v1/personas?query=-1')).body), ['a-1', 'b-1'])
    const page = (await daemon.request('GET', '/v1/personas?query=write&page=true&limit=1')).body
    t.deepEqual([ids(page.items), page.pagination.total_count, page.pagination.order], [['b-1'], 2, 'persona_id_asc'])
    t.deepEqual(
      ids((await daemon.request('GET', `/v1/personas?query=write&cursor=${page.pagination.next_cursor}`)).body.items),
      ['c-2'],
    )
  },
)

test.serial('personas-4: GET /v1/personas/{persona_id}: an unknown one is 404', async (t) => {
  const daemon = await startTestDaemon(t)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/personas/none')), [404, 'persona_not_found'])
  t.deepEqual(codeOf(await daemon.request('PUT', '/v1/personas/none', { soul: 'x' })), [404, 'persona_not_found'])
})

test.serial(
  'personas-5: PUT /v1/personas/{persona_id}: replaces the members it names; the version grows with a real ' +
    'change only, durably',
  async (t) => {
    const first = await startMortal(t)
    const made = (
      await first.request('POST', '/v1/personas', {
        persona_id: 'p',
        display_name: 'P',
        soul: 'one',
        metadata: { a: 1, b: 2 },
      })
    ).body
    const changed = (
      await first.request('PUT', '/v1/personas/p', { soul: 'two', capability_scope: { skill_deny: ['x'] } })
    ).body
    t.like(changed, {
      display_name: 'P',
      soul: 'two',
      version: 2,
      metadata: { a: 1, b: 2 },
      created_at_ms: made.created_at_ms,
    })
    const daemon = await reborn(t, first)
    for (const same of [
      {},
      { soul: 'two' },
      { display_name: ' P ' },
      { capability_scope: { skill_deny: ['x', 'x '] } },
      { metadata: { b: 2, a: 1 } },
      { default_skills: [] },
    ]) {
      t.deepEqual((await daemon.request('PUT', '/v1/personas/p', same)).body, changed, JSON.stringify(same))
    }
    t.is((await daemon.request('PUT', '/v1/personas/p', { capability_scope: {} })).body.capability_scope, undefined)
    t.is((await daemon.request('PUT', '/v1/personas/p', { version: 9 })).status, 400, 'the version is not settable')
    t.is((await daemon.request('GET', '/v1/personas/p')).body.version, 3)
  },
)

test.serial(
  'personas-6: default_skills: named, each once, allowed by the scope, installed; checked on create and on update',
  async (t) => {
    const daemon = await startTestDaemon(t)
    await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P' })
    const cases: readonly (readonly [object, string, string])[] = [
      [{ default_skills: [{ name: ' ' }] }, 'body.default_skills.0.name', 'must not be blank'],
      [
        { capability_scope: { skill_allow: ['other'] }, default_skills: [{ name: 's', args: 'x' }] },
        'body.default_skills.0.name',
        'must be allowed by the capability_scope of the persona',
      ],
      [{ default_skills: [{ name: 's' }, { name: ' s ' }] }, 'body.default_skills.1.name', 'must not be named twice'],
      [{ default_skills: [{ name: 's' }] }, 'body.default_skills.0.name', 'must be installed'],
    ]
    for (const [body, path, rule] of cases) {
      for (const answer of [
        await daemon.request('POST', '/v1/personas', { persona_id: 'q', display_name: 'Q', ...body }),
        await daemon.request('PUT', '/v1/personas/p', body),
      ]) {
        t.deepEqual([...codeOf(answer), answer.body.errors], [400, 'invalid_persona', [{ path, rule }]])
      }
    }
    t.deepEqual(ids((await daemon.request('GET', '/v1/personas')).body), ['p'])
  },
)

test.serial(
  'personas-7: Binding freezes the persona: updating the record never changes sessions, and the same ' +
    'snapshot keeps bound_at_ms',
  async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon)
    await daemon.request('POST', '/v1/personas', {
      persona_id: 'p',
      display_name: 'P',
      capability_scope: { skill_allow: ['a'] },
    })
    const bind = async (): Promise<any> =>
      (await daemon.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })).body
    const bound = await bind()
    t.deepEqual((await bind()).persona, bound.persona)
    await daemon.request('PUT', '/v1/personas/p', { display_name: 'Q', capability_scope: {} })
    const { body } = await daemon.request('GET', '/v1/sessions/s1')
    t.deepEqual([body.persona, body.effective_capability_scope], [bound.persona, bound.effective_capability_scope])
    t.like((await bind()).persona, { persona_version: 2, display_name: 'Q' })
  },
)

test.serial(
  'personas-8: The bound soul is injected into the system prompt as a persona section when it is not empty, ' +
    'and no session surface returns it',
  async (t) => {
    const server = await startOpenAiServer(() => saying('Hello'))
    t.teardown(() => server.close())
    const flags = [
      '--provider',
      'openai_compatible',
      '--provider-base-url',
      server.url,
      '--model',
      'm',
      '--api-key',
      'k',
    ]
    const first = await startMortal(t, { flags })
    const soul = 'You are the keeper of the lighthouse.'
    await first.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P', soul })
    await first.request('POST', '/v1/personas', { persona_id: 'empty', display_name: 'E', soul: ' ' })
    await first.request('POST', '/v1/sessions', { session_id: 's1', persona_id: 'p' })
    await first.request('PUT', '/v1/personas/p', { soul: 'You are somebody else.' })
    await first.kill('SIGKILL')
    const daemon = await startMortal(t, { root: first.root, flags })
    const systemOf = async (session_id: string): Promise<string> => {
      await until(daemon, (await submit(daemon, session_id, 'Hi')).run_id, 'completed')
      const messages: any = server.asked.at(-1)?.body['messages']
      return JSON.stringify(messages[0].content)
    }
    const told = await systemOf('s1')
    t.true(told.includes(`<persona>\\n${soul}\\n</persona>`), told)
    t.false(told.includes('somebody else'))
    await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'empty' })
    t.false((await systemOf('s1')).includes('<persona>'))
    await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })
    for (const path of ['/v1/sessions', '/v1/sessions/s1', '/v1/sessions/s1/events', '/v1/runs'])
      t.false((await daemon.request('GET', path)).text.includes('lighthouse'), path)
    const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
    const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
    t.deepEqual(
      body.session.journal.flatMap(({ entry }: any) => entry.value?.soul_sha256 ?? []),
      [digest(soul), digest(' '), digest('You are somebody else.')],
    )
  },
)

test.serial(
  'personas-9: Persona mutation on a session succeeds only while idle, and does not alter queued or suspended work',
  async (t) => {
    const daemon = await startTestDaemon(t)
    await openSession(daemon)
    await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'P' })
    const run = await until(
      daemon,
      (await submit(daemon, 's1', '/ask Which? | A | B')).run_id,
      'waiting_for_user_question',
    )
    const queued = await submit(daemon, 's1', 'later')
    t.deepEqual(codeOf(await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })), [
      409,
      'session_not_idle',
    ])
    t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body, run)
    await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)
    await until(daemon, queued.run_id, 'completed')
    t.is((await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })).status, 200)
  },
)
