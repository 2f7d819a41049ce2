/** Completion as a shell does it: the script is loaded by a real bash, which is asked what may follow. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { shipped } from '../../../core/shipped.js'
import { allCommands } from '../../../core/cli/client-line.js'
import { completionScript } from '../../../core/cli/completion.js'
import { createCommandLine } from '../../support/command-line.js'

const run = createCommandLine({ url: 'http://127.0.0.1:9' })

/** What may follow each of several lines. */
const choicesOfAll = async (script: string, lines: readonly (readonly string[])[]): Promise<string[][]> => {
  const asks = lines.map((words) => {
    const typed = words.map((word) => `'${word}'`).join(' ')
    return `COMPREPLY=(); COMP_WORDS=(holdfast ${typed}); COMP_CWORD=${words.length}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"; printf '\\f'`
  })
  // More than an argument of a program may hold.
  const file = join(await mkdtemp(join(tmpdir(), 'completion-')), 'asks.sh')
  await writeFile(file, [script, ...asks].join('\n'))
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', file])
  await rm(dirname(file), { recursive: true })
  if (stderr !== '') throw new RangeError(stderr)
  return stdout.split('\f').map((told) => told.split('\n').filter((choice) => choice !== ''))
}
const choicesOf = async (script: string, ...words: string[]): Promise<string[]> =>
  (await choicesOfAll(script, [words]))[0] ?? []

test('bash completes every command word by word, and its flags', async (t) => {
  const { out, code } = await run('completion', 'bash')
  t.is(code, 0)
  const wanted = (await allCommands(shipped)).flatMap(({ path }) =>
    path.flatMap((word, at) =>
      at > 0 || word !== 'approvals' ? [{ word, typed: [...path.slice(0, at), word.slice(0, 2)] }] : [],
    ),
  )
  const found = await choicesOfAll(
    out,
    wanted.map(({ typed }) => typed),
  )
  for (const [at, { word, typed }] of wanted.entries()) t.true(found[at]?.includes(word), typed.join(' '))
  t.deepEqual(await choicesOf(out, 'runs', 'su'), ['submit'])
  t.deepEqual(await choicesOf(out, 'runs', 'submit', 's1', 'two words', '--re'), ['--reply-to'])
  t.deepEqual(await choicesOf(out, '--output', 'json', 'runs', 'wat'), ['watch'])
  t.deepEqual(await choicesOf(out, 'status', '--output', ''), ['pretty', 'json'])
  t.true((await choicesOf(out, 'serve', '--')).includes('--bind'))
  t.deepEqual(await choicesOf(out, 'serve', '--provider-base'), ['--provider-base-url'])
  t.deepEqual(await choicesOf(out, 'completion', 'nothing'), [])
})

test('bash completes values that are a few words, flags before any word, and flags without a value', async (t) => {
  const { out } = await run('completion', 'bash')
  t.deepEqual(await choicesOf(out, 'completion', ''), ['bash', 'zsh', 'fish'])
  t.deepEqual(await choicesOf(out, 'completion', 'bash', ''), [])
  for (const line of [['serve'], []]) {
    t.deepEqual(await choicesOf(out, ...line, '--log-format', ''), ['auto', 'json', 'pretty'])
    t.deepEqual(await choicesOf(out, ...line, '--log-format', '=', 'j'), ['json'])
    t.deepEqual(await choicesOf(out, ...line, '--log-format', '='), ['auto', 'json', 'pretty'])
    t.deepEqual(await choicesOf(out, ...line, '--scheduler-enabled', 'f'), ['false'])
    t.deepEqual(await choicesOf(out, ...line, '--bind', ''), [])
  }
  t.deepEqual(await choicesOf(out, 'tasks', 'list', 's1', '--status', 'in'), ['in_progress'])
  t.deepEqual(await choicesOf(out, 'schedules', 'create', '--overlap', 'q'), ['queue_one'])
  t.deepEqual(await choicesOf(out, '--output', 'p'), ['pretty'])
  t.deepEqual(await choicesOf(out, 'runs', 'submit', '--provider', ''), [])
  const bare = await choicesOf(out, '--')
  for (const flag of ['--bind', '--output', '--version', '--help']) t.true(bare.includes(flag), flag)
  for (const flag of ['--hold', '--safe', '--help'])
    t.true((await choicesOf(out, flag, 'serve', '--lo')).includes('--log-format'), flag)
  t.true((await choicesOf(out, '--hold', 'se')).includes('serve'))
  t.deepEqual(await choicesOf(out, 'runs', 'submit', '--watch', '--rep'), ['--reply-to'])
})

test('zsh and fish are given the same table; another shell is refused', async (t) => {
  const commands = await allCommands(shipped)
  for (const shell of ['zsh', 'fish']) {
    const script = completionScript(shell, commands, [{ flag: 'bind', variable: '', schema: {} }])
    for (const word of ['submit', 'reply-to', 'bind', 'completion']) t.true(script.includes(word), `${shell} ${word}`)
  }
  const refused = await run('completion', 'tcsh')
  t.is(refused.code, 2)
  t.regex(refused.err, /no completion for "tcsh": say bash, zsh or fish \(shell_unknown\)/u)
})
