import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parse, shellWord, unsafeCast, type Json } from '../../../../core/plugin.js'
import { rootTag } from '../../../../core/processes/marker.js'
import { readProcesses } from '../../../../core/state/root/process-table.js'
import { HookInvocation } from '../../../../plugins/operator/hooks/invocation.js'
import { HookCallbacks } from '../../../../plugins/operator/hooks/contract.js'
import { rulingOf } from '../../../../plugins/operator/hooks/outcome/outcome.js'
import { createFitting } from '../../../../plugins/operator/hooks/matching/fitting.js'
import { matcherFault, matches } from '../../../../plugins/operator/hooks/matching/matcher.js'
import { patternOf } from '../../../../plugins/operator/hooks/matching/pattern.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, spawnDaemon, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { echoing } from '../../../support/interceptors.js'
import { testPlugin } from '../../../support/plugins.js'
import { isLinear } from '../../../support/linear.js'
import { startReceiver } from '../../../support/receiver.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { eventually } from '../../../support/mcp.js'
import { makeFolder } from '../../../support/tools.js'

const daemonWith = async (
  t: ExecutionContext,
  answer: (payload: Json) => Promise<Json | undefined> = async () => undefined,
  options: TestDaemonOptions = {},
) => {
  const tool = echoing()
  const workspace = await makeFolder(t)
  const calls: Json[] = []
  const lends = testPlugin('lends', {
    register(ctx) {
      ctx.contribute(HookCallbacks, {
        name: 'judge',
        call: ({ payload }) => {
          calls.push(payload)
          return answer(payload)
        },
      })
    },
  })
  const daemon = await startTestDaemon(t, {
    plugins: [tool.plugin, lends],
    flags: { 'workspace-root': workspace },
    config: { hooks: { allow_cidrs: ['127.0.0.0/8'] } },
    ...options,
  })
  await openSession(daemon)
  const set = async (hooks: object) => daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks } })
  const run = async (content = '/tool echo {"text":"plain"}') => {
    const { run_id } = await submit(daemon, 's1', content)
    return until(daemon, run_id, 'completed', 'failed', 'waiting_for_approval')
  }
  const outcomes = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
      .filter(({ type }: any) => type === 'outcome')
      .map(({ entry }: any) => entry)
  const letters = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters
  return { ...daemon, workspace, set, run, outcomes, letters, made: tool.calls, asked: calls }
}
const command = (text: string, more: object = {}) => ({
  name: 'guard',
  executor: { type: 'command', command: text, ...more },
})
const left = async (root: string): Promise<number[]> =>
  (await readProcesses()).filter(({ marker }) => marker?.startsWith(`${rootTag(root)}.`) === true).map(({ pid }) => pid)

