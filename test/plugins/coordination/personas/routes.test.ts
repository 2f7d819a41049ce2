import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession } from '../../../support/runs.js'

test('a persona is created, read, listed, found by id or name, and changed by members', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await daemon.request('POST', '/v1/personas', {
    persona_id: 'rev',
    display_name: ' Reviewer ',
    soul: 'You read code.',
    capability_scope: { skill_deny: [' b', 'a', 'a'] },
    metadata: { team: 'x' },
  })
  t.is(made.status, 201)
  t.like(made.body, {
    persona_id: 'rev',
    display_name: 'Reviewer',
    soul: 'You read code.',
    version: 1,
    metadata: { team: 'x' },
  })
  t.deepEqual(made.body.capability_scope.skill_deny, ['a', 'b'])
  t.deepEqual((await daemon.request('GET', '/v1/personas/rev')).body, made.body)
  const changed = (await daemon.request('PUT', '/v1/personas/rev', { soul: 'You write code.', metadata: {} })).body
  t.like(changed, { display_name: 'Reviewer', soul: 'You write code.', version: 2, metadata: undefined })
  t.deepEqual((await daemon.request('GET', '/v1/personas?query=EVI')).body, [
    {
      persona_id: 'rev',
      display_name: 'Reviewer',
      version: 2,
      created_at_ms: changed.created_at_ms,
      updated_at_ms: changed.updated_at_ms,
    },
  ])
  t.deepEqual((await daemon.request('GET', '/v1/personas?query=none')).body, [])
})

test('personas-5: a change that changes nothing leaves version and time as they are', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = (
    await daemon.request('POST', '/v1/personas', { display_name: 'One', capability_scope: { skill_allow: ['b', 'a'] } })
  ).body
  t.regex(made.persona_id, /^persona_/u)
  const same = (
    await daemon.request('PUT', `/v1/personas/${made.persona_id}`, {
      display_name: ' One',
      capability_scope: { skill_allow: ['a', 'b', 'a'] },
      default_skills: [],
    })
  ).body
  t.deepEqual(same, made)
})

test('personas-2: what cannot be kept is refused with its path, and nothing is changed', async (t) => {
  const daemon = await startTestDaemon(t)
  await daemon.request('POST', '/v1/personas', {
    persona_id: 'p',
    display_name: 'P',
    capability_scope: { skill_allow: ['good'] },
  })
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/personas', { persona_id: 'p', display_name: 'Other' })), [
    409,
    'persona_already_exists',
  ])
  for (const persona_id of ['', '.', '..', 'a/b', 'a\u0000'])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/personas', { persona_id, display_name: 'X' })), [
      400,
      'invalid_persona_id',
    ])
  const refused: readonly (readonly [object, string])[] = [
    [{ display_name: '  ' }, 'display_name'],
    [{ capability_scope: { mcp_tool_allow: [''] } }, 'capability_scope.mcp_tool_allow.0'],
    [{ default_skills: [{ name: ' ' }] }, 'default_skills.0.name'],
    [{ default_skills: [{ name: 'bad' }] }, 'default_skills.0.name'],
    [{ default_skills: [{ name: 'good' }, { name: 'good ' }] }, 'default_skills.1.name'],
    [{ default_skills: [{ name: 'good' }] }, 'default_skills.0.name'],
  ]
  const rules: string[] = []
  for (const [body, path] of refused) {
    const answer = await daemon.request('PUT', '/v1/personas/p', body)
    t.deepEqual([...codeOf(answer), answer.body.errors[0].path], [400, 'invalid_persona', `body.${path}`])
    rules.push(answer.body.errors[0].rule)
  }
  t.deepEqual(rules, [
    'must not be blank',
    'must not be blank',
    'must not be blank',
    'must be allowed by the capability_scope of the persona',
    'must not be named twice',
    'must be installed',
  ])
  t.is((await daemon.request('GET', '/v1/personas/p')).body.version, 1)
  for (const method of ['GET', 'PUT'])
    t.deepEqual(codeOf(await daemon.request(method, '/v1/personas/none', method === 'PUT' ? {} : undefined)), [
      404,
      'persona_not_found',
    ])
})

test('a search looks at all personas, however many there are', async (t) => {
  const daemon = await startTestDaemon(t)
  for (let n = 0; n < 103; n += 1)
    await daemon.request('POST', '/v1/personas', {
      persona_id: `p${String(n).padStart(3, '0')}`,
      display_name: n % 50 === 2 ? 'Reader' : 'Writer',
    })
  const found = (await daemon.request('GET', '/v1/personas?query=read')).body
  t.deepEqual(
    found.map(({ persona_id }: any) => persona_id),
    ['p002', 'p052', 'p102'],
  )
})

test('both forms of the list, with and without a query', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const persona_id of ['c1', 'a1', 'b2'])
    await daemon.request('POST', '/v1/personas', { persona_id, display_name: persona_id.toUpperCase() })
  const ids = (rows: any): string[] => rows.map(({ persona_id }: any) => persona_id)
  t.deepEqual(ids((await daemon.request('GET', '/v1/personas')).body), ['a1', 'b2', 'c1'])
  const page = (await daemon.request('GET', '/v1/personas?query=1&page=true&limit=1')).body
  t.deepEqual([ids(page.items), page.pagination.total_count], [['a1'], 2])
  t.deepEqual(
    ids((await daemon.request('GET', `/v1/personas?query=1&cursor=${page.pagination.next_cursor}`)).body.items),
    ['c1'],
  )
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/personas?limit=0')), [400, 'invalid_limit'])
})

test('personas-8, personas-10: a session keeps the persona that it was bound to, without its soul in any answer', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  await daemon.request('POST', '/v1/personas', {
    persona_id: 'p',
    display_name: 'P',
    soul: 'a very own soul',
    capability_scope: { skill_allow: ['a', 'b'] },
  })
  const bound = (await daemon.request('POST', '/v1/sessions/s1/persona', { persona_id: 'p' })).body
  t.like(bound.persona, { persona_id: 'p', persona_version: 1, display_name: 'P' })
  t.deepEqual(bound.effective_capability_scope.skill_allow, ['a', 'b'])
  const narrowed = (
    await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_allow: ['b', 'c'] } })
  ).body
  t.deepEqual(
    [narrowed.capability_scope.skill_allow, narrowed.effective_capability_scope.skill_allow],
    [['b', 'c'], ['b']],
  )
  await daemon.request('PUT', '/v1/personas/p', { display_name: 'Q' })
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1')).body.persona, bound.persona)
  const again = (await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })).body
  t.like(again.persona, { persona_version: 2, display_name: 'Q' })
  t.deepEqual(
    (await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })).body.persona,
    again.persona,
    'the same snapshot keeps its time',
  )
  for (const path of ['/v1/sessions/s1', '/v1/sessions', '/v1/sessions/s1/events'])
    t.false((await daemon.request('GET', path)).text.includes('very own soul'), path)
  t.is((await daemon.request('DELETE', '/v1/sessions/s1/persona')).body.persona, undefined)
})
