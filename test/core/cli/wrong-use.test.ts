/** Wrong use of the command line is told in its own words and ends with 2. No daemon is asked. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'ava'
import { inWordsOf } from '../../../core/cli/told/own-words.js'
import { findingsCommand } from '../../../core/cli/finding-commands.js'
import { explain } from '../../../core/cli/told/explain.js'
import { Problem } from '../../../core/base/errors.js'
import { allCommands, runClient } from '../../../core/cli/client-line.js'
import { shipped } from '../../../core/shipped.js'
import { parseArguments, switchesOf } from '../../../core/cli/arguments.js'
import { runCommand } from '../../../core/cli/dispatch.js'
import { commandHelp } from '../../../core/cli/help.js'
import { defineCommand, type CommandInput } from '../../../core/plugin/command.js'
import { spawnMain } from '../../support/daemon.js'
import { createCommandLine, runLine } from '../../support/command-line.js'

const holdfast = createCommandLine({ url: 'http://127.0.0.1:9' })

test('an empty argument is refused by its name', async (t) => {
  for (const [line, argument] of [
    [['runs', 'get', ''], 'run_id'],
    [['runs', 'cancel', ' '], 'run_id'],
    [['sessions', 'end', ''], 'session_id'],
  ] as const) {
    const { code, err } = await holdfast(...line)
    t.deepEqual([code, err], [2, `holdfast: <${argument}> must not be empty (argument_empty)\n`])
  }
})

test('help of a group or command is that of --help, and a group alone says where its commands are', async (t) => {
  const { code, out } = await holdfast('help', 'runs')
  t.is(code, 0)
  t.is(out, (await holdfast('runs', '--help')).out)
  t.regex(out, /^holdfast runs\n[^]*runs submit/u)
  t.is((await holdfast('help', 'runs', 'get')).out, (await holdfast('runs', 'get', '--help')).out)
  t.is((await runLine('help', 'serve')).out, (await runLine('serve', '--help')).out)
  const alone = await holdfast('state')
  t.is(alone.code, 2)
  t.regex(alone.err, /state needs a subcommand: [^;]*verify[^;]*; see holdfast state --help \(subcommand_missing\)/u)
})

test('a slip behind a command that takes no words is told with what was meant, and so is a flag with one dash', async (t) => {
  const slip = await holdfast('approvals', 'alow', 'x')
  t.deepEqual(
    [slip.code, slip.err],
    [2, 'holdfast: there is no command "approvals alow"; did you mean holdfast approvals allow? (command_unknown)\n'],
  )
  const dash = await holdfast('runs', 'list', '-n', '3')
  t.deepEqual(
    [dash.code, dash.err],
    [2, 'holdfast: there is no flag -n; see holdfast runs list --help (flag_unknown)\n'],
  )
  for (const [line, says] of [
    ['-n', 'there is no flag -n; see holdfast --help'],
    ['help -n', 'there is no flag -n; see holdfast --help'],
    ['-verbos status', 'there is no flag -verbos; see holdfast --help'],
    ['runs -n', 'there is no flag -n; see holdfast runs --help'],
    ['approvals -n', 'there is no flag -n; see holdfast approvals --help'],
    ['status -o json', 'there is no flag -o; did you mean --output?'],
  ] as const) {
    const { code, err } = await runLine(...line.split(' '))
    t.deepEqual([code, err], [2, `holdfast: ${says} (flag_unknown)\n`])
  }
})

test('a flag of commands without a command is told as that', async (t) => {
  for (const [line, says] of [
    ['--base-url', '--base-url needs a value (flag_value_missing)'],
    ['--base-url http://127.0.0.1:9', 'a command is missing beside --base-url; see holdfast --help (command_missing)'],
    ['--safe --token x', 'a command is missing beside --token; see holdfast --help (command_missing)'],
    ['--nosuch', 'there is no flag --nosuch; see holdfast serve --help (flag_unknown)'],
    ['serve -n', 'there is no flag -n; see holdfast serve --help (flag_unknown)'],
  ] as const) {
    const { text, exited } = spawnMain(line.split(' '))
    t.deepEqual([(await exited).code, text.err], [2, `holdfast: ${says}\n`])
  }
})

test('a flag of which a command takes several has all their values; any other is refused when it is given again', async (t) => {
  const command = defineCommand({
    path: ['take'],
    summary: 'Takes files.',
    flags: {
      attach: { kind: 'text', value: 'file', several: true, summary: 'A file.' },
      to: { kind: 'text', summary: 'Where to.' },
    },
    run: ({ all }) => Promise.resolve([...all('attach'), all('to').length, all('other').length]),
  })
  const taken = async (...args: string[]): Promise<unknown> => {
    const line = parseArguments(['take', ...args, '--output', 'json'], switchesOf([command]))
    const told: string[] = []
    const { signal } = new AbortController()
    await runCommand(command, {
      ...line,
      commands: () => Promise.resolve([command]),
      environment: {},
      signal,
      print: (text) => told.push(text),
    })
    return JSON.parse(told.join(''))
  }
  t.deepEqual(await taken('--attach', 'a', '--to', 'x', '--attach=b', '--attach', 'a'), ['a', 'b', 'a', 1, 0])
  t.deepEqual(await taken(), [0, 0])
  await t.throwsAsync(taken('--to', 'x', '--attach', 'a', '--to', 'y'), { message: '--to is given twice' })
  await t.throwsAsync(taken('--attach', 'a', '--attach'), { message: /--attach needs a value/u })
  t.regex(commandHelp(command), /--attach <file> … +A file\./u)
})

test('an address of a daemon has no path', async (t) => {
  const { code, err } = await createCommandLine({ url: 'http://127.0.0.1:9/v1' })('runs', 'list')
  t.deepEqual([code, err], [2, 'holdfast: --base-url must have no path: leave /v1 out (config_invalid)\n'])
})

test('a wrong address is blamed on where it came from', async (t) => {
  const run = (args: readonly string[], environment: Readonly<Record<string, string>>): Promise<number> =>
    runClient({ shipped, args, environment, signal: new AbortController().signal, print: () => {} })
  for (const [url, rule] of [
    ['ftp://x', 'must be an http or https URL'],
    ['http://127.0.0.1:9/v1', 'must have no path: leave /v1 out'],
  ] as const) {
    await t.throwsAsync(run(['runs', 'list'], { SERVICE_DAEMON_URL: url }), {
      message: `SERVICE_DAEMON_URL ${rule}`,
    })
    await t.throwsAsync(run(['runs', 'list', '--base-url', url], { SERVICE_DAEMON_URL: 'http://127.0.0.1:9' }), {
      message: `--base-url ${rule}`,
    })
  }
})

test('what was acknowledged is said in words, and a missing flag is named with what it takes', async (t) => {
  t.is(findingsCommand.show?.({ acknowledged: 6 }, 80), 'Acknowledged 6 findings.')
  const { code, err } = await holdfast('backup', 'restore', '/nowhere')
  t.deepEqual([code, err], [2, 'holdfast: backup restore needs --to <folder> (flag_required)\n'])
})

test('what a command cannot do without is in its usage line, and is asked for before anything is done', async (t) => {
  for (const [line, usage, needs] of [
    [['backup', 'restore', '/nowhere'], 'backup restore <folder> --to <folder>', '--to <folder>'],
    [
      ['schedules', 'create', 's1', 'Hello', '--timezone', 'UTC'],
      'schedules create <session_id> <text> --at|--every|--cron',
      '--at, --every or --cron',
    ],
    [
      ['sessions', 'set-policy', 's1'],
      'sessions set-policy <session_id> --provider|--model|--clear',
      '--provider, --model or --clear',
    ],
    [['questions', 'answer', 'r1'], 'questions answer <run_id> <answer>|--option', '<answer> or --option'],
  ] as const) {
    const { out } = await holdfast(...line.slice(0, 2), '--help')
    t.is(out.split('\n')[0], `holdfast ${usage}`)
    const { code, err } = await holdfast(...line)
    t.deepEqual([code, err], [2, `holdfast: ${line.slice(0, 2).join(' ')} needs ${needs} (flag_required)\n`])
  }
})

test('command-line-26: words that are no command are answered with those that begin so, or the nearest of them', async (t) => {
  for (const [line, says] of [
    ['channels messages garden', 'there is no command "channels messages garden"; say holdfast channels messages list'],
    ['channels message list garden', '"channels message"; did you mean holdfast channels messages list?'],
    [
      'projects members',
      'projects members needs a subcommand: list, put or remove; see holdfast projects members --help',
    ],
    ['projects tasks p1', 'say holdfast projects tasks list, get, create, update, start or delete'],
    ['projects task list p1', 'did you mean holdfast projects tasks list?'],
    ['plugin list', 'did you mean holdfast plugins list?'],
    ['runs gte run_1', 'did you mean holdfast runs get?'],
    ['mcp get every', 'did you mean holdfast mcp catalog get or holdfast mcp profiles get?'],
    ['agents fo', 'there is no command "agents fo"; say holdfast agents list, '],
    ['hooks', 'there is no command "hooks"; say holdfast runtime hooks set, get, '],
    ['hooks list', 'there is no command "hooks list"; say holdfast runtime hooks set, get, '],
    ['hooks --help', 'there is no command "hooks"; say holdfast runtime hooks set, get, '],
    ['hooks get', 'did you mean holdfast runtime hooks get?'],
    ['tool-limits set', 'did you mean holdfast runtime tool-limits set?'],
    ['login tickets', 'did you mean holdfast mcp oauth login?'],
    ['auth set mcp.key', 'did you mean holdfast mcp auth set?'],
    ['settings', 'there is no command "settings"; see holdfast runtime --help'],
    ['config get', 'there is no command "config get"; did you mean holdfast runtime get?'],
    ['get run_1', 'there is no command "get run_1"; see holdfast --help'],
    ['run', 'there is no command "run"; did you mean holdfast runs?'],
    ['help schedule', 'there is no command "schedule"; did you mean holdfast schedules?'],
    ['st', 'did you mean holdfast '],
    ['sessoins', 'did you mean holdfast sessions?'],
    ['STATUS', 'there is no command "STATUS"; did you mean holdfast status?'],
    ['RUNS LIST', 'did you mean holdfast runs list?'],
    ['s', 'there is no command "s"; see holdfast --help'],
    ['nothing like it', 'there is no command "nothing like"; see holdfast --help'],
  ] as const) {
    const { code, err } = await holdfast(...line.split(' '))
    t.is(code, 2)
    t.true(err.includes(says), `${line}: ${err}`)
  }
})

test('command-line-27: no flag takes a value in one command and none in another', async (t) => {
  const commands = await allCommands(shipped)
  const switches = switchesOf(commands)
  const valued = commands.flatMap(({ path, flags = {} }) =>
    Object.entries(flags).flatMap(([flag, { kind }]) =>
      kind !== 'switch' && switches.has(flag) ? [`${path.join(' ')} --${flag}`] : [],
    ),
  )
  t.deepEqual(valued, [])
})

/** What each switch is set to when the line says so of all of them. */
const switchesWith = async (value: string) => {
  const told: (readonly [string, number, string])[] = []
  for (const { path, args = [], flags = {}, alone } of await allCommands(shipped))
    for (const [flag] of Object.entries(flags).filter(([, { kind }]) => kind === 'switch')) {
      const needed = args.filter((name) => !name.endsWith('?')).map(() => 'x')
      const { code, err } = await (alone === true ? runLine : holdfast)(...path, ...needed, `--${flag}=${value}`)
      told.push([flag, code, err])
    }
  return told
}

