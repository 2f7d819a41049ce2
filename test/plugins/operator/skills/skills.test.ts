/** Skills in real folders, through a whole daemon. */
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { mkdirSync, promises, writeFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { discover, nothing } from '../../../../plugins/operator/skills/discovery.js'
import { readSkill } from '../../../../plugins/operator/skills/skill-file.js'
import { repositoryFolders, skillRoots } from '../../../../plugins/operator/skills/roots.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { capabilityScope } from '../../../support/scopes.js'
import { makeFolder } from '../../../support/tools.js'

const write = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}
const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n\nDo ${name}.\n`

interface Started {
  readonly daemon: TestDaemon
  readonly root: string
  readonly names: () => Promise<string[]>
  readonly warnings: () => Promise<string[]>
}
/** By it a start waits for the first look, however long that takes; nothing is watched. */
const stillClock = () => createLeapingClock({ still: true })
const start = async (
  t: ExecutionContext,
  root: string,
  { more = [], patient = true }: { readonly more?: readonly string[]; readonly patient?: boolean } = {},
): Promise<Started> => {
  const skills = { roots: [root, ...more], repository: false, user: false }
  const daemon = await startTestDaemon(t, { config: { skills }, ...(patient && { clock: stillClock() }) })
  return {
    daemon,
    root,
    names: async () => (await daemon.request('GET', '/v1/skills')).body.map(({ name }: any) => name),
    warnings: async () => (await daemon.request('GET', '/v1/runtime')).body.skills.warnings ?? [],
  }
}
const eventually = async <T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> => {
  for (let left = 4_800; ; left -= 1) {
    const value = await ask()
    if (holds(value) || left === 0) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('skills-1: skills are found six folders deep, and not behind dots or through links that lead out', async (t) => {
  const root = await makeFolder(t)
  const other = await makeFolder(t)
  await write(other, { 'SKILL.md': skill('stray') })
  await write(root, {
    'one/SKILL.md': skill('one'),
    '1/2/3/4/5/6/SKILL.md': skill('deep'),
    '1/2/3/4/5/6/7/SKILL.md': skill('too-deep'),
    '.hidden/SKILL.md': skill('hidden'),
    'inside/SKILL.md': skill('inside'),
  })
  await symlink(other, join(root, 'out'))
  await mkdir(join(root, 'file'))
  await symlink(join(other, 'SKILL.md'), join(root, 'file', 'SKILL.md'))
  await symlink(root, join(root, 'one', 'circle'))
  const { names, warnings } = await start(t, root)
  t.deepEqual(await names(), ['deep', 'inside', 'one'])
  const told = await warnings()
  t.deepEqual(told.map((line) => line.replaceAll(root, '')).toSorted(), [
    'skill_link_refused: /file/SKILL.md leads out of its root',
    'skill_link_refused: /out leads out of its root',
  ])
})

test('skills-2, skills-9: the front matter says what a skill is, and what it leaves out comes from path and text', async (t) => {
  const root = await makeFolder(t)
  await write(root, {
    'full/SKILL.md': `---\nname: The full one\ndescription: |\n  Two\n  lines.\nversion: 1.10\nwhen_to_use: now\nother: {a: 1}\n---\nBody\n`,
    'git/commit/SKILL.md': '# Commits\n\n```sh\ngit commit\n```\n\nMore text.\n',
    'code/SKILL.md': '```\nno prose\n```\n\nThe *first* prose\nof it.\n',
    'dashed/SKILL.md': '---\nwhen-to-use: later\n---\nDashed.',
  })
  const { daemon } = await start(t, root)
  const of = async (name: string) => (await daemon.request('GET', `/v1/skills/${encodeURIComponent(name)}`)).body
  const full = await of('The full one')
  t.deepEqual(full, {
    name: 'The full one',
    description: 'Two lines.',
    when_to_use: 'now',
    version: '1.10',
    skill_path: join(root, 'full/SKILL.md'),
    skill_root: root,
    scope: 'explicit',
    digest: hash('sha256', 'full/SKILL.md\nBody\n{"context":"inline"}'),
    runtime: { context: 'inline' },
    instructions: 'Body',
  })
  t.is((await of('git:commit')).description, 'Commits')
  t.is((await of('code')).description, 'The *first* prose of it.')
  t.is((await of('dashed')).when_to_use, 'later')
})

test('skills-3: the file beside it says how a skill runs', async (t) => {
  const root = await makeFolder(t)
  await write(root, {
    'a/SKILL.md': skill('a'),
    'a/agents/service.yaml':
      'allowed_tools: [read_file, bash]\nblocked_tools: write_file, edit_file\ncontext: fork\nmodel: m\nother: 1\n' +
      'agent_profile: careful\nprovider: p\nfallback_model: f\n',
  })
  const { daemon } = await start(t, root)
  t.deepEqual((await daemon.request('GET', '/v1/skills/a')).body.runtime, {
    allowed_tools: ['read_file', 'bash'],
    blocked_tools: ['write_file', 'edit_file'],
    context: 'fork',
    agent_profile: 'careful',
    provider: 'p',
    model: 'm',
    fallback_model: 'f',
  })
})

test('skills-4: skills of the state, of flags, of the repository and of the home are found', async (t) => {
  const [root, named, repository, home] = [
    await makeFolder(t),
    await makeFolder(t),
    await makeFolder(t),
    await makeFolder(t),
  ]
  await write(root, { 'skills/a/SKILL.md': skill('of-state') })
  await write(named, { 'a/SKILL.md': skill('of-flag') })
  await write(repository, {
    '.git/HEAD': '',
    'deep/er/.claude/skills/a/SKILL.md': skill('of-workspace'),
    'skills/a/SKILL.md': skill('of-repository'),
  })
  await write(home, { '.agents/skills/a/SKILL.md': skill('of-home') })
  const { request } = await startTestDaemon(t, {
    root,
    flags: { 'workspace-root': join(repository, 'deep/er'), 'skill-root': named },
    config: { skills: { home } },
  })
  const found: any[] = (await request('GET', '/v1/skills')).body
  t.deepEqual(
    found.map(({ name, scope }) => [name, scope]),
    [
      ['of-flag', 'explicit'],
      ['of-home', 'user'],
      ['of-repository', 'repo'],
      ['of-state', 'explicit'],
      ['of-workspace', 'repo'],
    ],
  )
})

test('skills-4, skills-5: roots have an order, and the first skill of a name counts', async (t) => {
  const wish = {
    stateRoot: '/s',
    workspace: '/home/u/p/q',
    home: '/home/u',
    named: ['/x'],
    repository: true,
    user: true,
  }
  t.deepEqual(
    skillRoots({ ...wish, isTop: () => false }).map(({ folder }) => folder),
    [
      '/s/skills',
      '/x',
      ...['/home/u/p/q', '/home/u/p'].flatMap((at) => [`${at}/skills`, `${at}/.claude/skills`, `${at}/.agents/skills`]),
      ...['skills', '.agents/skills', '.claude/skills'].map((name) => `/home/u/${name}`),
    ],
  )
  const elsewhere = { ...wish, workspace: '/tmp/r/a/b' }
  t.deepEqual(repositoryFolders({ ...elsewhere, isTop: (at) => at === '/tmp/r' }), ['/tmp/r/a/b', '/tmp/r/a', '/tmp/r'])
  t.deepEqual(repositoryFolders({ ...elsewhere, isTop: () => false }), ['/tmp/r/a/b'], 'what others made is not read')

  const [first, second] = [await makeFolder(t), await makeFolder(t)]
  await write(first, { 'same/SKILL.md': skill('same') })
  await write(second, { 'same/SKILL.md': skill('same'), 'other/SKILL.md': skill('other') })
  const { daemon, names, warnings } = await start(t, first, { more: [second, join(second, 'missing')] })
  t.deepEqual(await names(), ['other', 'same'])
  t.is((await daemon.request('GET', '/v1/skills/same')).body.skill_root, first)
  t.deepEqual(
    (await warnings()).map((line) => line.split(':')[0]),
    ['skill_duplicate', 'skill_root_missing'],
  )
  const told: any[] = (await daemon.request('GET', '/v1/status')).body.health.warnings
  const { action } = told.find(({ code }) => code === 'skill_root_missing')
  const line = /make it: (.*)$/u.exec(action)?.[1] ?? ''
  t.is(line, `mkdir -p ${join(second, 'missing')}`)
  t.is(spawnSync('sh', ['-c', line]).status, 0)
  const edit = told.find(({ code }) => code === 'skill_duplicate').action.split(': ')[1]
  t.is(
    spawnSync('sh', ['-c', `EDITOR=ls; ${edit}`])
      .stdout.toString()
      .trim(),
    join(second, 'same', 'SKILL.md'),
    edit,
  )
})

test('skills-5: what would limit a skill where nobody looks at it is told, and the line leads to where it holds', async (t) => {
  const root = await makeFolder(t)
  await write(root, {
    'a/SKILL.md': '---\nname: a\ndescription: d\nallowed-tools: Read, Grep\nlicense: MIT\n---\nx',
    'b/SKILL.md': skill('b'),
    'b/agents/service.yaml': 'allowed-tools: read_file\ncontext: inline\n',
    'c/SKILL.md': skill('c'),
    'c/agents/service.yaml': 'allowed_tools: read_file\n',
  })
  const { daemon, names } = await start(t, root)
  t.deepEqual(await names(), ['a', 'b', 'c'])
  const told: any[] = (await daemon.request('GET', '/v1/status')).body.health.warnings
  const unread = told.filter(({ code }) => code === 'skill_setting_unread')
  t.deepEqual(
    unread.map(({ message }) => message.replace(root, '')),
    [
      'Skills: /a/SKILL.md says allowed-tools, which nobody looks at.',
      'Skills: /b/SKILL.md says allowed-tools of agents/service.yaml, which nobody looks at.',
    ],
  )
  const line = unread[0].action.split(': ')[1]
  await write(root, { 'a/agents/service.yaml': 'allowed_tools: read_file\n' })
  t.is(spawnSync('sh', ['-c', `EDITOR=cat; ${line}`]).stdout.toString(), 'allowed_tools: read_file\n')
})

const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
  .split('')
  .map((name, at) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefg'[at]}`).join(',')}]\n`)
  .join('')}`

