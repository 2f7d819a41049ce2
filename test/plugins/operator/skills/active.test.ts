/** What a skill lets its run call, and who may say which skills are in use. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { createPause } from '../../../support/pause.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { makeFolder } from '../../../support/tools.js'

const files: Readonly<Record<string, string>> = {
  'reads/SKILL.md': '---\ndescription: Only reads.\n---\nRead.',
  'reads/agents/service.yaml': 'allowed_tools: [read_file, "task_*", list_files]',
  'quiet/SKILL.md': '---\ndescription: No lists.\n---\nHush.',
  'quiet/agents/service.yaml': 'blocked_tools: [list_files]',
  'spawns/SKILL.md': '---\ndescription: Reads with others.\n---\nRead.',
  'spawns/agents/service.yaml': 'allowed_tools: [read_file, spawn_agent]',
  'apart/SKILL.md': '---\ndescription: Reads apart.\n---\nalone: $ARGUMENTS',
  'apart/agents/service.yaml':
    'context: fork\nagent_profile: verification\nallowed_tools: [read_file, bash]\nblocked_tools: [bash]',
  'free/SKILL.md': '---\ndescription: Anything.\n---\nGo.',
}

const start = async (t: ExecutionContext, play: Play, root?: string) => {
  const folder = await makeFolder(t)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, skills: { roots: [folder], repository: false, user: false } },
    ...(root !== undefined && { root }),
  })
  await openSession(daemon)
  const shown = (call: number): string[] => (model.requests[call]?.tools ?? []).map(({ name }) => name).toSorted()
  const state = async () =>
    (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.metadata.session_skills_state
  return Object.assign(daemon, { shown, state, asked: model.requests })
}
const uses = (n: number, name: string) => [callTool(`use${n}`, 'use_skill', { name }), done('tool_calls')]
const ask = {
  questions: [{ header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }],
}

test('skills-13: a used skill leaves its run the tools that it names, several together the fewest, until the run ends', async (t) => {
  const plays = [
    uses(1, 'free'),
    uses(2, 'reads'),
    [callTool('no', 'bash', { command: 'true' }), done('tool_calls')],
    uses(3, 'quiet'),
    [text('done'), done()],
  ]
  const daemon = await start(t, (_, count) => plays[count - 1] ?? [text('more'), done()])
  await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
  t.true(daemon.shown(1).includes('bash'), 'a skill that names no tools restricts none')
  const all = daemon.shown(0)
  const reading = all.filter((name) => /^(?:read_file|list_files|task_.*|list_skills|use_skill)$/u.test(name))
  t.deepEqual(daemon.shown(2), reading)
  t.regex(JSON.stringify(daemon.asked[3]?.messages.at(-1)), /tool_not_found/u)
  t.deepEqual(
    daemon.shown(4),
    reading.filter((name) => name !== 'list_files'),
  )
  t.is(await daemon.state(), undefined)
  await until(daemon, (await submit(daemon, 's1', 'again')).run_id, 'completed')
  t.deepEqual(daemon.shown(5), all)
})

test('skills-13, skills-14: what a skill restricts, and that it is in use, holds over a restart', async (t) => {
  const root = await freshRoot()
  const first = await start(
    t,
    (_, count) => (count === 1 ? uses(1, 'quiet') : [callTool('ask', 'ask_user_question', ask), done('tool_calls')]),
    root,
  )
  const { run_id } = await submit(first, 's1', 'go')
  await until(first, run_id, 'waiting_for_user_question')
  const state = await first.state()
  t.like(state.active_skills[0], { name: 'quiet', context: 'inline', blocked_tools: ['list_files'] })
  t.is(state.active_skills[0].instructions, undefined)
  await first.stop()
  const second = await start(t, () => [text('done'), done()], root)
  t.deepEqual(await second.state(), state)
  const [request_id] = (await second.request('GET', `/v1/runs/${run_id}`)).body.pending_question_ids
  await second.request('POST', `/v1/runs/${run_id}/questions`, { resolution: { request_id, declined: true } })
  await until(second, run_id, 'completed')
  t.false(second.shown(0).includes('list_files'))
  t.true(second.shown(0).includes('read_file'))
})

test('skills-14: what callers say of skills in metadata is left out, and the rest is kept', async (t) => {
  const daemon = await start(t, () => [text('done'), done()])
  const metadata = { session_skills_state: { active_skills: [] }, session_visible_skills: ['x'], mine: 1 }
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'go', metadata })
  t.deepEqual((await until(daemon, body.run_id, 'completed')).input_metadata, { mine: 1 })
})

test('agents-6: an agent that a run starts keeps to the skills of that run, and so do those below it', async (t) => {
  const spawns = [
    callTool('s', 'spawn_agent', { name: 'part', prompt: 'child', wait: true }),
    done('tool_calls' as const),
  ]
  const seen: Record<string, string[]> = {}
  const daemon = await start(t, ({ messages, tools }) => {
    const told = JSON.stringify(messages)
    const turn = messages.filter(({ role }) => role === 'assistant').length
    if (told.includes('child'))
      seen[`${told.includes('deep') ? 'deep' : 'child'} ${turn}`] = tools.map(({ name }) => name)
    if (told.includes('"text":"child"'))
      return turn === 0
        ? [callTool('d', 'spawn_agent', { name: 'deep', prompt: 'deep child' }), done('tool_calls')]
        : [text('done'), done()]
    if (told.includes('deep child')) return [text('done'), done()]
    return turn === 0 ? uses(1, 'spawns') : turn === 1 ? spawns : [text('done'), done()]
  })
  await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
  const rows = (await daemon.request('GET', '/v1/agents/summaries')).body
  for (const { session_id } of rows)
    for (const run of (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body)
      await until(daemon, run.run_id, 'completed')
  const allowed = ['list_skills', 'read_file', 'spawn_agent', 'use_skill']
  t.deepEqual(seen['child 0']?.toSorted(), allowed)
  t.deepEqual(seen['deep 0']?.toSorted(), allowed)
  const plain = (await daemon.request('POST', `/v1/agents/${rows[0].agent_id}/sidechains`, {})).body
  await until(daemon, (await submit(daemon, plain.session_id, 'deep child')).run_id, 'completed')
  t.true((seen['deep 0']?.length ?? 0) > allowed.length, 'a person starts it with what the session has')
})

test('skills-12: an agent of its own works on a forked skill, with its profile and its tools, and is closed', async (t) => {
  const daemon = await start(t, ({ messages }) => {
    if (JSON.stringify(messages[0]).includes('alone')) return [text('found'), done()]
    return messages.at(-1)?.role === 'user'
      ? [callTool('use', 'use_skill', { name: 'apart', args: 'this' }), done('tool_calls')]
      : [text('done'), done()]
  })
  await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
  const child = daemon.asked.find(({ messages }) => JSON.stringify(messages[0]).includes('alone'))
  t.true(JSON.stringify(child?.messages[0]).includes('<untrusted_skill_arguments>'))
  t.deepEqual(child?.tools.map(({ name }) => name).toSorted(), ['list_skills', 'read_file', 'use_skill'])
  const result = JSON.stringify(daemon.asked.at(-1)?.messages.at(-1))
  t.true(result.includes('"final_output":"found"'), result)
  t.true(daemon.shown(0).length > 3, 'the run itself has what it had')
  const rows: any[] = (await daemon.request('GET', '/v1/agents/audit')).body
  const told = rows.find(({ event }) => event === 'agent_started')
  t.true(told.narrowed.includes('tool_surface'), 'agents-20')
  for (const pause = createPause(); ; await pause()) {
    const [, agent] = (await daemon.request('GET', '/v1/agents/summaries')).body
    if (agent.closed_at_ms !== undefined) return t.like(agent, { path: '/apart', last_output_preview: 'found' })
  }
})
