/** Skills that personas bring along: checked, frozen at a binding, in use in every run. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { shippedPlugins } from '../../../../core/shipped.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { recordsOf } from '../../../support/page-records.js'
import { codeOf, submit, until } from '../../../support/runs.js'
import { capabilityScope } from '../../../support/scopes.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { makeFolder } from '../../../support/tools.js'

const files: Readonly<Record<string, string>> = {
  'review/SKILL.md': '---\ndescription: Reviews.\n---\nReview ${ARGUMENTS} with care.',
  'review/agents/service.yaml': 'blocked_tools: [bash]',
  'calm/SKILL.md': '---\ndescription: Calms.\n---\nStay calm.',
  'fork/SKILL.md': '---\ndescription: Forks.\n---\nGo away.',
  'fork/agents/service.yaml': 'context: fork',
  'model/SKILL.md': '---\ndescription: Other model.\n---\nThink.',
  'model/agents/service.yaml': 'model: big',
}
const write = async (folder: string, name: string, content: string): Promise<void> => {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), content)
}
const skillFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await makeFolder(t)
  for (const [name, content] of Object.entries(files)) await write(folder, name, content)
  return folder
}

interface Start extends Pick<TestDaemonOptions, 'root' | 'shipped'> {
  readonly folder: string
  readonly play?: Play
}

const start = async (t: ExecutionContext<any>, { folder, play, ...rest }: Start) => {
  const model = scriptedProvider(play ?? (() => [text('done'), done()]))
  const daemon = await startTestDaemon(t, {
    ...rest,
    plugins: [model.plugin],
    config: { ...model.config, skills: { roots: [folder], repository: false, user: false } },
  })
  const toldOf = async (session_id: string): Promise<string> => {
    await until(daemon, (await submit(daemon, session_id, 'Hi')).run_id, 'completed')
    return /<persona_skills>\n([^]*)\n<\/persona_skills>/u.exec(model.requests.at(-1)?.system ?? '')?.[1] ?? ''
  }
  const metadataOf = async (session_id: string) =>
    (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session.metadata
  const changed = async (name: string): Promise<void> => {
    await write(folder, `${name}/SKILL.md`, `---\ndescription: Other.\n---\nSomething else.`)
    while ((await daemon.request('GET', `/v1/skills/${name}`)).body.instructions !== 'Something else.');
  }
  const gone = async (name: string): Promise<void> => {
    await rm(join(folder, name), { recursive: true })
    while ((await daemon.request('GET', `/v1/skills/${name}`)).status !== 404);
  }
  const tools = (): string[] => (model.requests.at(-1)?.tools ?? []).map(({ name }) => name)
  return { ...daemon, toldOf, metadataOf, changed, gone, tools, asked: model.requests }
}

const brought = { default_skills: [{ name: 'review', args: ' the plan ' }, { name: 'calm' }] }
const persona = { persona_id: 'p', display_name: 'P', soul: 'You are P.' }

test('personas-6: default skills are installed and usable by a run itself, on create, on update and at a binding', async (t) => {
  const folder = await skillFolder(t)
  await write(folder, 'long/SKILL.md', `---\ndescription: Long.\n---\n${'x'.repeat(200_000)}`)
  const daemon = await start(t, { folder })
  const kept = (await daemon.request('POST', '/v1/personas', { ...persona, ...brought })).body
  t.deepEqual(kept.default_skills, [{ name: 'review', args: 'the plan' }, { name: 'calm' }])
  const scope = capabilityScope({ skill_allow: ['calm'] })
  const refused: readonly (readonly [object, string, RegExp])[] = [
    [{ default_skills: [{ name: 'calm' }, { name: 'none' }] }, 'default_skills.1.name', /^must be installed$/u],
    [{ default_skills: [{ name: 'fork' }] }, 'default_skills.0.name', /^must be usable by a run itself: .*fork/u],
    [
      { default_skills: [{ name: 'model' }] },
      'default_skills.0.name',
      /^must be usable by a run itself: it sets model/u,
    ],
    [{ ...brought, capability_scope: scope }, 'default_skills.0.name', /^must be allowed by the capability_scope/u],
    [
      { default_skills: [{ name: 'long' }, { name: 'long ', args: 'x' }] },
      'default_skills.1.name',
      /^must not be named twice/u,
    ],
  ]
  for (const [body, field, rule] of refused)
    for (const answer of [
      await daemon.request('PUT', '/v1/personas/p', body),
      await daemon.request('POST', '/v1/personas', { ...persona, persona_id: 'q', ...body }),
    ]) {
      t.deepEqual([...codeOf(answer), answer.body.errors[0].path], [400, 'invalid_persona', `body.${field}`])
      t.regex(answer.body.errors[0].rule, rule)
    }
  const narrowed = await daemon.request('PUT', '/v1/personas/p', { capability_scope: scope })
  t.is(narrowed.body.errors[0].path, 'body.default_skills.0.name', 'the scope that comes of it counts')
  t.deepEqual((await daemon.request('GET', '/v1/personas/p')).body, kept)
  t.is((await daemon.request('GET', '/v1/personas/q')).status, 404)

  await daemon.request('POST', '/v1/sessions', { session_id: 's1' })
  const before = (await daemon.request('GET', '/v1/sessions/s1')).body
  await daemon.gone('calm')
  for (const answer of [
    await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' }),
    await daemon.request('POST', '/v1/sessions', { session_id: 's2', persona_id: 'p' }),
  ]) {
    t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'persona_unbindable', 'personas'])
    t.deepEqual(answer.body.errors, [
      { path: 'body.persona_id', rule: 'names a persona of which default_skills.1.name must be installed' },
    ])
  }
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1')).body, before)
  t.is((await daemon.request('GET', '/v1/sessions/s2')).status, 404)
  t.is(
    (await daemon.request('PUT', '/v1/personas/p', { soul: 'x' })).status,
    400,
    'an update looks at what comes of it',
  )
  t.is((await daemon.request('PUT', '/v1/personas/p', { default_skills: [] })).status, 200)
  t.is((await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })).status, 200)
})

test('personas-6: the instructions of default skills are bounded together', async (t) => {
  const folder = await skillFolder(t)
  for (const name of ['a', 'b'])
    await write(folder, `${name}/SKILL.md`, `---\ndescription: L.\n---\n${'x'.repeat(131_072)}`)
  const daemon = await start(t, { folder })
  const both = { default_skills: [{ name: 'a' }, { name: 'b' }] }
  t.is((await daemon.request('POST', '/v1/personas', { ...persona, ...both })).status, 201)
  const third = { default_skills: [...both.default_skills, { name: 'calm' }] }
  const answer = await daemon.request('PUT', '/v1/personas/p', third)
  t.deepEqual([...codeOf(answer), answer.body.errors[0].path], [400, 'invalid_persona', 'body.default_skills.2.name'])
})

test('personas-12, personas-13: what was frozen is told after the persona in every run, whatever changes and over restarts', async (t) => {
  const root = await freshRoot()
  const folder = await skillFolder(t)
  const first = await start(t, { root, folder })
  await first.request('POST', '/v1/personas', { ...persona, ...brought })
  await first.request('POST', '/v1/sessions', { session_id: 's1', persona_id: 'p' })
  const told = await first.toldOf('s1')
  t.true(told.includes('Review <untrusted_skill_arguments>\nthe plan\n</untrusted_skill_arguments> with care.'), told)
  t.true(told.indexOf('Review') < told.indexOf('Stay calm.'))
  t.regex(first.asked[0]?.system ?? '', /<\/persona>\n\n<persona_skills>/u)
  await first.request('POST', '/v1/runtime/system-prompt', { settings: { override_prompt: 'Only this.' } })
  t.is(await first.toldOf('s1'), '', 'an override stands in place of the persona and of what it brings along')
  await first.request('POST', '/v1/runtime/system-prompt', { settings: {} })
  for (const path of ['/v1/sessions', '/v1/sessions/s1', '/v1/sessions/s1/events', '/v1/runs'])
    t.false((await first.request('GET', path)).text.includes('Stay calm'), path)
  const { body: bound } = await first.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })

  await first.changed('calm')
  await first.gone('review')
  await first.request('PUT', '/v1/personas/p', { default_skills: [] })
  t.is(await first.toldOf('s1'), told)
  t.deepEqual((await first.request('GET', '/v1/sessions/s1')).body.persona, bound.persona)
  await first.stop()
  const again = await start(t, { root, folder })
  t.is(await again.toldOf('s1'), told)
  await again.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })
  t.is(await again.toldOf('s1'), '')
})

test('personas-12: a session that is bound again keeps the binding while the skills are the same', async (t) => {
  const daemon = await start(t, { folder: await skillFolder(t) })
  await daemon.request('POST', '/v1/personas', { ...persona, ...brought })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1', persona_id: 'p' })
  const bind = async () => (await daemon.request('PUT', '/v1/sessions/s1/persona', { persona_id: 'p' })).body.persona
  const { bound_at_ms, ...rest } = await bind()
  t.deepEqual(await bind(), { ...rest, bound_at_ms })
  await daemon.changed('calm')
  const { bound_at_ms: later, ...same } = await bind()
  t.deepEqual(same, rest)
  t.true(later > bound_at_ms)
  t.true((await daemon.toldOf('s1')).includes('Something else.'))
})

test('personas-12: a list of skills is kept once, with no session, and goes when nobody names it', async (t) => {
  const root = await freshRoot()
  const folder = await skillFolder(t)
  const first = await start(t, { root, folder })
  await first.request('POST', '/v1/personas', { ...persona, ...brought })
  for (const session_id of ['s1', 's2']) await first.request('POST', '/v1/sessions', { session_id, persona_id: 'p' })
  await first.stop()
  const [only, ...others] = Object.values(recordsOf(root, 'default_skills')).filter((record) => record !== null)
  t.deepEqual(others, [])
  t.deepEqual(
    only.skills.map(({ name, args, activation_reason }: any) => [name, args, activation_reason]),
    [
      ['review', 'the plan', 'persona:p'],
      ['calm', undefined, 'persona:p'],
    ],
  )
  for (const session of Object.values(recordsOf(root, 'sessions'))) {
    t.is(session.persona.default_skills_sha256, only.sha256)
    t.false(JSON.stringify(session).includes('calm'))
  }
  const second = await start(t, { root, folder })
  await second.request('DELETE', '/v1/sessions/s1/persona')
  t.true((await second.toldOf('s2')).includes('Stay calm.'))
  await second.request('DELETE', '/v1/sessions/s2/persona')
  await second.stop()
  t.deepEqual(
    Object.values(recordsOf(root, 'default_skills')).filter((record) => record !== null),
    [],
  )
})

test('personas-13, skills-14: default skills bind the tools of every run, and are told and shown as far as the scope lets them', async (t) => {
  const ask = {
    questions: [{ header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }],
  }
  const play: Play = ({ messages }, count) => {
    if (messages.at(-1)?.role === 'tool') return [text('done'), done()]
    const calls = [callTool('no', 'bash', { command: 'true' }), callTool('use', 'use_skill', { name: 'calm' })]
    return count === 1
      ? [...calls, callTool('ask', 'ask_user_question', ask), done('tool_calls')]
      : [text('done'), done()]
  }
  const daemon = await start(t, { folder: await skillFolder(t), play })
  await daemon.request('POST', '/v1/personas', { ...persona, default_skills: [{ name: 'review' }] })
  for (const session_id of ['s1', 's2']) await daemon.request('POST', '/v1/sessions', { session_id, persona_id: 'p' })
  const shown = async (session_id: string) =>
    (await daemon.metadataOf(session_id)).session_skills_state?.active_skills.map(
      ({ name, activation_reason, instructions }: any) => [name, activation_reason, instructions],
    )
  t.deepEqual(await shown('s1'), [['review', 'persona:p', undefined]], 'without a run')
  const { run_id } = await submit(daemon, 's1', 'Hi')
  await until(daemon, run_id, 'waiting_for_user_question')
  t.false(daemon.tools().includes('bash'))
  t.true(daemon.tools().includes('read_file'))
  t.deepEqual(await shown('s1'), [
    ['review', 'persona:p', undefined],
    ['calm', 'use_skill', undefined],
  ])
  const outcomes = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal.filter(
    ({ type, entry }: any) => type === 'outcome' && entry.tool_call_id === 'no',
  )
  t.is(outcomes[0].entry.output.error.code, 'tool_not_found')
  const scope = { capability_scope: capabilityScope({ skill_deny: ['review'] }) }
  await daemon.request('PUT', '/v1/sessions/s2/capability-scope', scope)
  t.deepEqual([await daemon.toldOf('s2'), await shown('s2')], ['', undefined])
  t.false(daemon.tools().includes('bash'), 'a scope never gives a session more tools')
  await daemon.request('DELETE', '/v1/sessions/s2/persona')
  await daemon.toldOf('s2')
  t.true(daemon.tools().includes('bash'))
})

test('personas-14: without the plugin of skills, sessions keep theirs, and a persona with skills is refused', async (t) => {
  const root = await freshRoot()
  const folder = await skillFolder(t)
  const first = await start(t, { root, folder })
  await first.request('POST', '/v1/personas', { ...persona, ...brought })
  await first.request('POST', '/v1/sessions', { session_id: 's1', persona_id: 'p' })
  const told = await first.toldOf('s1')
  await first.stop()
  const model = scriptedProvider(() => [text('done'), done()])
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'skills')
  const daemon = await startTestDaemon(t, { root, shipped, plugins: [model.plugin], config: model.config })
  await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  t.true(model.requests[0]?.system.includes(told))
  t.false(model.requests[0]?.tools.some(({ name }) => name === 'bash'))
  const { health } = (await daemon.request('GET', '/v1/status')).body
  t.true(JSON.stringify(health).includes('persona_skills_absent'))
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id: 's2', persona_id: 'p' })), [
    400,
    'persona_unbindable',
  ])
  const answer = await daemon.request('POST', '/v1/personas', { ...persona, persona_id: 'q', ...brought })
  t.regex(answer.body.errors[0].rule, /^must be installed, and the plugin skills/u)
})

test('personas are made with default skills on the command line, which says what is wrong in its own words', async (t) => {
  const daemon = await start(t, { folder: await skillFolder(t) })
  const run = createCommandLine(daemon)
  const made = await run('personas', 'create', 'P', '--id', 'p', '--default-skills', 'calm, review')
  t.is(made.out, 'p  P  version 1\n', made.err)
  const { default_skills } = (await daemon.request('GET', '/v1/personas/p')).body
  t.deepEqual(default_skills, [{ name: 'calm' }, { name: 'review' }])
  const refused = await run('personas', 'create', 'Q', '--default-skills', 'fork')
  t.regex(refused.err, /: --default-skills must be usable by a run itself: .*\(invalid_persona\)/u)
})
