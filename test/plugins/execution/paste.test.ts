/** Every command line that is printed may be pasted into a shell, whoever chose the names in it. */
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { commandLine } from '../../../core/base/text/command-text.js'
import { createCommandLine } from '../../support/command-line.js'
import { startTestDaemon } from '../../support/daemon.js'
import { sh } from '../../support/docs.js'
import { openSession, submit, until } from '../../support/runs.js'

const names = [
  'x; touch PWNED; #',
  '$(touch PWNED)',
  "it's `touch PWNED`",
  '"; touch PWNED; "',
  '--watch',
  '-h',
  '*',
  '~',
  '!!',
  'a & touch PWNED &',
  'a\\',
  'two words',
  'plain.name_1:2/3@4-5',
  "zero\u200bwidth\u202e 100% \\n!! it's",
  'line\nend',
]

const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-paste-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The words that `holdfast` is given when the lines are pasted one after another. */
const pasted = async (t: ExecutionContext, lines: readonly string[]): Promise<string[][]> => {
  const folder = await folderOf(t)
  const { out, err, code } = await sh(
    `holdfast() { for word; do printf '%s\\001' "$word"; done; printf '\\002'; }\n${lines.join('\n')}\n`,
    folder,
  )
  t.deepEqual([code, err], [0, ''], lines.join('\n'))
  t.deepEqual(readdirSync(folder), [], 'nothing but holdfast ran')
  return out
    .split('\u0002')
    .slice(0, -1)
    .map((words) => words.split('\u0001').slice(0, -1))
}

/** The command lines in what was printed for people or as JSON. */
const linesIn = (text: string): string[] => Array.from(text.matchAll(/holdfast [a-z].*$/gmu), ([line]) => line)
const textsIn = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsIn)
      : []

test('command-line-25: a shell takes every word of a printed command line as it is', async (t) => {
  const lines = names.map((name) => commandLine('runs submit', name, 'TEXT'))
  t.deepEqual(
    await pasted(t, lines),
    names.map((name) => ['runs', 'submit', ...(name.startsWith('-') ? ['--'] : []), name, 'TEXT']),
  )
  t.is(commandLine('runs submit', 'plain.name_1:2/3@4-5', 'TEXT'), 'holdfast runs submit plain.name_1:2/3@4-5 TEXT')
})

test('command-line-25: an id of which a part is not seen can be pasted from where it is shown', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  const name = 'zero\u200bwidth\u202e'
  await openSession(daemon, name)
  const { run_id } = await submit(daemon, encodeURIComponent(name), '/say hi')
  await until(daemon, run_id, 'completed')
  for (const args of [
    ['sessions', 'list'],
    ['sessions', 'get', name],
    ['runs', 'get', run_id],
    ['explain', run_id],
  ]) {
    const { out } = await run(...args)
    const [word = ''] = /"\$\(printf '[^']*'\)"/u.exec(out) ?? []
    t.deepEqual(await pasted(t, [`holdfast ${word}`]), [[name]], out)
  }
})

test('what commands print about hostile names runs nothing when it is pasted, and means those names', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  // A path takes no slashes.
  for (const name of names.slice(0, 6)) {
    await openSession(daemon, name)
    const option = name.replaceAll('|', '')
    const { run_id } = await submit(daemon, encodeURIComponent(name), `/ask ${option}? | ${option} | Other`)
    await until(daemon, run_id, 'waiting_for_user_question')
    const shown = await run('sessions', 'get', '--', name)
    t.deepEqual((await pasted(t, linesIn(shown.out))).at(-1)?.at(-2), name, shown.out)
    const asked = [
      (await run('runs', 'get', run_id)).out,
      (await run('questions', 'list')).out,
      (await run('approvals')).out,
      ...textsIn(JSON.parse((await run('approvals', '--output', 'json')).out)),
    ].flatMap(linesIn)
    const words = await pasted(t, asked)
    t.true(words.some((line) => line.join(' ') === `questions answer --option 1 ${run_id}`))
    t.false(
      words.flat().some((word) => word.includes(option)),
      'no words of a model',
    )
  }
})

test('a pasted command line does what it says: an answer by number, an approval', async (t) => {
  const daemon = await startTestDaemon(t)
  const run = createCommandLine(daemon)
  await openSession(daemon, 's1')
  const { run_id } = await submit(daemon, 's1', '/ask Tea? | $(touch PWNED) | Other')
  await until(daemon, run_id, 'waiting_for_user_question')
  const [answer = ''] = linesIn((await run('runs', 'get', run_id)).out)
  const [words = []] = await pasted(t, [answer])
  t.is((await run(...words)).code, 0)
  await until(daemon, run_id, 'completed')
  const events = await daemon.request('GET', `/v1/runs/${run_id}/events`)
  const resolved = events.body.find(({ event }: any) => event.type === 'user_question_resolved')
  t.deepEqual(resolved.event.resolution.answers[0].selected_option_ids.length, 1)
  for (const [args, says] of [
    [['--option', '3'], /--option must name an option from 1 to 2, not "3" \(flag_invalid\)/u],
    [['--option', '1/2'], /--option must answer 1 question, separated by \//u],
    [[], /questions answer needs <answer> or --option/u],
    [['Tea', '--option', '1'], /--option does not go with <answer>/u],
  ] as const) {
    const again = await submit(daemon, 's1', '/ask Tea? | A | B')
    await until(daemon, again.run_id, 'waiting_for_user_question')
    const refused = await run('questions', 'answer', again.run_id, ...args)
    t.regex(refused.err, says)
    t.is(refused.code, 2)
    await run('questions', 'decline', again.run_id)
    await until(daemon, again.run_id, 'completed')
  }
})
