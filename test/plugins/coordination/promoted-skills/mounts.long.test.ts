/** From a learning to a skill that models use, and back. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { unusable } from '../../../../plugins/coordination/promoted-skills/guard.js'
import { createCatalogue } from '../../../../plugins/operator/skills/catalogue.js'
import { createRulings } from '../../../../plugins/operator/skills/rulings.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { activate, instructions, marker, procedure, promote, result, skillOf } from '../../../support/promoted.js'
import { createPause } from '../../../support/pause.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

/** Uses the skill when it is asked to, and has the marker in every answer. */
const usingModel = () =>
  scriptedProvider(({ messages }) =>
    messages.at(-1)?.role !== 'tool' && JSON.stringify(messages.at(-1)).includes('use it')
      ? [callTool('use', 'use_skill', { name: 'notes' }), done('tool_calls')]
      : [text(marker), done()],
  )

const start = async (t: any, root: string) => {
  const model = usingModel()
  const daemon = await startTestDaemon(t, { root, plugins: [model.plugin], config: model.config })
  return { daemon, model }
}

let uses = 0
/** What a model is answered that uses the skill. */
const use = async (daemon: TestDaemon): Promise<any> => {
  const session = await openSession(daemon, `use-${(uses += 1)}`)
  const { run_id } = await submit(daemon, session, 'use it')
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', `/v1/sessions/${session}/events`)
  return body.session.journal.find(({ type }: any) => type === 'outcome').entry.output
}
const shown = async ({ request }: TestDaemon): Promise<string[]> => {
  const { body } = await request('GET', '/v1/sessions/runs/skills')
  const { body: context } = await request('GET', '/v1/sessions/runs/memory-context')
  const names = (skills: any): string[] =>
    skills.map(({ name }: any) => name).filter((name: string) => name === 'notes')
  return [...names(body), ...names(context.visible_skills)]
}
const warningsOf = async ({ request }: TestDaemon): Promise<string[]> =>
  (await request('GET', '/v1/status')).body.health.warnings.map(({ code }: any) => code)

