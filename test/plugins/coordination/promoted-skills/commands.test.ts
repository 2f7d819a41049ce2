import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { completed, instructions, marker, markingModel, procedure, promote } from '../../../support/promoted.js'

test('promoted-skills-24: promoted skills from the command line, from the first to the last', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const line = createCommandLine(daemon)
  const run = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await line(...words)
    t.is(code, 0, `${words.join(' ')}: ${err}`)
    return out
  }
  t.regex(await run('learning-skills', 'list'), /^No learning is promoted yet\. Promote one: holdfast learnings/u)
  const learning = await procedure(daemon)
  const step = (...more: string[]) => run('learnings', 'promote-skill', learning, 'notes', ...more)
  const draft = await step('--instructions', instructions, '--allowed-tools', 'a', '--allowed-tools', 'b')
  t.regex(draft, /^notes {2}draft {2}of learning_\w+ {2}0 good runs, no run as a canary {2}Has an agent/u)
  const shown = async () => run('learning-skills', 'get', 'notes')
  t.regex(
    await shown(),
    /\nno results yet\n\nnext: [^\n]*from now on:\n {2}holdfast agents spawn [^]*--kind verification/u,
  )
  const failed = await line(
    'learning-skills',
    'rollout-result',
    'notes',
    await completed(daemon),
    'x',
    '--kind',
    'canary',
  )
  t.regex(failed.err, /is draft and no canary.*\(rollout_not_canary\)/u)
  const record = async (kind: string) =>
    run('learning-skills', 'rollout-result', 'notes', await completed(daemon), marker, '--kind', kind)
  const good = await record('verification')
  t.regex(good, /^run_\w+ counts good as verification: its request did not have the instructions\nnotes {2}draft {2}/u)
  t.regex(good, / {2}1 good run, no run as a canary {2}/u)
  t.regex(
    await shown(),
    /\n {2}\S+Z {2}run_\w+ {2}good as verification[^]*next: [^\n]*word:\n {2}.*--status verified /u,
  )
  t.regex(await step('--status', 'verified'), / {2}verified {2}/u)
  t.regex(await shown(), /--status canary /u)
  t.regex(await step('--status', 'canary'), / {2}canary {2}/u)
  t.regex(await shown(), /rollout-result --kind canary notes RUN_ID MARKER\n/u)
  t.regex(
    await record('canary'),
    / counts good as canary[^]* {2}2 good runs, as a canary 1 good and 0 bad of 1 run {2}/u,
  )
  t.regex(await shown(), /--status active /u)
  const active = await step('--status', 'active')
  t.regex(active, / {2}active {2}/u)
  t.is(await run('learning-skills', 'list', '--status', 'active', '--source-learning-id', learning), active)
  t.like(JSON.parse(await run('learning-skills', 'get', 'notes', '--output', 'json')), {
    instructions,
    runtime: { allowed_tools: ['a', 'b'] },
  })
  t.regex(
    await shown(),
    /\nallowed_tools {2}a, b\n[^]*\nfile {2}\/[^]*\nnext: models use it[^]*revoke notes\n\nRead the log/u,
  )
  t.regex(await run('learning-skills', 'revoke', 'notes', '--reason', 'Why.'), / {2}revoked {2}/u)
  t.regex(await run('learning-skills', 'rollback', 'notes', '--reason', 'Why not.'), / {2}active {2}/u)
  t.regex((await line('learnings', 'promote-skill', learning, 'notes')).err, /--instructions/u)
  t.regex((await line('learnings', 'promote-skill', learning, 'a b', '--instructions', 'x')).err, /<skill_name>/u)
  const wrong = async (...more: string[]) => (await line('learnings', 'promote-skill', learning, 'new', ...more)).err
  t.regex(await wrong('--instructions', ' '), /^ *--instructions must have/mu)
  t.regex(await wrong('--promotion-json', '[]', '--status', 'draft'), /--promotion-json must be an object/u)
  t.regex(await wrong('--promotion-json', '{"instructions":" "}'), /instructions of --promotion-json must have/u)
  t.regex(await wrong('--status', 'draft'), /--instructions must be given: there is no such skill yet/u)
  t.regex(await run('learning-skills', 'rollout-result', '--help'), /<marker> in its last output/u)
})

test('promoted-skills-24: lists are by name, filtered and in pages', async (t) => {
  const daemon = await startTestDaemon(t)
  const learnings: string[] = []
  for (const name of ['c', 'a', 'b']) {
    const learning = await procedure(daemon, `The way of ${name}.`)
    learnings.push(learning)
    await promote(daemon, learning, { skill_name: name })
  }
  await daemon.request('POST', `/v1/learning-skills/b/revoke`)
  const names = async (query: string): Promise<string[]> => {
    const { body } = await daemon.request('GET', `/v1/learning-skills?${query}`)
    return (Array.isArray(body) ? body : body.items).map(({ skill_name }: any) => skill_name)
  }
  t.deepEqual(await names(''), ['a', 'b', 'c'])
  t.deepEqual(await names('status=draft'), ['a', 'c'])
  t.deepEqual(await names(`source_learning_id=${learnings[0]}`), ['c'])
  t.deepEqual(await names(`source_learning_id=${learnings[2]}&status=draft`), [])
  t.deepEqual(await names('status=revoked'), ['b'])
  t.is((await daemon.request('GET', `/v1/learning-skills?status=other`)).status, 400)
})