test('skills-5: what is wrong is skipped and named, and takes nothing with it', async (t) => {
  const root = await makeFolder(t)
  await write(root, {
    'good/SKILL.md': skill('good'),
    'yaml/SKILL.md': '---\nname: [\n---\ntext',
    'list/SKILL.md': '---\nname: [a]\n---\ntext',
    'empty/SKILL.md': '---\ndescription: ""\n---\ntext',
    'nothing/SKILL.md': '```\ncode\n```\n',
    'long/SKILL.md': `text ${'x'.repeat(256 * 1024)}`,
    'slash/SKILL.md': skill('a/b'),
    'up/SKILL.md': skill('..'),
    'side/SKILL.md': skill('side'),
    'side/agents/service.yaml': 'context: elsewhere',
    'bomb/SKILL.md': `---\n${bomb}---\ntext`,
  })
  await mkdir(join(root, 'bytes'))
  await writeFile(join(root, 'bytes', 'SKILL.md'), Buffer.from([0xff, 0xfe, 0x41]))
  await mkdir(join(root, 'folder', 'SKILL.md'), { recursive: true })
  const { daemon, names, warnings } = await start(t, root)
  t.deepEqual(await names(), ['good'])
  t.deepEqual(
    (await warnings()).map((line) => line.replaceAll(`${root}/`, '')),
    [
      'skill_invalid: bomb/SKILL.md is skipped: the front matter must be YAML',
      'skill_invalid: bytes/SKILL.md is skipped: must be UTF-8 text',
      'skill_invalid: empty/SKILL.md is skipped: description must not be empty',
      'skill_invalid: list/SKILL.md is skipped: name must be text',
      'skill_invalid: long/SKILL.md is skipped: must have at most 262144 bytes',
      'skill_invalid: nothing/SKILL.md is skipped: description must not be missing',
      'skill_invalid: side/SKILL.md is skipped: context must be inline or fork',
      'skill_invalid: slash/SKILL.md is skipped: name must not hold a slash',
      'skill_invalid: up/SKILL.md is skipped: name must not be . or .., which no path can hold',
      'skill_invalid: yaml/SKILL.md is skipped: the front matter must be YAML',
    ],
  )
  const { body } = await daemon.request('GET', '/v1/status')
  t.true(body.health.warnings.some(({ code }: any) => code === 'skill_invalid'))
  t.is(daemon.log.filter(({ fact }) => /^\S+ is skipped: /u.test(fact)).length, 10)
})