test('hooks-11: a command reads the invocation on standard input, and its JSON on standard output is the outcome', async (t) => {
  const { set, run, made, workspace, request } = await daemonWith(t)
  const outcome = JSON.stringify({ updated_input: { text: 'changed' } })
  t.is((await set({ pre_tool_use: [command(`cat > asked.json; echo '${outcome}'`)] })).status, 200)
  const { run_id } = await run()
  t.deepEqual(made, [{ text: 'changed' }])
  const asked = JSON.parse(await readFile(join(workspace, 'asked.json'), 'utf8'))
  t.true(parse(HookInvocation, asked).ok, 'the document has the members that the reference names')
  t.like(asked, {
    contract_version: 1,
    hook_name: 'guard',
    event: 'pre_tool_use',
    subject: 'echo',
    session_id: 's1',
    run_id,
    payload: { tool_name: 'echo', tool_input: { text: 'plain' } },
    hook_event_name: 'PreToolUse',
    cwd: workspace,
    tool_name: 'echo',
    tool_input: { text: 'plain' },
  })
  const rows = (await request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.like(
    rows.find(({ kind }: any) => kind === 'hook'),
    { target: 'guard (command)', outcome: 'done', approved_by: { type: 'configuration', id: 'hooks' } },
  )
})

test('hooks-12: exit 2 blocks with standard error as the reason; other codes are failures', async (t) => {
  const { set, run, made, outcomes, letters, request, url } = await daemonWith(t)
  await set({ pre_tool_use: [command('echo "not today" >&2; exit 2')] })
  await run()
  t.deepEqual(made, [])
  t.is((await outcomes())[0].output.error.reason.trim(), 'not today')
  await set({ pre_tool_use: [{ ...command('exit 3'), failure_policy: { mode: 'open', max_retries: 1 } }] })
  await run()
  t.is(made.length, 1, 'a hook that fails open stops nothing')
  const [letter] = await letters()
  t.like(letter, {
    hook_name: 'guard',
    event: 'pre_tool_use',
    attempt_count: 2,
    failure_mode: 'open',
    target: 'command',
  })
  await set({ pre_tool_use: [{ ...command('echo "{oops"'), failure_policy: { mode: 'closed' } }] })
  await run()
  t.is(made.length, 1, 'a hook that fails closed stops the call')
  t.like((await request('GET', '/v1/status')).body.hooks, {
    configured_count: 1,
    dead_lettered_count: 2,
    unresolved_dead_lettered_count: 2,
    execution_count: 3,
    failure_count: 2,
    retry_count: 1,
  })
  const warned = async () =>
    (await request('GET', '/v1/status')).body.health.warnings.find(({ code }: any) => code === 'hook_dead_letters')
  t.like(await warned(), { severity: 'warning', related_id: (await letters())[0].id })
  t.regex((await warned()).action, /holdfast runtime hooks resolve-dead-letter dead_/u)
  const told = await createCommandLine({ url })('runtime', 'hooks', 'dead-letter')
  t.regex(
    told.out,
    new RegExp(`^${letter.id} {2}guard {2}open\\n {2}event +\\S.*\\n {2}failed +\\d.*, after \\d attempt`, 'mu'),
  )
  t.regex(told.out, /\nResolve one: holdfast runtime hooks resolve-dead-letter ID\./u)
  const path = `/v1/runtime/hooks/dead-letter/${letter.id}/resolve`
  t.like((await request('POST', path, { reason: 'seen' })).body, { resolution_reason: 'seen' })
  t.like((await request('POST', path, { reason: 'again' })).body, { resolution_reason: 'seen' })
  t.is((await request('GET', '/v1/status')).body.hooks.unresolved_dead_lettered_count, 1)
  t.is((await request('POST', '/v1/runtime/hooks/dead-letter/nobody/resolve', {})).body.code, 'dead_letter_not_found')
})

test('hooks-12: a command that the shell cannot read has failed, and blocks nothing by itself', async (t) => {
  const { set, run, made, outcomes, letters } = await daemonWith(t)
  const unread = `curl -H 'X-Auth: hunter2Zq8vR3wLx7Tb5' https://x (`
  const cannot = /^the shell cannot read its command: \w+: (?:\d+: )?eval: [^\n|]*syntax error/iu
  let calls = 0
  for (const shell of ['bash', 'sh'])
    for (const text of [unread, `set -e\n: first\n${unread}`]) {
      await set({ pre_tool_use: [command(text, { shell })] })
      await run()
      t.is(made.length, (calls += 1), text)
      const { error } = (await letters())[0]
      t.regex(error, cannot)
      t.notRegex(error, /hunter2|curl/u)
    }
  await set({ pre_tool_use: [{ ...command(unread), failure_policy: { mode: 'closed' } }] })
  await run()
  t.regex((await outcomes()).at(-1).output.error.reason, /^the hook failed: the shell cannot read/u)
  const told = (await letters()).length
  const patterns = `shopt -s extglob\ncase $1 in !(a|b)) eval 'echo ) >&2' ;; esac; echo no >&2; exit 2`
  for (const text of ['exit 2\n)', 'sh -c "echo no >&2; exit 2"', patterns]) {
    await set({ pre_tool_use: [command(text)] })
    await run()
    t.deepEqual([made.length, (await letters()).length], [calls, told], text)
  }
})

test('hooks-13: an HTTP hook gets the invocation by POST; private addresses and wrong URLs are refused', async (t) => {
  const { set, run, made, letters } = await daemonWith(t)
  const receiver = await startReceiver(t)
  receiver.on('/hook', (_, response) => response.end(JSON.stringify({ decision: 'block', reason: 'no' })))
  const http = (url: string) => ({ pre_tool_use: [{ name: 'web', executor: { type: 'http', url } }] })
  t.is((await set(http(`http://127.0.0.1:${receiver.port}/hook`))).status, 200)
  await run()
  t.deepEqual(made, [])
  t.like(receiver.at('/hook')[0]?.body, { event: 'pre_tool_use', hook_name: 'web' })
  for (const [status, calls] of [
    [201, 0],
    [500, 1],
    [304, 2],
  ] as const) {
    receiver.on('/hook', (_, response) => response.writeHead(status).end(JSON.stringify({ decision: 'block' })))
    await run()
    t.is(made.length, calls, `${status}`)
  }
  t.deepEqual(
    (await letters()).map(({ error }: any) => error),
    ['http_status_304', 'http_status_500'],
  )
  receiver.on('/hook', (_, response) => response.end('{ <html>'))
  await run()
  t.is((await letters())[0].error, 'its outcome is no JSON: { <html>')
  receiver.on('/hook', (_, response) => response.end('{"continue":false,"continue":true}'))
  await run()
  t.regex((await letters())[0].error, /^its outcome has continue twice: /u)
  for (const url of [
    'ftp://example.com/',
    'http://me:word@example.com/',
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'https://*.example.com/',
    'nowhere',
  ]) {
    const { body } = await set(http(url))
    t.like(body, { status: 400, code: 'invalid_hook_settings', domain: 'runtime' }, url)
  }
  const closed = await startTestDaemon(t)
  for (const url of ['http://localhost/', 'http://127.0.0.1/'])
    t.is((await closed.request('POST', '/v1/runtime/hooks', { settings: { hooks: http(url) } })).status, 400, url)
})

test('hooks-14: a callback of a plugin is asked in the process, also by the names that hooks elsewhere use', async (t) => {
  const { set, run, asked, made } = await daemonWith(t, async () => ({
    hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'by the judge' },
  }))
  await set({ pre_tool_use: [{ name: 'court', matcher: 'ech.*', executor: { type: 'callback', name: 'judge' } }] })
  await run()
  t.is(asked.length, 1)
  t.deepEqual(made, [])
  await set({
    pre_tool_use: [{ name: 'court', matcher: 'bash|write_file', executor: { type: 'callback', name: 'judge' } }],
  })
  await run()
  t.is(asked.length, 1)
  t.is(made.length, 1)
})

test('hooks-14: a hook that puts out more than 64 KiB has failed, whatever it says, and is in the dead letters', async (t) => {
  const { set, run, made, letters } = await daemonWith(t)
  for (const text of ['head -c 20000000 /dev/zero', `printf '{"a":"'; head -c 20000000 /dev/zero | tr '\\0' x`]) {
    const before = (await letters()).length
    await set({ pre_tool_use: [{ ...command(text), failure_policy: { mode: 'closed' } }] })
    await run()
    t.deepEqual(made, [])
    t.is((await letters()).length, before + 1)
    t.like((await letters())[0], { hook_name: 'guard', error: 'it put out more than 64 KiB' })
  }
})

test('hooks-14: a hook that puts out without end is ended at its bound and not at its time, and one that ends behind it still blocks', async (t) => {
  const { set, run, made, letters, root, outcomes } = await daemonWith(t)
  await set({
    pre_tool_use: [{ ...command('yes a line', { timeout_ms: 60_000 }), failure_policy: { mode: 'closed' } }],
  })
  const from = Date.now()
  await run()
  t.true(Date.now() - from < 30_000)
  t.like((await letters())[0], { error: 'it put out more than 64 KiB' })
  t.deepEqual(await left(root), [])
  await set({ pre_tool_use: [command('head -c 100000 /dev/zero; echo not today >&2; exit 2')] })
  await run()
  t.is((await outcomes()).at(-1).output.error.reason.trim(), 'not today')
  t.deepEqual(made, [])
})

test('hooks-37: what looks like an outcome and is none is a failure of a hook that must not fail', async (t) => {
  const { set, run, made, letters } = await daemonWith(t)
  await set({ pre_tool_use: [{ ...command(`echo '[{"decision":"block"}]'`), failure_policy: { mode: 'closed' } }] })
  await run()
  t.deepEqual(made, [])
  t.is((await letters())[0].error, 'its outcome is JSON, and no object: [{"decision":"block"}]')
  await set({
    pre_tool_use: [{ ...command(`echo hello; echo '{"decision":"block"}'`), failure_policy: { mode: 'closed' } }],
  })
  await run()
  t.deepEqual(made, [])
  t.regex((await letters())[0].error, /^other text stands beside its outcome: it must put out the JSON alone: hello/u)
})

