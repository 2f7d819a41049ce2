/** Problems of a daemon are told in the flags, arguments and commands of who typed the line. */
import test from 'ava'
import { readModules } from '../../../../docs/make/modules.js'
import { nobody } from '../../../../core/cli/dispatch.js'
import { allCommands } from '../../../../core/cli/client-line.js'
import { explain } from '../../../../core/cli/told/explain.js'
import { inWordsOf, isOfTheLine } from '../../../../core/cli/told/own-words.js'
import { inCommands } from '../../../../core/cli/told/route-names.js'
import { shipped } from '../../../../core/shipped.js'
import { httpErrors } from '../../../../core/http/errors.js'
import { Problem } from '../../../../core/base/errors.js'
import type { Client, Command } from '../../../../core/plugin/command.js'
import type { Json } from '../../../../core/base/schema.js'

const commands = await allCommands(shipped)
const named = (line: string): Command => {
  const found = commands.find(({ path }) => path.join(' ') === line)
  if (found === undefined) throw new RangeError(line)
  return found
}
const told = (line: string, problem: Problem) => explain(inWordsOf({ command: named(line), commands }, problem))

test('a field is named by its flag, also in the middle of a sentence, and the flag says what to do', (t) => {
  const rule = 'must have five fields'
  const refused = new Problem(
    'invalid_schedule',
    { status: 400, detail: `The schedule cannot be: cadence.expression ${rule}.`, action: 'Correct the field.' },
    { errors: [{ path: 'body.cadence.expression', rule }] },
  )
  t.deepEqual(told('schedules create', refused), {
    code: 2,
    text: 'holdfast: The schedule cannot be: --cron must have five fields. (invalid_schedule)',
  })
  const limit = httpErrors.invalid_limit({ errors: [{ path: 'query.limit', rule: 'must be at least 1' }] })
  t.is(
    told('runs list', limit).text,
    'holdfast: The limit must be at least 1. (invalid_limit)\n  --limit must be at least 1',
  )
  const stranger = httpErrors.bad_request({
    details: { path: 'body.other', rule: 'is unknown' },
    errors: [{ path: 'body.other', rule: 'is unknown' }],
  })
  t.is(told('runs list', stranger).text, 'holdfast: The request is not valid: body.other is unknown. (bad_request)')
})

test('command-line-2: of a part of what a flag takes the place is told, and the flag is the one that was given', (t) => {
  const at = (line: string, path: string, flags: Readonly<Record<string, string | boolean>> = {}): string => {
    const problem = inWordsOf(
      { command: named(line), flags },
      httpErrors.bad_request({ errors: [{ path, rule: 'x' }] }),
    )
    return problem instanceof Problem ? (problem.occurrence.errors?.[0]?.path ?? '') : ''
  }
  const hooks = 'body.hooks.PreToolUse.0.name'
  for (const [line, path, flags, said] of [
    ['runtime hooks set', hooks, { file: 'f' }, 'hooks.PreToolUse.0.name of --file'],
    ['runtime hooks set', hooks, { stdin: true }, 'hooks.PreToolUse.0.name of --stdin'],
    ['runtime hooks set', 'body.hooks', { reset: true }, '--reset'],
    ['mcp call', 'body.input.path', {}, 'path of --input-json'],
    ['mcp call', 'body.input.path', { stdin: true }, 'path of --stdin'],
    ['runtime learning-policy set', 'body.policy.mode', { mode: 'wild' }, '--mode'],
    ['runtime learning-policy set', 'body.policy.mode', { file: 'f' }, 'policy.mode of --file'],
    ['runtime learning-policy set', 'body.policy.mode', { stdin: true }, 'policy.mode of --stdin'],
    ['runtime set-model', 'body.provider', {}, '<model>'],
    ['runs submit', 'body.reply_targets.0.url', {}, '--reply-to'],
    ['runtime tool-limits set', 'body.limits.max_timeout_ms', {}, '--max-timeout-ms'],
  ] as const)
    t.is(at(line, path, flags), said)
  const refused = httpErrors.bad_request({
    details: { path: hooks, rule: 'is required' },
    errors: [{ path: hooks, rule: 'is required' }],
  })
  t.deepEqual(explain(inWordsOf({ command: named('runtime hooks set'), flags: { file: 'f' } }, refused)), {
    code: 2,
    text: 'holdfast: The request is not valid: hooks.PreToolUse.0.name of --file is required. (bad_request)',
  })
})

