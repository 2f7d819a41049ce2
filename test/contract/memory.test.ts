/**
 * docs/rules/memory.md: rules that can be seen from outside, against a daemon with a third-party plugin that brings
 * learnings and skills.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, spawnMain, startTestDaemon, type Reachable } from '../support/daemon.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

const day = 86_400_000
const workspace = { kind: 'workspace', id: 'default' }

const learning = (learning_id: string, more: object = {}): object => ({
  learning_id,
  scope: workspace,
  kind: 'fact',
  sensitivity: 'scoped',
  content: `The harbour ${learning_id} is deep.`,
  published_at_ms: 1_000_000,
  status: 'active',
  publish_tier: 'active',
  policy_decision: 'manual',
  verification_status: 'unverified',
  ...more,
})
const skill = (name: string, more: object = {}): object => ({
  summary: {
    name,
    description: `How to ${name}.`,
    skill_path: `/skills/${name}/SKILL.md`,
    skill_root: '/skills',
    scope: 'explicit',
    digest: 'd',
    runtime: { context: 'inline' },
  },
  updated_at_ms: 2_000_000,
  ...more,
})

interface Brought {
  readonly learnings?: readonly object[]
  readonly skills?: readonly object[]
  readonly scopes?: Readonly<Record<string, readonly object[]>>
  readonly policy?: string
}

/** A plugin as people write them: no import of ours. */
const sourcePlugin = (brought: Brought): string => `
const { learnings, skills, scopes } = ${JSON.stringify({ learnings: brought.learnings ?? [], skills: brought.skills ?? [], scopes: brought.scopes ?? {} })}
export default ({ definePlugin, object }) => definePlugin({
  id: 'learns', version: '1.0.0', api: 1, summary: 'Brings learnings.', config: object({}),
  register(ctx) {
    ctx.contribute({ point: 'memory-sources@1' },
      { id: 'learns', scopes: (session_id) => scopes[session_id] ?? [], learnings: () => learnings, skills: () => skills },
      { id: 'broken', learnings: () => { throw new TypeError('broken') } })
  },
})
`

const start = async (t: ExecutionContext<any>, brought: Brought = {}): Promise<Reachable> => {
  const root = await freshRoot()
  const folder = join(root, 'plugins', 'learns')
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(root, 'config'))
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'learns', version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }),
  )
  writeFileSync(join(folder, 'plugin.js'), sourcePlugin(brought))
  writeFileSync(join(root, 'config', 'plugins.toml'), '[learns]\nfrom = "state:learns"\n')
  if (brought.policy !== undefined) writeFileSync(join(root, 'config', 'memory.toml'), brought.policy)
  const daemon = await startTestDaemon(t, { root })
  await openSession(daemon)
  return daemon
}