test('promoted-skills-19, promoted-skills-21, promoted-skills-22, promoted-skills-23, memory-6: from a learning to a skill in use, and back', async (t) => {
  const root = await freshRoot()
  const { daemon, model } = await start(t, root)
  const { request } = daemon
  const learning = await procedure(daemon)
  const folder = join(root, 'skills/procedural', learning)
  const fork = { allowed_tools: ['read_file'], when_to_use: 'After a release.' }
  await openSession(daemon, 'runs')
  const run = async (): Promise<string> => {
    const { run_id } = await submit(daemon, 'runs', 'go')
    await until(daemon, run_id, 'completed')
    return run_id
  }
  await promote(daemon, learning, fork)
  await result(daemon, 'verification', await run())
  await promote(daemon, learning, { ...fork, status: 'verified' })
  await promote(daemon, learning, { ...fork, status: 'canary' })
  t.false(existsSync(folder))
  t.deepEqual(await shown(daemon), [])
  t.is((await use(daemon)).error.code, 'skill_not_found')
  await result(daemon, 'canary', await run())
  const active = (await promote(daemon, learning, { ...fork, status: 'active' })).body
  t.is(active.skill_path, join(folder, 'SKILL.md'))
  const listed = (await request('GET', '/v1/skills/notes')).body
  t.is(active.digest, listed.digest)
  t.is(listed.instructions, instructions)
  t.deepEqual(await shown(daemon), ['notes', 'notes'])
  const [, head = ''] = /^---\n([^]*?)\n---\n/u.exec(readFileSync(join(folder, 'SKILL.md'), 'utf8')) ?? []
  t.deepEqual(parse(head), { name: 'notes', description: active.description, when_to_use: 'After a release.' })
  t.deepEqual(parse(readFileSync(join(folder, 'agents/service.yaml'), 'utf8')), {
    allowed_tools: ['read_file'],
    context: 'fork',
    agent_profile: 'verification',
  })

  const used = await use(daemon)
  t.like(used, { name: 'notes', context: 'fork', final_output: marker, last_run_status: 'completed' })
  const child = (await request('GET', `/v1/runs/${used.launch_run_id}`)).body
  t.is(child.status, 'completed')
  const told = model.requests.find(({ messages }) => JSON.stringify(messages[0]).includes(instructions))
  t.regex(told?.system ?? '', /Check what others say they did/u)

  const file = join(folder, 'SKILL.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace(instructions, 'Do something else.'))
  for (const pause = createPause(); ; await pause())
    if ((await warningsOf(daemon)).includes('promoted_skill_changed')) break
  t.deepEqual(codeOf(await request('GET', '/v1/skills/notes')), [409, 'skill_changed'])
  t.deepEqual((await request('GET', '/v1/skills')).body, [])
  t.like((await use(daemon)).error, { code: 'skill_changed' })
  t.deepEqual(await shown(daemon), [])
  await promote(daemon, learning, { ...fork, status: 'active' })
  t.like(await use(daemon), { final_output: marker })
  t.false((await warningsOf(daemon)).includes('promoted_skill_changed'))

  await request('POST', `/v1/learning-skills/notes/revoke`)
  t.false(existsSync(folder))
  t.is((await request('GET', '/v1/skills/notes')).status, 404)
  t.is((await use(daemon)).error.code, 'skill_not_found')
  t.deepEqual(await shown(daemon), [])
  t.is((await request('POST', `/v1/learning-skills/notes/rollback`)).body.digest, active.digest)
  t.like(await use(daemon), { final_output: marker })
  t.deepEqual(await shown(daemon), ['notes', 'notes'])
})

test('promoted-skills-20: a start writes what differs and removes what is of no active skill', async (t) => {
  const root = await freshRoot()
  const first = await start(t, root)
  const learning = await procedure(first.daemon)
  await activate(first.daemon, learning)
  await first.daemon.stop()
  const top = join(root, 'skills/procedural')
  const file = join(top, learning, 'SKILL.md')
  const right = readFileSync(file, 'utf8')
  const elsewhere = await freshRoot()
  writeFileSync(join(elsewhere, 'kept.txt'), 'x')
  for (const spoil of [
    () => writeFileSync(file, `${right}More.`),
    () => rmSync(file),
    () => rmSync(join(top, learning), { recursive: true }),
    () => writeFileSync(join(top, learning, 'more.txt'), 'x'),
    () => rmSync(join(top, learning, 'agents/service.yaml')),
    () => {
      rmSync(join(top, learning), { recursive: true })
      symlinkSync(elsewhere, join(top, learning))
    },
  ]) {
    spoil()
    mkdirSync(join(top, 'foreign'), { recursive: true })
    writeFileSync(join(top, 'foreign/SKILL.md'), 'Foreign.')
    symlinkSync(elsewhere, join(top, 'link'))
    mkdirSync(join(top, '.left'))
    const { daemon } = await start(t, root)
    t.is(readFileSync(file, 'utf8'), right)
    t.deepEqual(readdirSync(top), [learning])
    t.deepEqual(readdirSync(join(top, learning)).toSorted(), ['SKILL.md', 'agents'])
    t.true(existsSync(join(elsewhere, 'kept.txt')))
    t.is((await daemon.request('GET', '/v1/skills/notes')).status, 200)
    await daemon.stop()
  }
  rmSync(top, { recursive: true })
  symlinkSync(elsewhere, top)
  const { daemon } = await start(t, root)
  t.true((await warningsOf(daemon)).includes('promoted_skill_files'))
  t.deepEqual(readdirSync(elsewhere), ['kept.txt'])
})

test('promoted-skills-21, skills-15: what only looks like a promoted skill is used by nobody', async (t) => {
  const root = await freshRoot()
  const top = join(root, 'skills/procedural')
  const { daemon } = await start(t, root)
  const learning = await procedure(daemon)
  await activate(daemon, learning)
  mkdirSync(join(top, 'foreign'))
  writeFileSync(join(top, 'foreign/SKILL.md'), '---\nname: foreign\n---\nForeign.')
  mkdirSync(join(root, 'skills/aaa'))
  writeFileSync(join(root, 'skills/aaa/SKILL.md'), '---\nname: notes\n---\nNot the same.')
  mkdirSync(join(root, 'skills/theirs'))
  writeFileSync(join(root, 'skills/theirs/SKILL.md'), '---\nname: theirs\n---\nTheir own.')
  const asked = async (path: string) => daemon.request('GET', path)
  for (const pause = createPause(); ; await pause()) if ((await asked('/v1/skills/theirs')).status === 200) break
  t.deepEqual(codeOf(await asked('/v1/skills/foreign')), [404, 'skill_not_found'])
  t.deepEqual(codeOf(await asked('/v1/skills/notes')), [409, 'skill_changed'])
  t.deepEqual(
    (await asked('/v1/skills')).body.map(({ name }: any) => name),
    ['theirs'],
  )
  t.is((await asked('/v1/runtime')).body.skills.loaded_count, 1)
  const { body } = await daemon.request('GET', '/v1/sessions/runs/skills')
  t.deepEqual(
    body.map(({ name }: any) => name),
    ['theirs'],
  )
  t.is((await use(daemon)).error.code, 'skill_changed')
  t.is((await skillOf(daemon)).digest, '')
  t.deepEqual(codeOf(await promote(daemon, learning, { status: 'active' })), [409, 'skill_name_taken'])
})

test('promoted-skills-21: an active skill whose file leads out of its root, is no file, or is gone has changed', async (t) => {
  const root = await freshRoot()
  const { daemon } = await start(t, root)
  const learning = await procedure(daemon)
  await activate(daemon, learning)
  const folder = join(root, 'skills/procedural', learning)
  const file = join(folder, 'SKILL.md')
  const elsewhere = join(await freshRoot(), 'notes')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'SKILL.md'), readFileSync(file))
  const get = () => daemon.request('GET', '/v1/skills/notes')
  const spoils: readonly (() => void)[] = [
    () => symlinkSync(join(elsewhere, 'SKILL.md'), file),
    () => void execFileSync('mkfifo', [file]),
    () => rmSync(folder, { recursive: true }),
    () => {
      rmSync(folder, { recursive: true, force: true })
      symlinkSync(elsewhere, folder)
    },
  ]
  for (const spoil of spoils) {
    rmSync(file, { force: true })
    spoil()
    for (const pause = createPause(); ; await pause())
      if ((await warningsOf(daemon)).includes('promoted_skill_changed')) break
    t.deepEqual(codeOf(await get()), [409, 'skill_changed'])
    t.is((await use(daemon)).error.code, 'skill_changed')
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) unlinkSync(folder)
    else if (existsSync(file)) rmSync(file)
    await promote(daemon, learning, { status: 'active' })
    t.is((await get()).status, 200)
  }
  await daemon.request('POST', '/v1/learning-skills/notes/revoke')
  t.deepEqual(codeOf(await get()), [404, 'skill_not_found'])
})