test('hooks-29: a misspelt member of an outcome is a failure of a hook that must not fail, and told of another', async (t) => {
  const { set, run, made, outcomes, letters, request } = await daemonWith(t)
  const saying = (outcome: object, mode: string) => ({
    pre_tool_use: [{ ...command(`echo '${JSON.stringify(outcome)}'`), failure_policy: { mode } }],
  })
  await set(saying({ descision: 'block', hookSpecificOutput: { permisionDecision: 'deny' } }, 'closed'))
  await run()
  t.deepEqual(made, [])
  const error =
    'its outcome has members that nobody looks at: descision (decision?), ' +
    'hookSpecificOutput.permisionDecision (hookSpecificOutput.permissionDecision?)'
  t.is((await outcomes())[0].output.error.reason, `the hook failed: ${error}`)
  t.like((await letters())[0], { failure_mode: 'closed', error })
  await set(saying({ permisson: 'deny', updated_input: { text: 'counts' } }, 'open'))
  await run()
  await run()
  t.deepEqual(made, [{ text: 'counts' }, { text: 'counts' }])
  const told = async () => (await letters()).filter(({ failure_mode }: any) => failure_mode === 'open')
  t.deepEqual(
    (await told()).map((letter) => letter.error),
    ['its outcome has members that nobody looks at: permisson (permission?)'],
  )
  await request('POST', `/v1/runtime/hooks/dead-letter/${(await told())[0].id}/resolve`, {})
  await run()
  t.is((await told()).length, 2, 'it is told again once somebody has looked')
})

test('hooks-29: what hooks of other programs say and what means nothing here is taken', (t) => {
  const said = {
    continue: true,
    stopReason: 'x',
    suppressOutput: true,
    systemMessage: 'm',
    decision: 'approve',
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', additionalContext: 'c' },
  }
  t.deepEqual((rulingOf('guard', said) as any).strange, [])
  t.deepEqual((rulingOf('guard', { ...said, ['__proto__x']: 1, toString: 1 }) as any).strange, [
    '__proto__x',
    'toString',
  ])
})

test('runs-21, hooks-36: the steps of a run tell which hook did what, with its reason and without known secrets', async (t) => {
  const { set, run, request, url } = await daemonWith(t)
  await request('POST', '/v1/runtime/secrets', { slot_id: 'one', state: { value: 'sesame-canary-1' } })
  const hook = (name: string, outcome: object) => ({ ...command(`echo '${JSON.stringify(outcome)}'`), name })
  await set({
    pre_tool_use: [
      hook('greeter', { additional_contexts: ['be kind'] }),
      hook('writer', { updated_input: { text: 'changed' } }),
      hook('clerk', { permission: 'ask', reason: 'x'.repeat(600) }),
      hook('guard', { decision: 'block', reason: 'never sesame-canary-1 ghp_abcdefghijklmnop1234' }),
    ],
  })
  const { run_id } = await run()
  const { body, text } = await request('GET', `/v1/runs/${run_id}/events?steps=true`)
  const { tool_call_id } = body.find(({ event }: any) => event.type === 'tool_ended').event
  t.deepEqual(
    body.map(({ event }: any) => event).filter(({ type }: any) => type === 'intercepted'),
    [
      { by: 'greeter', did: ['context'] },
      { by: 'writer', did: ['input'] },
      { by: 'clerk', did: ['ask'], reason: 'x'.repeat(500) },
      { by: 'guard', did: ['block'], reason: 'never [redacted] <redacted>' },
    ].map((part) => ({ type: 'intercepted', moment: 'pre_tool_use', ...part, tool_call_id })),
  )
  t.false(text.includes('sesame-canary-1'))
  const { out } = await createCommandLine({ url })('runs', 'events', run_id)
  t.regex(out, /intercepted {2}writer at pre_tool_use: input\n/u)
  t.regex(out, /intercepted {2}guard at pre_tool_use: block: never \[redacted\] <redacted>\n/u)
  const plain = (await request('GET', `/v1/runs/${run_id}/events`)).body
  t.false(plain.some(({ event }: any) => event.type === 'intercepted'))
})

test('hooks-38: the steps of a run tell which hook failed and why, and that it stopped nothing', async (t) => {
  const { set, run, made, letters, request, url } = await daemonWith(t, async () => {
    throw new Error('it broke at ghp_abcdefghijklmnop1234')
  })
  const judge = { name: 'judge', executor: { type: 'callback', name: 'judge' } }
  const moments = ['user_prompt_submit', 'pre_tool_use', 'post_tool_use', 'stop']
  await set(Object.fromEntries(moments.map((moment) => [moment, [judge]])))
  const { run_id, status } = await run()
  t.deepEqual([status, made], ['completed', [{ text: 'plain' }]])
  const reason = 'its callback failed: it broke at <redacted>'
  t.deepEqual(
    (await letters()).map(({ error }) => error),
    moments.map(() => reason),
  )
  const { body, text } = await request('GET', `/v1/runs/${run_id}/events?steps=true`)
  t.deepEqual(
    body.flatMap(({ event }: any) => (event.type === 'intercepted' ? [{ ...event, tool_call_id: undefined }] : [])),
    moments.map((moment) => ({
      type: 'intercepted',
      moment,
      by: 'judge',
      did: ['failed'],
      reason,
      tool_call_id: undefined,
    })),
  )
  t.false(text.includes('ghp_'))
  const { out } = await createCommandLine({ url })('runs', 'events', run_id)
  t.regex(out, /intercepted {2}judge at pre_tool_use: failed: its callback failed: it broke at <redacted>\n/u)
})

test('hooks-36: a text that a hook adds is kept, shown and told to the model without what looks like a secret', async (t) => {
  const value = 'quiet-canary-value'
  process.env['HOLDFAST_TEST_ADDED'] = value
  t.teardown(() => delete process.env['HOLDFAST_TEST_ADDED'])
  const config = { hooks: { pass_environment: ['HOLDFAST_TEST_ADDED'] } }
  const { set, run, request } = await daemonWith(t, undefined, { config })
  await request('POST', '/v1/runtime/secrets', { slot_id: 'one', state: { value: 'sesame-canary-1' } })
  const says = `{"additional_contexts":["be kind, sesame-canary-1 ghp_abcdefghijklmnop1234 '"$HOLDFAST_TEST_ADDED"'"]}`
  const adds = [{ ...command(`printf %s '${says}'`), name: 'greeter' }]
  await set({ user_prompt_submit: adds, pre_tool_use: adds })
  const { run_id } = await run()
  const said = await Promise.all(
    ['/v1/sessions/s1/events', `/v1/runs/${run_id}`, `/v1/runs/${run_id}/events?steps=true`].map(
      async (path) => (await request('GET', path)).text,
    ),
  )
  t.regex(said[0] ?? '', /be kind, \[redacted\] <redacted> \[redacted\]/u)
  for (const one of ['sesame-canary-1', 'ghp_abc', value]) t.false(said.join('').includes(one), one)
})