test('skills-1: of a root 20,000 entries and 2,000 folders are looked at; the rest is told, and other roots count', async (t) => {
  const [root, wide, other] = [await makeFolder(t), await makeFolder(t), await makeFolder(t)]
  await write(other, { 'a/SKILL.md': skill('a') })
  await write(root, { 'b/SKILL.md': skill('b'), 'z/SKILL.md': skill('z') })
  await write(wide, { 'c/SKILL.md': skill('c'), 'w/SKILL.md': skill('w') })
  // With b, z and the skills in them, c, w, and the root of the folders itself.
  for (let n = 0; n < 20_000 - 4; n += 1) writeFileSync(join(root, 'z', String(n)), '')
  for (let n = 0; n < 2_000 - 3; n += 1) mkdirSync(join(wide, 'w', String(n)))
  const roots = [root, wide].map((folder) => ({ folder, scope: 'explicit' as const, isNamed: true }))
  t.deepEqual((await discover(roots, nothing)).warnings, [])
  writeFileSync(join(root, 'z', 'more'), '')
  mkdirSync(join(wide, 'w', 'more'))
  const { names, warnings } = await start(t, root, { more: [wide, other] })
  t.deepEqual(await names(), ['a', 'b', 'c', 'w'])
  t.deepEqual(
    (await warnings()).map((line) => line.split(' ').slice(0, 2)),
    [
      ['skill_root_cut:', root],
      ['skill_root_cut:', wide],
    ],
  )
})