const get = async ({ request }: Reachable, at: string, session_id = 's1'): Promise<any> => {
  const { status, body } = await request('GET', `/v1/sessions/${session_id}/${at}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
const learnedIds = async (daemon: Reachable, query = ''): Promise<string[]> =>
  (await get(daemon, `memory-context${query}`)).learned_context.entries.map((entry: any) => entry.learning_id)
const foundIds = async (daemon: Reachable, query = '?limit=50', session_id = 's1'): Promise<string[]> =>
  (await get(daemon, `memory-search${query}`, session_id)).results.map((row: any) => row.source_id)
const runToEnd = async (daemon: Reachable, session_id: string, content: string): Promise<any> =>
  until(daemon, (await submit(daemon, session_id, content)).run_id, 'completed')

test.serial('memory-1: procedure and run_summary learnings are not in learned_context', async (t) => {
  const daemon = await start(t, {
    learnings: [
      learning('fact'),
      learning('procedure', { kind: 'procedure' }),
      learning('summary', { kind: 'run_summary' }),
      learning('decision', { kind: 'decision' }),
    ],
  })
  t.deepEqual(await learnedIds(daemon), ['decision', 'fact'])
  const { results } = await get(daemon, 'memory-search?query=harbour')
  t.deepEqual(
    results.map((row: any) => [row.source_id, row.prompt_eligible]),
    [
      ['decision', true],
      ['fact', true],
      ['procedure', false],
      ['summary', false],
    ],
  )
})

test.serial('memory-2: sensitive learnings are neither in learned_context nor found', async (t) => {
  const daemon = await start(t, { learnings: [learning('open'), learning('private', { sensitivity: 'sensitive' })] })
  t.deepEqual(await learnedIds(daemon), ['open'])
  for (const query of ['?limit=50', '?query=harbour', '?query=private'])
    t.false((await foundIds(daemon, query)).includes('private'))
})

test.serial('memory-3: provisional, failed and escalated learnings are not in learned_context', async (t) => {
  const daemon = await start(t, {
    learnings: [
      learning('good'),
      learning('tier', { publish_tier: 'provisional', status: 'provisional' }),
      learning('failed', { verification_status: 'failed' }),
      learning('escalated', { policy_decision: 'escalated' }),
    ],
  })
  t.deepEqual(await learnedIds(daemon), ['good'])
  t.deepEqual((await foundIds(daemon)).toSorted(), ['escalated', 'good', 'tier'])
})

test.serial('memory-4: what was published automatically is excluded until it is verified', async (t) => {
  const automatic = (id: string, verification_status: string) =>
    learning(id, { policy_decision: 'automatic', verification_status })
  const daemon = await start(t, {
    learnings: [
      automatic('unverified', 'unverified'),
      automatic('pending', 'pending'),
      automatic('verified', 'verified'),
      learning('manual'),
    ],
  })
  t.deepEqual(await learnedIds(daemon), ['manual', 'verified'])
  t.deepEqual(await foundIds(daemon), ['manual', 'verified'])
})

test.serial(
  'memory-5: with a query that something answers the rest is left out; if nothing answers, scope and recency decide',
  async (t) => {
    const daemon = await start(t, {
      learnings: [
        learning('old', { content: 'Ships are blue.', published_at_ms: 1 }),
        learning('new', { content: 'Cranes are red.', published_at_ms: 2 }),
        learning('own', { content: 'Ropes are long.', published_at_ms: 0, scope: { kind: 'session', id: 's1' } }),
        learning('foreign', { scope: { kind: 'session', id: 's2' } }),
      ],
    })
    t.deepEqual(await learnedIds(daemon, '?query=ships'), ['old'])
    for (const query of ['', '?query=lighthouse', '?query=session', '?query=%20'])
      t.deepEqual(await learnedIds(daemon, query), ['own', 'new', 'old'], query)
  },
)

test.serial(
  'memory-6: a promoted skill is visible once its rollout is active, and where the scope of its learning is',
  async (t) => {
    const promoted = (name: string, status: string, source_scope: object = workspace) =>
      skill(name, { promoted: { status, source_scope } })
    const daemon = await start(t, {
      skills: [
        skill('plain'),
        promoted('running', 'active'),
        promoted('elsewhere', 'active', { kind: 'session', id: 's2' }),
        ...['draft', 'verified', 'canary', 'revoked'].map((status) => promoted(`is-${status}`, status)),
      ],
    })
    t.deepEqual(
      (await get(daemon, 'memory-context')).visible_skills.map(({ name }: any) => name),
      ['plain', 'running'],
    )
    t.deepEqual(
      (await get(daemon, 'skills')).map(({ name }: any) => name),
      ['plain', 'running'],
    )
    t.deepEqual((await foundIds(daemon, '?query=skill')).toSorted(), ['plain', 'running'])
  },
)

for (const visibility of ['session_only', 'learning_scopes'] as const) {
  test.serial(
    `memory-14: with search_visibility=${visibility} a search finds ` +
      `${visibility === 'session_only' ? 'runs of the session alone' : 'also runs of sessions with the same project, and no others'}`,
    async (t) => {
      const project = { kind: 'project', id: 'p1' }
      const daemon = await start(t, {
        scopes: { s1: [project], s2: [project], s3: [{ kind: 'project', id: 'p2' }] },
        policy: `search_visibility = "${visibility}"\n`,
      })
      const runs: Record<string, string> = {}
      for (const session_id of ['s1', 's2', 's3', 's4']) {
        await openSession(daemon, session_id)
        runs[session_id] = (await runToEnd(daemon, session_id, `/say lighthouse ${session_id}`)).run_id
      }
      const wanted = visibility === 'session_only' ? [runs['s1']] : [runs['s2'], runs['s1']]
      for (const query of ['', '?query=lighthouse']) t.deepEqual(await foundIds(daemon, query), wanted, query)
      t.deepEqual(await foundIds(daemon, '', 's4'), [runs['s4']])
      t.is((await get(daemon, 'memory-context')).recovered_memory.entries.length, 1)
    },
  )
}

test.serial('memory-7: learnings that expired, were revoked or are replaced by a live one are nowhere', async (t) => {
  const daemon = await start(t, {
    learnings: [
      learning('holds', { supersedes: 'replaced' }),
      learning('replaced'),
      learning('revoked', { status: 'revoked' }),
      learning('superseded', { status: 'superseded' }),
      learning('expired', { expires_at_ms: 5 }),
      learning('later', { expires_at_ms: 4_000_000_000_000 }),
      learning('kept'),
      learning('dead', { status: 'revoked', supersedes: 'kept' }),
    ],
  })
  t.deepEqual(await learnedIds(daemon), ['holds', 'kept', 'later'])
  t.deepEqual((await foundIds(daemon)).toSorted(), ['holds', 'kept', 'later'])
})

test.serial(
  'memory-9: GET /v1/sessions/{session_id}/memory-context: scopes from near to far, the newest runs or ' +
    'those that answer the query, never more than the policy says',
  async (t) => {
    const daemon = await start(t, { scopes: { s1: [{ kind: 'project', id: 'p1' }] } })
    const runs: string[] = []
    for (const word of ['alpha', 'beta', 'gamma', 'delta'])
      runs.push((await runToEnd(daemon, 's1', `/say ${word}`)).run_id)
    const view = await get(daemon, 'memory-context')
    t.deepEqual(Object.keys(view).toSorted(), [
      'learned_context',
      'learning_scopes',
      'recovered_memory',
      'session_id',
      'visible_skills',
    ])
    t.deepEqual(view.learning_scopes, [{ kind: 'session', id: 's1' }, { kind: 'project', id: 'p1' }, workspace])
    t.deepEqual(
      [view.recovered_memory.entries.map((entry: any) => entry.run_id), view.recovered_memory.truncated],
      [runs.slice(1).toReversed(), true],
    )
    t.deepEqual(
      (await get(daemon, 'memory-context?query=alpha')).recovered_memory.entries.map((entry: any) => entry.run_id),
      [runs[0]],
    )
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/nobody/memory-context')), [404, 'session_not_found'])
  },
)

test.serial(
  'memory-10: GET /v1/sessions/{session_id}/memory-search: 12 results unless asked for up to 50, newest ' +
    'first without a query, best first with one, skills only then',
  async (t) => {
    const daemon = await start(t, {
      learnings: Array.from({ length: 60 }, (_, n) =>
        learning(`l${String(n).padStart(2, '0')}`, {
          published_at_ms: n,
          content: n === 7 ? 'A lighthouse stands in the harbour.' : `The harbour ${n} is deep.`,
        }),
      ),
      skills: [skill('lighthouse-keeping')],
    })
    const run = await runToEnd(daemon, 's1', '/say The lighthouse is lit.')
    const browse = await get(daemon, 'memory-search')
    t.deepEqual(
      [browse.results.length, browse.truncated, browse.query, browse.results[0].source_id, browse.results[1].source_id],
      [12, true, undefined, run.run_id, 'l59'],
    )
    t.true(browse.results.every(({ kind, score }: any) => kind !== 'skill' && score === 0))
    t.is((await get(daemon, 'memory-search?query=harbour&limit=50')).results.length, 50)
    t.is((await get(daemon, 'memory-search?query=harbour&limit=500')).results.length, 50)
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/s1/memory-search?limit=0')), [400, 'invalid_limit'])
    for (const limit of ['x', '1.5'])
      t.deepEqual(
        codeOf(await daemon.request('GET', `/v1/sessions/s1/memory-search?limit=${limit}`)),
        [400, 'bad_request'],
        limit,
      )
    const found = await get(daemon, 'memory-search?query=lighthouse')
    t.deepEqual([found.query, found.truncated], ['lighthouse', false])
    t.deepEqual(
      found.results.map(({ kind, source_id, score }: any) => [kind, source_id, score]),
      [
        ['recovered_run', run.run_id, 440],
        ['skill', 'lighthouse-keeping', 440],
        ['learning', 'l07', 440],
      ],
    )
    t.deepEqual(found.results[0], {
      kind: 'recovered_run',
      source_id: run.run_id,
      title: 'Run completed: /say The lighthouse is lit.',
      excerpt: 'Request: /say The lighthouse is lit.\nResult: The lighthouse is lit.\nStatus: completed',
      score: 440,
      timestamp_ms: run.finished_at_ms,
      scope: { kind: 'session', id: 's1' },
      prompt_eligible: true,
      matched_fields: ['content'],
    })
    t.like(found.results[2], {
      title: 'Fact: A lighthouse stands in the harbour.',
      learning_status: 'active',
      publish_tier: 'active',
      verification_status: 'unverified',
      scope: workspace,
    })
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/nobody/memory-search')), [404, 'session_not_found'])
  },
)

test.serial(
  'memory-11: GET /v1/sessions/{session_id}/skills: what the capability scope lets through, by name, ' +
    'filtered by the query',
  async (t) => {
    const daemon = await start(t, {
      skills: [
        skill('sail'),
        skill('dive', { summary: { ...(skill('dive') as any).summary, when_to_use: 'Under WATER.' } }),
        skill('anchor'),
      ],
    })
    t.deepEqual(
      (await get(daemon, 'skills')).map(({ name }: any) => name),
      ['anchor', 'dive', 'sail'],
    )
    t.deepEqual(
      (await get(daemon, 'skills?query=water')).map(({ name }: any) => name),
      ['dive'],
    )
    await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_deny: ['dive'] } })
    t.deepEqual(
      (await get(daemon, 'skills')).map(({ name }: any) => name),
      ['anchor', 'sail'],
    )
    t.deepEqual(await foundIds(daemon, '?query=water'), [])
    t.deepEqual((await get(daemon, 'memory-context')).effective_capability_scope.skill_deny, ['dive'])
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/sessions/nobody/skills')), [404, 'session_not_found'])
  },
)

test.serial('memory-18: secrets and personal data of learnings and skills are not shown', async (t) => {
  const said = 'Write to canary@example.com with sk-canary1234567890abcdefgh'
  const daemon = await start(t, {
    learnings: [learning('leaky', { content: said })],
    skills: [skill('leaky', { summary: { ...(skill('leaky') as any).summary, description: said } })],
  })
  for (const at of ['memory-context', 'memory-search', 'memory-search?query=write', 'skills']) {
    const text = JSON.stringify(await get(daemon, at))
    t.true(text.includes('<email>'), at)
    t.false(/canary/u.test(text), at)
  }
})

test.serial(
  'memory-19: GET /v1/runtime/run-memory-policy answers the policy in force, as GET /v1/runtime shows it',
  async (t) => {
    const daemon = await start(t)
    const policy = {
      enabled: true,
      retention_ms: 30 * day,
      max_tracked_per_session: 32,
      max_prompt_entries: 3,
      redact_pii: true,
      search_visibility: 'session_only',
    }
    t.deepEqual((await daemon.request('GET', '/v1/runtime/run-memory-policy')).body, policy)
    t.deepEqual((await daemon.request('GET', '/v1/runtime')).body.run_memory_policy, policy)
    const bounded = await start(t, { policy: 'max_tracked_per_session = 2\n' })
    t.is((await bounded.request('GET', '/v1/runtime/run-memory-policy')).body.max_prompt_entries, 2)
    t.like((await bounded.request('GET', '/v1/status')).body, {
      run_memory: { enabled: true },
      session_memory: { sources: ['projects', 'learnings', 'skills', 'learns', 'broken'] },
    })
  },
)

test.serial('holdfast sessions memory shows what is remembered, and with a query what fits', async (t) => {
  const daemon = await start(t)
  const run = async (...args: string[]): Promise<string> => {
    const started = spawnMain(['sessions', 'memory', 's1', ...args, '--base-url', daemon.url])
    t.is((await started.exited).code, 0, started.text.err)
    return started.text.out
  }
  t.regex(await run(), /Nothing is remembered/u)
  const { run_id } = await runToEnd(daemon, 's1', '/say lighthouse')
  await runToEnd(daemon, 's1', '/say harbour')
  t.regex(
    await run('lighthouse'),
    new RegExp(`^\\S+Z {2}recovered_run {2}${run_id} {2}Run completed: /say lighthouse {2}\\(440\\)\n$`, 'u'),
  )
  t.regex(await run('--limit', '1'), /harbour\nThere is more/u)
})