test('hooks-36: code that a hook adds or gives as its reason reaches the model whole', async (t) => {
  const { set, run, outcomes } = await daemonWith(t)
  const code = 'def f(token: str, password: str): token = getToken(id)'
  await set({ pre_tool_use: [command(`echo ${shellWord(`${code} ghp_abcdefghijklmnop1234`)} >&2; exit 2`)] })
  await run()
  t.is((await outcomes()).at(-1).output.error.reason, `${code} <redacted>`)
})

test('hooks-36: why a command failed is told with the last lines of its standard error, without secrets', async (t) => {
  const { set, run, outcomes, letters, request, log } = await daemonWith(t)
  await request('POST', '/v1/runtime/secrets', { slot_id: 'one', state: { value: 'sesame-canary-1' } })
  const says = `echo starts >&2; printf 'no sesame-canary-1\\033[2J\\n\\nat ghp_abcdefghijklmnop1234\\n' >&2`
  await set({ pre_tool_use: [{ ...command(`${says}; exit 1`), failure_policy: { mode: 'closed' } }] })
  await run()
  const error = 'it ended with code 1: starts | no [redacted]\\u001b[2J | at <redacted>'
  t.is((await outcomes())[0].output.error.reason, `the hook failed: ${error}`)
  t.like((await letters())[0], { error })
  t.true(log.some((line) => line.fact === 'a hook failed' && line.details['error'] === error))
  await set({ pre_tool_use: [command('echo gone >&2; kill -9 $$')] })
  await run()
  t.like((await letters())[0], { error: 'SIGKILL ended it: gone' })
  for (const shell of ['bash', 'sh']) {
    await set({ pre_tool_use: [command('nosuchprogram', { shell })] })
    await run()
    t.regex((await letters())[0].error, /^it ended with code 127: \w+: (?:line 1: |1: )?(?:eval: )?nosuchprogram: /u)
  }
  await set({ pre_tool_use: [command(`echo '{decision: "block"}'`)] })
  await run()
  t.like((await letters())[0], { error: 'its outcome is no JSON: {decision: "block"}' })
})

test('hooks-36: of its command and its variables nothing is told that may be secret, in no form, and names are', async (t) => {
  const [secret, value] = ['hunter2Zq8vR3wLx7Tb5', 'quiet-canary-value']
  process.env['HOLDFAST_TEST_PLAIN'] = value
  t.teardown(() => delete process.env['HOLDFAST_TEST_PLAIN'])
  const config = { hooks: { pass_environment: ['HOLDFAST_TEST_PLAIN'] } }
  const { set, run, outcomes, letters, log } = await daemonWith(t, undefined, { config })
  const variable = '"$HOLDFAST_TEST_PLAIN"'
  for (const [text, told] of [
    [`mycli-${secret} --go`, /: \[redacted\]: command not found$/u],
    [`jqq --go`, /: jqq: command not found$/u],
    ['/nowhere/sha256sum/python311', /: \/nowhere\/sha256sum\/python311: No such file/u],
    [`/nowhere/${secret}/run`, /: \/nowhere\/\[redacted\]\/run: No such file/u],
    [`f() { echo "$2" >&2; exit 1; }; f -H 'X-Auth: plainwords'`, /: X-Auth: \[redacted\]$/u],
    ['true --token plainwords; echo said plainwords >&2; exit 1', /: said \[redacted\]$/u],
    ['x=$(sh -c "true --token plainwords")|cat; echo said plainwords >&2; exit 1', /: said \[redacted\]$/u],
    ["true --token plainwords; printf 'said plain\\033[0mwords' >&2; exit 1", /: said \[redacted\]$/u],
    ["true --token plainwords; printf 'said plain\\342\\200\\213words' >&2; exit 1", /: said \[redacted\]$/u],
    ["true --token plainwords; printf 'said plain\\000words' >&2; exit 1", /: said \[redacted\]$/u],
    ["true --token plainwords; printf 'said plainx\\010words' >&2; exit 1", /: said \[redacted\]$/u],
    [`echo denied for ${variable} >&2; exit 1`, /: denied for \[redacted\]$/u],
    [`echo $(printf %s ${variable} | base64) >&2; exit 1`, /: \[redacted\]={0,2}$/u],
  ] as const) {
    await set({ pre_tool_use: [command(text)] })
    await run()
    t.regex((await letters())[0].error, told, text)
  }
  await set({ pre_tool_use: [command(`PASSWORD='plainwords'; echo not for ${variable} or $PASSWORD >&2; exit 2`)] })
  await run()
  t.is((await outcomes()).at(-1).output.error.reason, 'not for [redacted] or [redacted]')
  const all = JSON.stringify([log, await letters(), await outcomes()])
  for (const one of [secret, value, 'plainwords']) t.false(all.includes(one), one)
})

test('hooks-17, hooks-36: what a host says back of the address of its hook is told nowhere, and other words are', async (t) => {
  const receiver = await startReceiver(t)
  const { set, run, outcomes, letters, log } = await daemonWith(t)
  const secrets = ['T0psecretpath99', 'Blau-in-pfad-7', 'Zr4Wq9Lm2PXX', 'Apfelstrudel', 'kqZxWvPlmTrB']
  const path = `/hooks/${secrets[0]}/${secrets[1]}/guard/${secrets[4]}?mode=policy&v=${secrets[2]}&token=${secrets[3]}`
  const url = `http://127.0.0.1:${receiver.port}${path}`
  const encoded = (['hex', 'base64'] as const).map((form) => Buffer.from(secrets[0] ?? '').toString(form))
  const says =
    `policy of hooks: ${path}, ${secrets[0]} and /${secrets[1]} by ${secrets[3]} and ${secrets[4]}, ` +
    `${encoded.join(' ')} in docs/hooks/check.md, /hooks and src/guard/x`
  const told =
    'policy of hooks: [redacted], [redacted] and /[redacted] by [redacted] and [redacted], ' +
    '[redacted] [redacted] in docs/hooks/check.md, /hooks and src/guard/x'
  const answers = [says, JSON.stringify({ decision: 'block', reason: says, additional_contexts: [says] })]
  receiver.on(path, (_received, response, count) => response.end(answers[count - 1]))
  await set({ pre_tool_use: [{ name: 'web', executor: { type: 'http', url } }] })
  await run()
  t.is((await letters())[0].error, `its outcome is no JSON: ${told}`)
  await run()
  const all = await outcomes()
  t.is(all.at(-1).output.error.reason, told)
  for (const one of secrets) t.false(JSON.stringify([all, await letters(), log]).includes(one), one)
})