const ofText = (text: string, side?: string) => ({ path: 'a/SKILL.md', root: '/r', scope: 'repo' as const, text, side })

test('skills-2: front matter that would take long to parse is refused before anything parses it', (t) => {
  const parsed: number[] = []
  const read = (text: string, side?: string) => {
    const found = readSkill(ofText(text, side), (yaml) => ({ description: String(parsed.push(yaml.length)) }))
    return found.ok ? '' : found.rule
  }
  const lines = Array.from({ length: 26_000 }, (_, n) => `k${n}: 1\n`).join('')
  for (const hostile of [lines, '[['.repeat(5_000), '{a: '.repeat(800), '- '.repeat(1_001), '#\n'.repeat(600)])
    t.regex(read(`---\n${hostile}\n---\ntext`), /^the front matter must have at most/u)
  t.regex(read(`---\n${'a'.repeat(16 * 1024 + 1)}\n---\ntext`), /^the front matter must have at most 16384 bytes/u)
  for (const side of ['a'.repeat(16 * 1024 + 1), '- '.repeat(1_001)])
    t.regex(read('text', side), /^agents\/service\.yaml must have at most/u)
  t.deepEqual(parsed, [])
  t.is(read(`---\ndescription: ${'wörter_und 2 '.repeat(1_000)}\n---\ntext`), '')
  t.is(read(`---\n${'-'.repeat(1_000)}\n---\ntext`), '')
  t.is(read(`---\n${'a'.repeat(16 * 1024)}\n---\ntext`), '')
  t.is(parsed.length, 3)
})

test('skills-2: front matter that is never closed is refused', (t) => {
  const read = (text: string) => readSkill(ofText(text), () => ({ description: 'd' }))
  for (const open of [
    '---\nname: unclosed\ndescription: d\n',
    '\ufeff--- \r\nname: unclosed',
    '---\nname: a\n ---\ntext',
  ])
    t.deepEqual(read(open), { ok: false, rule: 'the front matter must end with a line ---' })
  t.true(read('---\nSome text below a rule.').ok)
  t.true(read('Some text.\n\n---\n\nMore of it.').ok)
  t.true(read('---\nname: a\n---\ntext').ok)
})

test('skills-6: a file that says what it said before is not parsed again, good or not', async (t) => {
  const root = await makeFolder(t)
  await write(root, { 'a/SKILL.md': skill('a'), 'b/SKILL.md': '---\nname: [\n---\n' })
  const roots = [{ folder: root, scope: 'explicit' as const, isNamed: true }]
  const first = await discover(roots, nothing)
  const second = await discover(roots, first)
  t.deepEqual([...second.files.keys()].length, 2)
  for (const [path, file] of second.files) t.true(file === first.files.get(path))
  await write(root, { 'a/SKILL.md': skill('c') })
  t.deepEqual([...(await discover(roots, second)).skills.keys()], ['c'])
})