test('promoted-skills-21, skills-5: where a skill of a person took the name, that file is named, and renaming it frees both', async (t) => {
  const root = await freshRoot()
  const { daemon } = await start(t, root)
  const learning = await procedure(daemon)
  await activate(daemon, learning)
  const own = join(root, 'skills/a-first/SKILL.md')
  const say = (name: string) => writeFileSync(own, `---\nname: ${name}\n---\nOf a person.\n`)
  const told = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter(({ code }: any) =>
      ['skill_duplicate', 'promoted_skill_changed'].includes(code),
    )
  mkdirSync(join(root, 'skills/a-first'))
  say('notes')
  for (const pause = createPause(); (await told()).length < 2; await pause());
  const line = `${'$'}{EDITOR:-vi} ${realpathSync(own)}`
  for (const { code, message, action } of await told()) {
    t.true(message.includes(realpathSync(own)), message)
    t.true(
      action.endsWith(`another name${code === 'skill_duplicate' ? '' : ', and both can be used'}: ${line}`),
      action,
    )
    t.notRegex(action, /restart|procedural/u)
  }
  say('others')
  for (const pause = createPause(); (await told()).length > 0; await pause());
  for (const name of ['notes', 'others']) t.is((await daemon.request('GET', `/v1/skills/${name}`)).status, 200)
})

test('promoted-skills-21: nothing is told of a skill before skills were looked for', async (t) => {
  const root = await freshRoot()
  const { daemon } = await start(t, root)
  await activate(daemon, await procedure(daemon))
  const record = (await daemon.request('GET', '/v1/learning-skills/notes')).body
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const rulings = createRulings({ guards: () => [], stateRoot: () => root, log })
  const catalogue = createCatalogue({ roots: () => [], rulings, log })
  const told = () => unusable({ store: { active: () => [record] }, root: () => root }, () => catalogue)
  t.deepEqual(told(), [])
  await catalogue.look()
  t.like(told()[0], { code: 'promoted_skill_changed', related_id: 'notes' })
})

test('promoted-skills-22: what cannot be removed or written is not acknowledged, and told once', async (t) => {
  const root = await freshRoot()
  const { daemon } = await start(t, root)
  const learning = await procedure(daemon)
  await activate(daemon, learning)
  const [top, elsewhere] = [join(root, 'skills/procedural'), await freshRoot()]
  rmSync(top, { recursive: true })
  symlinkSync(elsewhere, top)
  const revoke = () => daemon.request('POST', '/v1/learning-skills/notes/revoke')
  for (let n = 0; n < 3; n += 1) {
    const { status, body } = await revoke()
    t.like({ status, ...body }, { status: 503, code: 'promoted_skill_files' })
    t.regex(body.detail, /notes is revoked, and its files are not as that says: .*no link to one/u)
  }
  t.is((await skillOf(daemon)).status, 'revoked')
  t.is((await use(daemon)).error.code, 'skill_not_found')
  t.is(daemon.log.filter(({ fact }) => fact.startsWith('the files of a promoted skill')).length, 1)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/learning-skills/notes/rollback')), [503, 'promoted_skill_files'])
  t.is((await skillOf(daemon)).status, 'active')
  t.deepEqual(codeOf(await promote(daemon, learning, { status: 'active' })), [503, 'promoted_skill_files'])
  rmSync(top)
  t.is((await promote(daemon, learning, { status: 'active' })).status, 200)
  t.true(existsSync(join(top, learning, 'SKILL.md')))
  t.is((await revoke()).status, 200)
})

test('promoted-skills-5: a name that a skill of people has is not given to another', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'skills/notes'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'skills/notes/SKILL.md'), 'Ours.')
  const { daemon } = await start(t, root)
  t.deepEqual(codeOf(await promote(daemon, await procedure(daemon))), [409, 'skill_name_taken'])
  t.deepEqual((await daemon.request('GET', '/v1/learning-skills')).body, [])
})