test('command-line-2: a flag that takes several units is told the one of the number', (t) => {
  const refuse = (path: string) => {
    const rule = 'must be at least 5'
    return httpErrors.bad_request({ details: { path, rule }, errors: [{ path, rule }] })
  }
  t.is(
    told('schedules create', refuse('body.cadence.every_seconds')).text,
    'holdfast: The request is not valid: --every must be at least 5 seconds. (bad_request)',
  )
  t.regex(told('runs list', refuse('query.limit')).text, /--limit must be at least 5\./u)
  t.regex(told('runs prune', refuse('body.older_than_ms')).text, /<older_than_ms> must be at least 5\./u)
})

test('command-line-2: fields in what is said are flags where the command has them', (t) => {
  const detail = 'Raise token_budget, or ask with skip_hooks true; as other_member true.'
  const flags = {
    'token-budget': { kind: 'text', summary: '' },
    'skip-hooks': { kind: 'switch', summary: '' },
  } as const
  const command: Command = { path: ['x'], summary: '', flags, run: async () => {} }
  t.regex(
    explain(inWordsOf({ command }, new Problem('x', { status: 409, detail, action: detail }, {}))).text,
    /^holdfast: Raise --token-budget, or ask with --skip-hooks; as other_member true\. \(x\)\nRaise --token-budget, or ask with --skip-hooks;/u,
  )
})

test('a route is named by the command that stands for it, with its arguments; other routes stay', (t) => {
  for (const [sentence, said] of [
    ['List the runs with GET /v1/runs.', 'List the runs with holdfast runs list.'],
    ['See GET /v1/schedules/{schedule_id}; then', 'See holdfast schedules get SCHEDULE_ID; then'],
    ['See GET /v1/runs/r1/debug.', 'See holdfast runs debug r1.'],
    ['With POST /v1/sessions/{session_id}/runs.', 'With holdfast runs submit SESSION_ID TEXT.'],
    ['Or POST /v1/runtime/secrets.', 'Or holdfast secrets set --stdin SECRET_REF.'],
    ['PUT /v1/sessions/s1/isolation', 'holdfast sessions set-isolation s1 ISOLATION'],
    ['POST /v1/runtime/hooks/dead-letter/d1/resolve', 'holdfast runtime hooks resolve-dead-letter d1'],
    ['One with POST /v1/sessions.', 'One with holdfast sessions create.'],
    ['POST /v1/schedules/s/pause', 'holdfast schedules pause s'],
    ['POST /v1/schedules/a%20%27b%2D/pause.', "holdfast schedules pause 'a '\\''b-'."],
    ['POST /v1/schedules/50%/pause.', "holdfast schedules pause '50%'."],
    ['PUT /v1/nothing/{at_all}', 'PUT /v1/nothing/{at_all}'],
  ] as const)
    t.is(inCommands(sentence, commands), said)
})

test('who lacks a token is told the flags that give one', (t) => {
  for (const make of [httpErrors.missing_token, httpErrors.malformed_token, httpErrors.invalid_token])
    t.regex(told('status', make()).text, /--token-file FILE.*--token TOKEN|--token TOKEN/u, make.code)
})

test('no problem of any table names a route that a command stands for', async (t) => {
  const { errors } = await readModules()
  t.true(errors.length > 100)
  const routes = new Set(commands.flatMap(({ route }) => route ?? []))
  for (const { value: make } of errors) {
    const { text } = told('status', make())
    for (const [route] of text.matchAll(/(?:GET|POST|PUT|DELETE) \/v1\/[\w{}./-]*[\w}]/gu))
      t.false(routes.has(route), `${make.code}: ${text}`)
  }
})