test('a switch with a value that is neither true nor false is refused by its name, for every command', async (t) => {
  const told = await switchesWith('yes')
  t.true(told.length > 10)
  for (const [flag, code, err] of told)
    t.deepEqual([code, err], [2, `holdfast: --${flag} must be true or false (flag_invalid)\n`])
  t.is((await holdfast('status', '--help=yes')).err, 'holdfast: --help must be true or false (flag_invalid)\n')
})

test('a switch may say true or false, and false is as good as none', async (t) => {
  const command = (await allCommands(shipped)).find(({ path }) => path.join(' ') === 'state retention')
  const seen: unknown[] = []
  const spy = { ...command, path: ['x'], summary: '', run: async ({ flags }: CommandInput) => void seen.push(flags) }
  for (const value of ['=true', '=1', '=TRUE', '', '=false', '=0']) {
    const { words, flags } = parseArguments(['x', `--dry-run${value}`], switchesOf([spy]))
    const line = {
      words,
      flags,
      commands: () => Promise.resolve([spy]),
      environment: {},
      signal: new AbortController().signal,
    }
    await runCommand(spy, { ...line, print: () => {} })
  }
  t.deepEqual(seen, [...Array.from({ length: 4 }, () => ({ 'dry-run': true })), {}, {}])
})