test('hooks-36: ordinary names, numbers and dates in the address of a hook are told, and the whole of it is not', async (t) => {
  const receiver = await startReceiver(t)
  const { set, run, outcomes } = await daemonWith(t)
  const path = '/api/v1/issue-123/python3/2024-01-02/preToolUse'
  const names = `${path.split('/').slice(1).join(' ')} and /python3`
  receiver.on(path, (_received, response) =>
    response.end(JSON.stringify({ decision: 'block', reason: `${names}: ${path}` })),
  )
  const executor = { type: 'http', url: `http://127.0.0.1:${receiver.port}${path}` }
  await set({ pre_tool_use: [{ name: 'web', executor }] })
  await run()
  t.is((await outcomes()).at(-1).output.error.reason, `${names}: [redacted]`)
})

test('hooks-12: a command that begins with a dash is one that is not found, and blocks nothing', async (t) => {
  const { set, run, letters } = await daemonWith(t)
  for (const shell of ['bash', 'sh'] as const)
    for (const text of ['-x', '--version']) {
      await set({ pre_tool_use: [{ name: 'guard', executor: { type: 'command', command: text, shell } }] })
      t.is((await run()).status, 'completed')
      t.regex((await letters())[0].error, new RegExp(`it ended with code 127: .*${text}.*not found`, 'u'))
    }
})

test('hooks-2, hooks-5: who is said to refuse or withhold is the hook that did, and not who was asked before', async (t) => {
  const { set, run, request } = await daemonWith(t)
  const hook = (name: string, outcome: object) => ({ ...command(`echo '${JSON.stringify(outcome)}'`), name })
  const message = async (): Promise<string> => {
    const { run_id } = await run()
    const { body } = await request('GET', `/v1/runs/${run_id}/events?steps=true`)
    return body.find(({ event }: any) => event.type === 'tool_ended').event.message
  }
  await set({
    pre_tool_use: [
      hook('writer', { updated_input: { text: 'changed' } }),
      hook('guard', { permission: 'deny' }),
      hook('friend', { permission: 'allow' }),
    ],
  })
  t.is(await message(), 'The hook guard refused this call, so it was not made.')
  await set({
    post_tool_use: [
      hook('editor', { updated_output: { text: 'x' } }),
      hook('censor', { decision: 'block', reason: 'no' }),
    ],
  })
  t.is(await message(), 'The call was made; the hook censor withholds what came of it.')
})

const nested = (levels: number): Json => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))

test('hooks-14: each member of an outcome counts, by our name and by that of other programs', (t) => {
  const own = (inner: object): Json => unsafeCast<Json>({ hookSpecificOutput: inner })
  for (const [said, ruling] of [
    [
      { continue_execution: false, stop_reason: 'a' },
      { block: 'a', reason: 'a' },
    ],
    [
      { continue: false, stopReason: 'b' },
      { block: 'b', reason: 'b' },
    ],
    [
      { decision: 'block', reason: 'c' },
      { block: 'c', reason: 'c' },
    ],
    [{ decision: 'approve' }, { permission: 'allow' }],
    [{ permission: 'deny' }, { permission: 'deny' }],
    [{ updated_input: { a: 1 } }, { updated_input: { a: 1 } }],
    [{ updated_output: 'd' }, { updated_output: 'd' }],
    [{ additional_contexts: ['e', ' '] }, { contexts: ['e'] }],
    [own({ permissionDecision: 'ask', permissionDecisionReason: 'f' }), { permission: 'ask', reason: 'f' }],
    [own({ updatedInput: { a: 2 } }), { updated_input: { a: 2 } }],
    [own({ additionalContext: 'g' }), { contexts: ['g'] }],
  ] as const)
    t.like(rulingOf('guard', said), { ruling: { by: ['guard'], ...ruling } }, JSON.stringify(said))
  t.is((rulingOf('guard', { continue: true, reason: '' }) as any).ruling?.block, undefined)
})

test('hooks-14: an outcome nested too deep is a failure of its hook, and the run goes on', async (t) => {
  for (const [levels, text] of [
    [63, 'taken'],
    [64, 'refused'],
    [6_000, 'refused'],
  ] as const)
    t.is('fault' in rulingOf('deep', { updated_output: nested(levels) }), text === 'refused')
  const { set, run, made } = await daemonWith(t, async () => ({ updated_input: nested(6_000) }))
  await set({ pre_tool_use: [{ name: 'deep', executor: { type: 'callback', name: 'judge' } }] })
  await run()
  t.is(made.length, 1)
})