/** What a command sends, given these flags: its fields by their paths. */
const sentBy = async (
  command: Command,
  flags: Readonly<Record<string, string | boolean>>,
  argument: string,
): Promise<string[]> => {
  const sent: string[] = []
  const leaves = (path: string, value: Json | undefined): void => {
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) leaves(`${path}.${name}`, inner)
    else sent.push(path)
  }
  const take = (address: string, body: Json = {}): Promise<Json> => {
    for (const name of new URL(address, 'http://127.0.0.1').searchParams.keys()) sent.push(`query.${name}`)
    leaves('body', body)
    return Promise.resolve({})
  }
  const client: Client = {
    baseUrl: 'http://127.0.0.1',
    get: (address) => take(address),
    options: async () => ({}),
    bytes: async () => new Uint8Array(),
    send: (_, address, body) => take(address, body),
    stream: async (address) => {
      await take(address)
      return (async function* () {})()
    },
  }
  const given = (command.args ?? []).map((arg) => [arg.replace(/\?$/u, ''), argument])
  const run = async (): Promise<unknown> =>
    command.run({
      client,
      addressed: false,
      args: Object.fromEntries(given),
      flags,
      all: (flag) => [flags[flag] ?? []].flat().map(String),
      output: 'json',
      now: () => 0,
      variable: () => undefined,
      reach: () => client,
      withDaemon: (work) =>
        work({ client, root: '/root', serves: true, config: () => undefined, writeConfig: () => Promise.resolve() }),
      scratch: (_, work) =>
        work({ client, root: '/root', serves: false, config: () => undefined, writeConfig: () => Promise.resolve() }),
      pause: () => Promise.resolve(),
      lasting: () => Promise.reject(new Problem('none', { status: 500, detail: 'Nothing goes on.' }, {})),
      dialogue: () => nobody,
      told: (error) => Promise.resolve(String(error)),
      secret: () => Promise.resolve('a value'),
      json: () => Promise.resolve('a value'),
      print: () => {},
      write: () => {},
      redraw: () => {},
      columns: () => 80,
      attended: false,
      signal: new AbortController().signal,
      exitWith: () => {},
    })
  // What does not go together is refused before anything is sent.
  await run().catch(() => {})
  return sent
}

/** Set by the commands themselves, or not given on the line: no flag can be named for them. */
const constant = new Set([
  'approvals list: query.page',
  'approvals list: query.limit',
  'grants list: query.page',
  'grants list: query.limit',
  'approvals list: query.cursor',
  'sessions list: query.page',
  'runs list: query.page',
  'deliveries list: query.page',
  'deliveries dead-letter: query.page',
  'schedules list: query.page',
  'personas list: query.page',
  'learnings list: query.page',
  'learning-skills list: query.page',
  'learnings candidates list: query.page',
  'learnings candidates create: body.scope.kind',
  'assets list: query.page',
  'agents summaries: query.page',
  'agents audit: query.page',
  'playbooks list: query.page',
  'flows list: query.page',
  'worktrees list: query.page',
  'connectors list: query.page',
  'connectors put: body.1.value',
  'derivations list: query.page',
  'boards list: query.page',
  'projects list: query.page',
  'projects members list: query.page',
  'projects members put: body.member_kind',
  'projects channels list: query.page',
  'projects tasks list: query.page',
  'channels list: query.page',
  'channels members list: query.page',
  'boards revisions: query.page',
  'observation-sources list: query.page',
  'observations list: query.page',
  'observations materialize: body.selection.type',
  'capture-agents list: query.page',
  'capture-agents alerts: query.page',
  'assets gc: body.dry_run',
  'runs list: query.priority_active',
  'runs events: query.steps',
  'runs prune: body.dry_run',
  'schedules create: body.cadence.type',
  'schedules list: query.limit',
  'tasks output: query.wait',
  'questions answer: body.resolution.request_id',
  'secrets set: body.state.value',
  'mcp auth set: body.state.value',
  'observation-sources create: body.upload_token',
  'observation-sources rotate-token: body.upload_token',
  'goals pause: body.status',
  'goals resume: body.status',
  'goals complete: body.status',
])
const examples: Readonly<Record<string, string>> = { at: '17:30', every: '5m', option: '1' }

test('every field that a command sends has a flag or an argument for its name', async (t) => {
  const checked = new Set<string>()
  const nameless: string[] = []
  for (const command of commands.filter(({ route }) => route !== undefined)) {
    const flags = Object.entries(command.flags ?? {}).map(([flag, { kind }]) => ({
      [flag]: kind === 'switch' ? true : (examples[flag] ?? '1'),
    }))
    for (const given of [{}, ...flags])
      for (const path of (await Promise.all(['x', 'x/y'].map((word) => sentBy(command, given, word)))).flat()) {
        const problem = inWordsOf({ command }, httpErrors.bad_request({ errors: [{ path, rule: 'is wrong' }] }))
        const fields = problem instanceof Problem ? problem.occurrence.errors : []
        checked.add(path)
        const name = `${command.path.join(' ')}: ${path}`
        if (!constant.has(name) && !isOfTheLine(fields)) nameless.push(name)
      }
  }
  t.deepEqual(nameless, [])
  for (const path of ['body.cadence.expression', 'body.older_than_ms', 'query.limit']) t.true(checked.has(path), path)
})