test('no flag calls itself required outside of the usage line', async (t) => {
  for (const { path, flags = {}, needs = [] } of await allCommands(shipped))
    for (const [flag, { summary }] of Object.entries(flags))
      t.true(!/required|must be given/iu.test(summary) || needs.includes(`--${flag}`), `${path.join(' ')} --${flag}`)
})

test('flags may stand before the command; a flag of no command is named, with the right form', async (t) => {
  for (const line of [
    ['--output', 'json', 'completion', 'tcsh'],
    ['completion', '--output=json', 'tcsh'],
  ])
    t.regex((await holdfast(...line)).err, /shell_unknown/u)
  for (const line of [
    ['--json', 'runs', 'list'],
    ['runs', '--json', 'list'],
    ['runs', 'list', '--json'],
    ['--json', 'status'],
  ]) {
    const { code, err } = await holdfast(...line)
    t.deepEqual([code, err], [2, 'holdfast: there is no flag --json; did you mean --output json? (flag_unknown)\n'])
  }
  const { code, err } = await holdfast('--outptu', 'json', 'runs', 'list')
  t.deepEqual([code, err], [2, 'holdfast: there is no flag --outptu; did you mean --output? (flag_unknown)\n'])
  const stray = await holdfast('--verbose', 'runs', 'list')
  t.deepEqual(
    [stray.code, stray.err],
    [2, 'holdfast: there is no flag --verbose; see holdfast --help (flag_unknown)\n'],
  )
  const own = await holdfast('status', '--nosuch')
  t.is(own.err, 'holdfast: there is no flag --nosuch; see holdfast status --help (flag_unknown)\n')
})