test('skills-6: changes count soon, a broken one leaves the last good one, and a root may come later', async (t) => {
  const root = await makeFolder(t)
  const later = join(root, '..', `${root.split('/').at(-1)}-later`)
  t.teardown(() => rm(later, { recursive: true, force: true }))
  await write(root, { 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('b') })
  const { daemon, names, warnings } = await start(t, root, { more: [later], patient: false })
  t.deepEqual(await names(), ['a', 'b'])
  await write(root, { 'a/SKILL.md': '---\nname: [\n---\n', 'c/SKILL.md': skill('c') })
  await rm(join(root, 'b'), { recursive: true })
  t.deepEqual(await eventually(names, (found) => found.join() === 'a,c'), ['a', 'c'])
  t.is((await daemon.request('GET', '/v1/skills/a')).body.instructions, 'Do a.')
  t.true((await warnings()).some((line) => /a\/SKILL.md is as it was before/u.test(line)))
  await write(later, { 'd/SKILL.md': skill('d') })
  t.deepEqual(await eventually(names, (found) => found.length === 3), ['a', 'c', 'd'])
})

test('skills-6: what is changed in a folder that was removed and made anew counts, also of a root', async (t) => {
  const root = await makeFolder(t)
  const other = await makeFolder(t)
  await write(root, { 'a/SKILL.md': skill('a') })
  await write(other, { 'b/SKILL.md': skill('b') })
  const { names } = await start(t, root, { more: [other], patient: false })
  const become = async (wanted: string): Promise<void> => {
    t.is((await eventually(names, (found) => found.join() === wanted)).join(), wanted)
  }
  await become('a,b')
  for (const folder of [join(root, 'a'), other]) {
    await rm(folder, { recursive: true })
    await become(folder === other ? 'd' : 'b')
    await write(folder, { 'SKILL.md': skill('c') })
    await become(folder === other ? 'c,d' : 'b,c')
    await write(folder, { 'SKILL.md': skill('d') })
    await become(folder === other ? 'd' : 'b,d')
  }
})

test('skills-6: a start waits ten seconds for a slow folder, whose skills count when they are found', async (t) => {
  const root = await makeFolder(t)
  await write(root, { 'a/SKILL.md': skill('a') })
  const [clock, { realpath }] = [createLeapingClock(), promises]
  let [release, isAsked] = [() => {}, false]
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  t.teardown(() => Object.assign(promises, { realpath }))
  Object.assign(promises, {
    realpath: async (at: string) => {
      isAsked ||= at === root
      if (at === root) await released
      return realpath(at)
    },
  })
  let isStarted = false
  const skills = { roots: [root], repository: false, user: false }
  const starting = startTestDaemon(t, { clock, config: { skills }, patienceMs: 1e6 }).then((daemon) => {
    isStarted = true
    return daemon
  })
  while (!isAsked) await new Promise((resolve) => setTimeout(resolve, 5))
  clock.leap(9_000)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.false(isStarted)
  clock.leap(1_000)
  const { request } = await starting
  const names = async () => (await request('GET', '/v1/skills')).body.map(({ name }: any) => name)
  t.deepEqual(await names(), [])
  release()
  t.deepEqual(await eventually(names, (found) => found.length === 1), ['a'])
})

test('skills-7, skills-8: skills are listed, searched and read, by a session within its scope', async (t) => {
  const root = await makeFolder(t)
  await write(root, {
    'a/SKILL.md': skill('a', 'when_to_use: For REPORTS.\n'),
    'b/SKILL.md': skill('b'),
    'c/SKILL.md': '---\nname: cee\ndescription: Writes letters.\n---\nBegin with a greeting.',
  })
  const { daemon, names } = await start(t, root)
  t.deepEqual(await names(), ['a', 'b', 'cee'])
  const asked = async (path: string) => (await daemon.request('GET', path)).body.map(({ name }: any) => name)
  t.deepEqual(await asked('/v1/skills?query=reports'), ['a'])
  t.deepEqual(await asked('/v1/skills?query=Letters'), ['cee'])
  t.deepEqual(await asked('/v1/skills?query=CEE'), ['cee'])
  t.deepEqual(await asked('/v1/skills?query=nothing'), [])
  t.is((await daemon.request('GET', '/v1/skills/cee')).body.instructions, 'Begin with a greeting.')
  const missing = await daemon.request('GET', '/v1/skills/none')
  t.deepEqual([missing.status, missing.body.code, missing.body.domain], [404, 'skill_not_found', undefined])
  const scope = capabilityScope({ skill_allow: ['a', 'b'], skill_deny: ['b'] })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1', capability_scope: scope })
  t.deepEqual(await asked('/v1/sessions/s1/skills'), ['a'])
  t.is((await daemon.request('GET', '/v1/runtime')).body.skills.loaded_count, 3)
})