test('hooks-15: matchers are names, a star, names in a row or patterns for the whole subject, each of bounded cost', (t) => {
  for (const [matcher, subject] of [
    ['Bash', 'bash'],
    ['Write|Edit', 'edit_file'],
    ['Multi.*', 'edit_file'],
    ['Write|Edit', 'apply_patch'],
    ['startup', 'created'],
    ['resume', 'opened'],
    ['Read', 'read_file'],
    ['Write', 'write_file'],
    ['Edit', 'edit_file'],
    ['Glob', 'glob_search'],
    ['Grep', 'grep_search'],
    ['LS', 'list_files'],
    ['WebFetch', 'web_fetch'],
    ['WebSearch', 'web_search'],
  ] as const)
    t.true(matches(matcher, subject), `${matcher} is ${subject}`)
  t.false(matches('Bash', 'bash_output'))
  t.true(matches(undefined, undefined))
  t.true(matches('*', 'bash'))
  t.true(matches('bash|echo', 'echo'))
  t.false(matches('bash', 'bash2'))
  t.true(matches('mcp__.*', 'mcp__files__read'))
  t.false(matches('mcp__.*', 'x_mcp__files'))
  t.false(matches('bash', undefined))
  for (const wrong of ['(', '(?=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '[', 'a{2000}', '((){999}){999}'])
    t.truthy(matcherFault(wrong), wrong)
  for (const right of ['*', 'bash', 'a|b', 'mcp__.*', '(?:read|write)_file', 'x.*y.*z', '(a+)+', '^[a-z_]+$'])
    t.is(matcherFault(right), undefined)
})

test('hooks-15: a pattern is read as everywhere else', (t) => {
  const patterns = [
    'a*b+c?|(a|b)*c|(?:a|bc){2}|a{2,}',
    'a{0,2}b|a*?b|(a*)*|(a|)+b|((a|b)+c)?a|a||b',
    '[^a]b|\\w+|\\.a|\\bab\\b|a\\B.|^ab$|c|a$b',
    '\\u0061.|\\u{63}|\\x62|(?<n>a)b|.é|😀.',
  ].flatMap((row) => [row, ...row.split('|').filter((part) => /^[^()]+$/u.test(part))])
  const letters = ['', 'a', 'b', 'c', '.', 'é', '😀', ' ']
  const subjects = letters.flatMap((x) => letters.flatMap((y) => letters.map((z) => `${x}${y}${z}`)))
  for (const pattern of patterns) {
    const same = new RegExp(`^(?:${pattern})$`, 'u')
    for (const subject of subjects) t.is(matches(pattern, subject), same.test(subject), `${pattern} on ${subject}`)
  }
})

for (const pattern of ['\\w?'.repeat(40), '(a|a|a|a)*', '(\\w*)*'.repeat(20), '((a?){9}){9}', '(a+)+'])
  test(`hooks-15: the cost of ${pattern.slice(0, 12)} and what it lacks grows with the subject`, (t) => {
    const made = patternOf(`${pattern}!`)
    t.true(typeof made !== 'string' && isLinear((size) => t.false(made('a'.repeat(size))), 1_000))
  })

test('hooks-30: a matcher that fits no tool is told by the name of its hook, as far as that can be told', async (t) => {
  const { set, request } = await daemonWith(t)
  const told = async (): Promise<any[]> =>
    ((await request('GET', '/v1/status')).body.health.warnings ?? [])
      .filter(({ code }: any) => code === 'hook_matcher_fits_nothing')
      .map(({ severity, related_id, action, message }: any) => {
        t.is(message.includes('is never asked'), severity === 'warning', message)
        return [severity, related_id, /^If (\w+) is/u.exec(action)?.[1]]
      })
  const hook = (name: string, matcher?: string) => ({
    ...command('true'),
    name,
    ...(matcher !== undefined && { matcher }),
  })
  await set({
    pre_tool_use: [hook('all'), hook('star', '*'), hook('there', 'Bash|nothing'), hook('typo', 'bsah')],
    post_tool_use: [hook('server', 'mcp__files__.*'), hook('pattern', 'exho.*'), hook('right', 'ech.*')],
    config_change: [hook('other', 'mod')],
  })
  t.deepEqual(await told(), [
    ['warning', 'typo', 'bash'],
    ['info', 'server', undefined],
    ['info', 'pattern', undefined],
  ])
  await set({ pre_tool_use: [hook('typo', 'bash')] })
  t.deepEqual(await told(), [])
})

test('hooks-30: nothing is said of tools that may come while a server is connected for the first time', (t) => {
  let arriving: Promise<void> | undefined = Promise.resolve()
  const hooks = { pre_tool_use: [command('true')].map((one) => ({ ...one, matcher: 'mcp__files__read' })) } as any
  const list: any[] = [{ name: 'bash' }]
  const look = createFitting(
    () => hooks,
    () => ({ list: () => list, arrival: () => arriving }),
  )
  t.deepEqual(look(), [])
  arriving = undefined
  t.is(look().length, 1)
})

test('hooks-16: hooks for what this daemon does not do yet are kept, and the status lists their moments', async (t) => {
  const { set, request } = await daemonWith(t)
  const notFired = async () => (await request('GET', '/v1/status')).body.hooks.moments_not_fired
  t.deepEqual(await notFired(), [])
  const task = { ...command('true'), matcher: 'build' }
  const hooks = { stop: [command('true')], teammate_idle: [task], pre_compact: [], task_created: [task] }
  t.is((await set(hooks)).status, 200)
  t.deepEqual((await request('GET', '/v1/runtime/hooks')).body, { hooks })
  t.deepEqual(await notFired(), ['teammate_idle'])
})

test('hooks-15, hooks-16, hooks-18: what cannot be is refused with a sentence, and nothing changes', async (t) => {
  const { set, request } = await daemonWith(t)
  const executor = { type: 'callback', name: 'judge' }
  for (const [hooks, sentence] of [
    [{ tea_time: [{ name: 'x', executor }] }, /tea_time does not exist in this daemon; docs/u],
    [{ PreToolUs: [{ name: 'x', executor }] }, /did you mean pre_tool_use\?$/u],
    [{ stop: [{ name: 'x', executor: { type: 'prompt' } }] }, /executor\.template/u],
    [{ stop: [{ name: 'x', executor: { type: 'agent', template: 'hm', max_turns: 0 } }] }, /max_turns/u],
    [{ stop: [{ name: 'x', executor: { type: 'callback', name: 'nobody' } }] }, /no plugin/u],
    [{ stop: [{ name: 'x', matcher: '(a)\\1', executor }] }, /no references/u],
    [{ stop: [{ name: 'x', matcher: 'bash', executor }] }, /stop has no subject/u],
    [{ stop: [{ name: 'x', executor: { type: '__proto__' } }] }, /executor\.type must be one of "command", "http"/u],
    [{ stop: [{ name: 'x' }] }, /executor/u],
  ] as const) {
    const { body } = await set(hooks)
    t.like(body, { status: 400, code: 'invalid_hook_settings' })
    t.regex(body.detail, sentence)
  }
  t.is(
    (await set({ stop: [{ name: 'x', executor: { type: 'command', command: 'x', timeout_ms: 600_001 } }] })).status,
    400,
  )
  for (const [forms, sentence] of [
    [{}, /has neither settings nor hooks\.$/u],
    [{ settings: { hooks: {} }, hooks: {} }, /has both settings and hooks\.$/u],
  ] as const) {
    const { body } = await request('POST', '/v1/runtime/hooks', forms)
    t.is(body.code, 'invalid_hook_settings')
    t.regex(body.detail, sentence)
  }
  t.deepEqual((await request('GET', '/v1/runtime/hooks')).body, { hooks: {} })
})

test('hooks-17: readers see the shape of hooks without their secrets; the flat form of a change is taken', async (t) => {
  const { request } = await daemonWith(t)
  const hooks = {
    pre_tool_use: [command('echo sk-canary-1')],
    stop: [{ name: 'web', executor: { type: 'http', url: 'https://example.com/hook?key=sk-canary-2' } }],
    session_end: [{ name: 'ask', executor: { type: 'prompt', template: 'sk-canary-3', system_prompt: 'sk-canary-4' } }],
  }
  const { status, text } = await request('POST', '/v1/runtime/hooks', { hooks })
  t.is(status, 200)
  t.notRegex(text, /sk-canary/u)
  for (const path of ['/v1/runtime', '/v1/status', '/v1/runtime/revisions'])
    t.notRegex((await request('GET', path)).text, /sk-canary/u, path)
  t.deepEqual((await request('GET', '/v1/runtime')).body.hooks.stop[0].executor, {
    type: 'http',
    url: 'https://example.com/[redacted]',
  })
  t.regex((await request('GET', '/v1/runtime/hooks')).text, /sk-canary-1.*sk-canary-2.*sk-canary-3/u)
  const guarded = await startTestDaemon(t, {
    flags: { 'http-admin-token': 'admin-token-1', 'http-readonly-token': 'read-token-1' },
    headers: { authorization: 'Bearer read-token-1' },
  })
  t.deepEqual(
    await Promise.all(
      ['/v1/runtime', '/v1/runtime/hooks'].map(async (at) => (await guarded.request('GET', at)).status),
    ),
    [200, 403],
  )
})

const standsIn = (folder: string, text: string): boolean => spawnSync('grep', ['-rqaF', text, folder]).status === 0

test('hooks-17, secrets-11: what is secret in hooks stands in the root and in backups as ciphertext alone, through a new key', async (t) => {
  const [root, backup] = [await freshRoot(), join(await freshRoot(), 'backup')]
  const first = await startTestDaemon(t, { root })
  const hooks = {
    setup: [command('echo canary-command', { timeout_ms: 5_000 })],
    stop: [{ name: 'web', executor: { type: 'http', url: 'https://example.com/canary-url' } }],
  }
  t.is((await first.request('POST', '/v1/runtime/hooks', { hooks })).status, 200)
  await first.request('POST', '/v1/runtime/model', { name: 'other' })
  const line = createCommandLine(first)
  t.is((await line('secrets', 'rekey')).code, 0)
  t.is((await line('backup', 'create', backup, '--state-root', root)).code, 0)
  await first.stop()
  for (const folder of [root, backup]) t.false(standsIn(folder, 'canary'), folder)
  const second = await startTestDaemon(t, { root })
  t.regex((await second.request('GET', '/v1/runtime/hooks')).text, /canary-command.*canary-url/u)
  await second.request('POST', '/v1/sessions', { session_id: 's0' })
  const asks = { header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }
  const { run_id } = await submit(
    second,
    's0',
    `/tool ask_user_question ${JSON.stringify({ questions: [asks] })}\n---\n/tool bash {"command":"touch made"}`,
  )
  await until(second, run_id, 'waiting_for_user_question')
  await second.stop()
  await rm(join(root, 'secrets/slots.key'))
  const third = await startTestDaemon(t, { root, flags: { 'permission-mode': 'bypassPermissions' } })
  const { warnings } = (await third.request('GET', '/v1/status')).body.health
  t.like(
    warnings.find(({ code }: any) => code === 'setting_locked'),
    { severity: 'error', related_id: 'hooks' },
  )
  await third.request('POST', '/v1/sessions', { session_id: 's1' })
  const refused = await third.request('POST', '/v1/sessions/s1/runs', { content: 'hello' })
  t.is(refused.body.code, 'hook_blocked', 'nothing runs without hooks that nobody can read')
  t.notRegex(refused.body.detail, /The hook/u, 'none of them has refused it')
  t.regex(refused.body.action, /setting_locked in GET \/v1\/status/u)
  const [request_id] = (await third.request('GET', `/v1/runs/${run_id}`)).body.pending_question_ids
  await third.request('POST', `/v1/runs/${run_id}/questions`, { resolution: { request_id, declined: true } })
  await until(third, run_id, 'completed', 'failed')
  const { journal } = (await third.request('GET', '/v1/sessions/s0/events')).body.session
  const { error } = journal.filter(({ type }: any) => type === 'outcome').at(-1).entry.output
  t.is(error.code, 'call_denied_by_hook')
  t.notRegex(JSON.stringify(error), /The hook/u)
  t.false(existsSync(join(root, 'made')))
  t.true((await readdir(join(root, 'secrets'))).length === 0, 'no key is made beside them')
})

test('hooks-17: the arguments of processes do not show the command of a hook', async (t) => {
  const { set, run, workspace } = await daemonWith(t)
  const text = `: canary-1; tr '\\0' ' ' < /proc/$$/cmdline > seen; tr '\\0' ' ' < /proc/$PPID/cmdline >> seen; env >> seen`
  await set({ pre_tool_use: [command(text)] })
  await run()
  const seen = await readFile(join(workspace, 'seen'), 'utf8')
  t.regex(seen, /eval/u)
  t.notRegex(seen, /canary-1/u)
})

for (const [what, text] of Object.entries({
  hangs: 'sleep 300',
  'ignores SIGTERM': `trap '' TERM; while :; do sleep 1; done`,
  'forks away': 'setsid sleep 300 & sleep 300',
  'is a tree of forks': 'f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 300; }; f 4; wait',
  'floods its output': 'yes a line that goes on for ever',
}))
  test(`hooks-18: a hook that ${what} is cut at its time, holds no run and leaves no process`, async (t) => {
    const { set, run, made, letters, root } = await daemonWith(t)
    await set({ pre_tool_use: [command(text, { timeout_ms: 400 })] })
    t.is((await run()).status, 'completed')
    t.is(made.length, 1)
    t.like((await letters())[0], { error: 'it took longer than 400 ms' })
    await eventually(async () => (await left(root)).length === 0 || undefined)
  })

test('hooks-18: without timeout_ms all attempts of a hook together have 60 s', async (t) => {
  const clock = createLeapingClock()
  let fail = (): void => {}
  const judge = () =>
    new Promise<undefined>((_, reject) => {
      fail = () => reject(new Error('no'))
    })
  const { set, run, letters, asked, made, request } = await daemonWith(t, judge, { clock })
  const executor = { type: 'callback', name: 'judge' }
  await set({ pre_tool_use: [{ name: 'court', executor, failure_policy: { mode: 'open', max_retries: 1 } }] })
  const done = run()
  const until_ = async (count: number): Promise<void> => {
    while (asked.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await until_(1)
  clock.leap(40_000)
  fail()
  await until_(2)
  t.deepEqual([made.length, await letters()], [0, []])
  clock.leap(20_000)
  const { run_id } = await done
  t.is(made.length, 1)
  const rows: any[] = (await request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.like(
    rows.find(({ kind }) => kind === 'hook'),
    { outcome: 'failed', code: 'hook_timed_out' },
  )
  t.like((await letters())[0], { attempt_count: 2, error: 'it took longer than 60000 ms' })
})

test('hooks-18: a hook that a cancellation ends is told apart from one that failed', async (t) => {
  const { set, request, workspace, letters } = await daemonWith(t)
  await set({ pre_tool_use: [command('touch begun; sleep 300')] })
  const { run_id } = await submit({ request }, 's1', '/tool echo {"text":"plain"}')
  await eventually(async () => existsSync(join(workspace, 'begun')) || undefined)
  await request('POST', `/v1/runs/${run_id}/cancel`, {})
  await until({ request }, run_id, 'cancelled')
  const row = await eventually(async () =>
    (await request('GET', `/v1/runs/${run_id}/external-actions`)).body.find(
      ({ kind, outcome }: any) => kind === 'hook' && outcome !== 'intended',
    ),
  )
  t.like(row, { outcome: 'unknown', code: 'hook_cut_off' })
  t.deepEqual(await letters(), [])
})

test('hooks-15: a matcher at the beginning of a session looks at how it began', async (t) => {
  const { set, request, workspace } = await daemonWith(t)
  await set({
    session_start: [
      { ...command('touch created'), matcher: 'created' },
      { ...command('touch opened'), matcher: 'opened' },
    ],
  })
  await request('POST', '/v1/sessions', { session_id: 's2' })
  await eventually(async () => existsSync(join(workspace, 'created')) || undefined)
  t.false(existsSync(join(workspace, 'opened')))
})

test('hooks-18: what a hook leaves behind after its end is ended too', async (t) => {
  const { set, run, made, root } = await daemonWith(t)
  await set({ pre_tool_use: [command('(setsid sleep 300 &) ; exit 0')] })
  await run()
  t.is(made.length, 1)
  await eventually(async () => (await left(root)).length === 0 || undefined)
})

test('hooks-19: after a kill while a hook is asked, the run goes on, the hook is asked again, and its first call is unknown', async (t) => {
  const [root, workspace] = [await freshRoot(), await makeFolder(t)]
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const flags = ['--workspace-root', workspace, '--permission-mode', 'bypassPermissions']
  const first = await spawnDaemon({ root, flags })
  t.teardown(() => first.kill('SIGKILL'))
  await openSession(first)
  const hang = 'echo x >> asked; [ -e go ] || { touch asking; sleep 300; }'
  await first.request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [command(hang)] } })
  const { run_id } = await submit(first, 's1', '/tool write_file {"path":"a.txt","content":"made"}')
  await eventually(async () => existsSync(join(workspace, 'asking')) || undefined)
  const hanging = new Set(await left(root))
  t.true(hanging.size > 0)
  await writeFile(join(workspace, 'go'), '')
  await first.kill('SIGKILL')
  const second = await spawnDaemon({ root, flags })
  t.deepEqual(
    (await left(root)).filter((pid) => hanging.has(pid)),
    [],
  )
  t.is((await until(second, run_id, 'completed', 'failed')).status, 'completed')
  t.is(await readFile(join(workspace, 'a.txt'), 'utf8'), 'made')
  t.is(await readFile(join(workspace, 'asked'), 'utf8'), 'x\nx\n')
  const rows: any[] = (await second.request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.deepEqual(
    rows.filter(({ kind }) => kind === 'hook').map(({ outcome }) => outcome),
    ['unknown', 'done'],
  )
  await second.stop()
})

test('hooks-12: the dead letters of a hook are resolved together on the command line, and no others', async (t) => {
  const { set, run, letters, url, request } = await daemonWith(t)
  const two = [
    { ...command('exit 3'), name: 'the loud one' },
    { ...command('exit 4'), name: 'other' },
  ]
  await set({ pre_tool_use: two })
  await run()
  await run()
  const line = createCommandLine({ url })
  const one = (await letters()).find(({ hook_name }: any) => hook_name === 'the loud one')
  const { health } = (await request('GET', '/v1/status')).body
  const { action } = health.warnings.find(({ code }: any) => code === 'hook_dead_letters')
  t.regex(action, /resolve-dead-letter --hook=(?:'the loud one'|other)$/u)
  const resolve = (...words: string[]) => line('runtime', 'hooks', 'resolve-dead-letter', ...words)
  t.regex((await resolve()).err, /needs <dead_letter_id> or --hook/u)
  t.regex((await resolve(one.id, '--hook', 'other')).err, /--hook does not go with <dead_letter_id>/u)
  t.true((await letters()).every(({ resolved_at_ms }: any) => resolved_at_ms === undefined))
  t.is((await resolve('--hook=the loud one', '--reason', 'seen')).out, '2 dead letters of the loud one resolved.\n')
  t.deepEqual(
    (await letters()).map(({ hook_name, resolution_reason }: any) => [hook_name, resolution_reason]).toSorted(),
    [
      ['other', undefined],
      ['other', undefined],
      ['the loud one', 'seen'],
      ['the loud one', 'seen'],
    ],
  )
  t.regex((await resolve('--hook', 'nobody')).out, /^Nothing to resolve: /u)
})

test('hooks-11: hooks are set, shown and reset on the command line, and dead letters are resolved there', async (t) => {
  const { set, run, letters, url, workspace, request } = await daemonWith(t)
  const file = join(workspace, 'hooks.json')
  await writeFile(file, JSON.stringify({ hooks: { pre_tool_use: [command('exit 3')] } }))
  const line = createCommandLine({ url })
  t.is((await line('runtime', 'hooks', 'set', '--file', file)).code, 0)
  await run()
  t.regex((await line('runtime', 'hooks', 'get')).out, /exit 3/u)
  const [letter] = await letters()
  t.regex((await line('runtime', 'hooks', 'dead-letter')).out, new RegExp(letter.id, 'u'))
  t.is((await line('runtime', 'hooks', 'resolve-dead-letter', letter.id, '--reason', 'seen')).code, 0)
  t.is((await letters())[0].resolution_reason, 'seen')
  t.is((await line('runtime', 'hooks', 'set', '--reset', '--skip-hooks')).code, 0)
  t.deepEqual((await request('GET', '/v1/runtime/hooks')).body, { hooks: {} })
  t.is((await set({})).status, 200)
})