test('a flag that the daemon refuses is wrong use too', (t) => {
  const flags = { limit: { kind: 'text', summary: '' } } as const
  const list = { path: ['runs', 'list'], summary: '', flags, run: async () => {} }
  const refused = (path: string): Problem =>
    new Problem(
      'bad_request',
      { status: 400, detail: `${path} must be a number` },
      {
        errors: [{ path, rule: 'must be a number' }],
      },
    )
  const told = explain(inWordsOf({ command: list }, refused('query.limit')))
  t.deepEqual([told.code, told.text], [2, 'holdfast: --limit must be a number (bad_request)'])
  t.is(explain(inWordsOf({ command: list }, refused('body.other'))).code, 1)
})

test('with --output json an error is one JSON object, wherever it stands and whoever found it', async (t) => {
  for (const [line, code, error] of [
    [['runs', 'lst', '--output', 'json'], 2, 'command_unknown'],
    [['--output=json', 'runs', 'get'], 2, 'argument_missing'],
    [['--output', 'json', 'runs', 'list', '--nosuch'], 2, 'flag_unknown'],
    [['completion', 'tcsh', '--output', 'json'], 2, 'shell_unknown'],
    [['runs', 'list', '--output', 'json'], 1, 'daemon_unreachable'],
    [['explain', '..', '--output', 'json'], 2, 'id_refused'],
    [['runs', 'get', '.', '--output', 'json'], 2, 'id_refused'],
  ] as const) {
    const ran = await holdfast(...line)
    const told = JSON.parse(ran.err)
    t.deepEqual([ran.code, ran.out, ran.err.split('\n').length, told.code], [code, '', 2, error], line.join(' '))
    t.is(typeof told.message, 'string')
  }
  t.deepEqual(JSON.parse((await holdfast('runs', 'list', '--output', 'json')).err), {
    code: 'daemon_unreachable',
    message: 'no daemon answers at http://127.0.0.1:9',
    action: 'Start one with holdfast serve, or name another with --base-url.',
  })
  t.regex((await holdfast('runs', 'get', '--', '--output=json')).err, /^holdfast: /u)
  const fault = JSON.parse(explain(new TypeError('x is not a function'), 'json').text)
  t.deepEqual([fault.code, fault.message], ['internal_error', 'x is not a function'])
})

test('a problem of the daemon is given to programs as it came, with the exit code that people get', async (t) => {
  const document = {
    type: 'urn:service:problem:bad_request',
    title: 'Bad Request',
    status: 400,
    detail: 'The request is not valid: query.limit must be an integer.',
    code: 'bad_request',
    action: 'Correct the fields named in `errors` and send the request again.',
    errors: [{ path: 'query.limit', rule: 'must be an integer' }],
    limit_bytes: 7,
  }
  const server = createServer((_, answer) => {
    answer.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(document))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const at = server.address()
  const run = createCommandLine({ url: `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}` })
  const [json, pretty] = [await run('runs', 'list', '--output', 'json'), await run('runs', 'list')]
  t.deepEqual(JSON.parse(json.err), document)
  t.deepEqual([json.code, pretty.code], [2, 2])
  t.is(pretty.err, 'holdfast: The request is not valid: --limit must be an integer. (bad_request)\n')
})
