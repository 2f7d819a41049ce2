/** What is explained over HTTP, how far what is waited for is followed, and that all of it was looked at. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import {
  Reasons,
  Subjects,
  type Reason,
  type ReasonSource,
  type SubjectSource,
} from '../../../../plugins/operator/explanations/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { checkLine, readExplanation, situation } from '../../../support/explanations.js'
import { repository } from '../../../support/docs.js'
import { goldenPath } from '../../../support/golden-text.js'
import { openAgent } from '../../../support/agents.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'

/** Subjects that are named `t` and a number, and lead where they are told to. */
const linked = (leads: (n: number) => readonly number[], more: readonly ReasonSource[] = []) => {
  const subjects: SubjectSource = {
    id: 'test',
    find: (id) =>
      /^t\d+$/u.test(id) ? { kind: 'run', id, session_id: 's1', status: 'running', text: `It is ${id}.` } : undefined,
  }
  const reasons: ReasonSource = {
    id: 'test',
    of({ id }): readonly Reason[] {
      const next = id.startsWith('t') ? leads(Number(id.slice(1))) : []
      return next.map((n) => ({ code: 'next', text: `It waits for t${n}.`, leads_to: [`t${n}`] }))
    },
  }
  return testPlugin('linked', {
    register(ctx) {
      ctx.contribute(Subjects, subjects)
      ctx.contribute(Reasons, ...more, reasons)
    },
  })
}
const order = ({ subjects }: any): [string, number][] => subjects.map(({ id, depth }: any) => [id, depth])

test('explanations-1: subjects stand behind those that wait for them, to whoever may read; nobody else is told', async (t) => {
  const tree: Readonly<Record<number, readonly number[]>> = { 0: [1, 2], 1: [3], 2: [4] }
  const daemon = await startTestDaemon(t, { plugins: [linked((n) => tree[n] ?? [])] })
  const found = await readExplanation(daemon, 't0')
  t.deepEqual(order(found), [
    ['t0', 0],
    ['t1', 1],
    ['t3', 2],
    ['t2', 1],
    ['t4', 2],
  ])
  t.is(found.truncated, undefined)
  t.deepEqual(found.subjects[4].reasons, [])
  const agent_id = await openAgent(daemon)
  t.deepEqual(await readExplanation(daemon, agent_id), await readExplanation(daemon, 's1'))
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/explanations/nobody')), [404, 'nothing_to_explain'])
  const { code, err } = await createCommandLine(daemon)('explain', 'nobody')
  t.not(code, 0)
  t.regex(err, /There is no run, agent, session, flow, channel, project, task or candidate nobody\./u)
})

test('explanations-2: each subject is told once, fifty at most, and then that there are more', async (t) => {
  const ring = await startTestDaemon(t, { plugins: [linked((n) => [(n + 1) % 3, 0])] })
  t.deepEqual(order(await readExplanation(ring, 't0')), [
    ['t0', 0],
    ['t1', 1],
    ['t2', 2],
  ])
  const line = await startTestDaemon(t, { plugins: [linked((n) => (n < 49 ? [n + 1] : []))] })
  const whole = await readExplanation(line, 't0')
  t.deepEqual([whole.subjects.length, whole.truncated], [50, undefined])
  const endless = await startTestDaemon(t, { plugins: [linked((n) => [n + 1])] })
  const cut = await readExplanation(endless, 't0')
  t.deepEqual([cut.subjects.length, cut.truncated], [50, true])
  t.regex((await createCommandLine(endless)('explain', 't0')).out, /More is waited for than is shown\.\n$/u)
})

test('explanations-2: a source that fails leaves out what it knows, and is told in the log', async (t) => {
  const failing: ReasonSource = {
    id: 'failing',
    of() {
      throw new TypeError('no')
    },
  }
  const daemon = await startTestDaemon(t, { plugins: [linked((n) => (n === 0 ? [1] : []), [failing])] })
  t.is((await readExplanation(daemon, 't0')).subjects.length, 2)
  t.true(daemon.log.some(({ fact }) => fact === 'a source of reasons failed'))
})

const explained = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(
      (entry) => entry.isFile() && entry.name.endsWith('.ts') && /explained/u.test(join(entry.parentPath, entry.name)),
    )
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))

test('explanations-3 to explanations-15: every code of a rule has a golden text, and every code of a source a rule', (t) => {
  const rules = readFileSync(join(repository, 'docs/rules/explanations.md'), 'utf8')
  const ruled = new Set(
    [...rules.matchAll(/\(`([a-z_]+)`(?:, `([a-z_]+)`)?\)/gu)].flatMap(([, ...codes]) =>
      codes.filter((code) => code !== undefined),
    ),
  )
  const golden = new Set(
    readdirSync(goldenPath('explanations')).flatMap(
      (name) =>
        /codes: (.*)\n$/u.exec(readFileSync(goldenPath(`explanations/${name}`), 'utf8'))?.[1]?.split(', ') ?? [],
    ),
  )
  golden.delete('')
  const told = explained(join(repository, 'plugins')).flatMap((source) =>
    [...source.matchAll(/code: .*|: '[a-z_]+',$/gmu)].flatMap(([line]) =>
      [...line.matchAll(/'([a-z]+_[a-z_]+|[a-z]+)'/gu)].map(([, code = '']) => code),
    ),
  )
  t.deepEqual([...golden].toSorted(), [...ruled].toSorted())
  t.deepEqual(
    [...ruled].filter((code) => !told.includes(code)),
    [],
  )
  t.true(golden.size >= 38)
  t.true(readdirSync(goldenPath('explanations')).length >= 60)
})

test('explanations-16: the command lines of every golden text are ones that the command line takes', (t) => {
  const lines = readdirSync(goldenPath('explanations')).flatMap((name) =>
    [...readFileSync(goldenPath(`explanations/${name}`), 'utf8').matchAll(/^ +(holdfast .*)$/gmu)].map(
      ([, line = '']) => line,
    ),
  )
  for (const line of new Set(lines)) checkLine(t, line)
  t.true(new Set(lines).size > 40)
})

test('explanations-16: a line for a name that a shell or the command line would take for something else is pasted as it is', async (t) => {
  const daemon = await startTestDaemon(t)
  const session_id = "-it's; $(here)"
  const { status } = await daemon.request('POST', '/v1/sessions', { session_id })
  t.is(status, 201)
  const { move } = await situation(t, daemon, 'strange-session', { id: session_id, codes: ['no_run'] })
  await move({ TEXT: 'hello' })
})
