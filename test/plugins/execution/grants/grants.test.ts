/** Remembered approvals as clients see them; docs/rules/approvals.md. */
import test from 'ava'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { watcher } from '../../../support/interceptors.js'
import { makeFolder } from '../../../support/tools.js'
import { eventsOf, spawnAsking } from '../../../support/answers.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: any) => {
  const workspace = await makeFolder(t)
  const daemon = await startTestDaemon(t, { flags: { 'workspace-root': workspace } })
  await openSession(daemon)
  await openSession(daemon, 's2')
  const read = (name: string): Promise<string> => readFile(path.join(workspace, name), 'utf8').catch(() => '')
  return { daemon, read }
}

const call = (input: object, tool = 'bash'): string => `/tool ${tool} ${JSON.stringify(input)}`
const bash = (command: string): string => call({ command })

/** A run of these calls, once it rests. */
const rested = async (daemon: TestDaemon, content: string, session_id = 's1'): Promise<any> =>
  until(daemon, (await submit(daemon, session_id, content)).run_id, 'waiting_for_approval', 'completed')

const always = async (daemon: TestDaemon, run: any, grant: object = {}): Promise<any> => {
  const [request_id] = run.pending_approval_ids
  const answer = await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [{ request_id, behavior: 'allow', grant }],
  })
  if (answer.status === 202) await until(daemon, run.run_id, 'completed')
  return answer
}

const steps = async (daemon: TestDaemon, run: any, type: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/runs/${run.run_id}/events?steps=true`)).body
    .map(({ event }: any) => event)
    .filter((event: any) => event.type === type)

test('approvals-20: an answer that is remembered lets the same call pass from then on, in its session alone', async (t) => {
  const { daemon, read } = await start(t)
  const asked = await rested(daemon, bash('echo a >> made'))
  t.deepEqual(asked.pending_approvals[0].grant_rule, { kind: 'command', value: 'echo a >> made' })
  t.is((await always(daemon, asked)).status, 202)
  const [grant] = (await daemon.request('GET', '/v1/grants')).body
  t.like(grant, {
    scope: 'session',
    session_id: 's1',
    tool_name: 'bash',
    rule: { kind: 'command', value: 'echo a >> made' },
    run_id: asked.run_id,
    request_id: asked.pending_approval_ids[0],
    expires_at_ms: grant.created_at_ms + 86_400_000,
  })
  const [resolved] = await eventsOf(daemon, asked.run_id, 'approval_resolved')
  t.is(resolved.resolutions[0].grant_id, grant.grant_id)
  const passed = await rested(daemon, bash('echo a >> made'))
  t.is(passed.status, 'completed')
  t.is(await read('made'), 'a\na\n')
  t.deepEqual(
    (await steps(daemon, passed, 'tool_granted')).map(({ grant_id, message }) => [grant_id, message]),
    [[grant.grant_id, `Allowed by grant ${grant.grant_id}: bash for the command echo a >> made.`]],
    'approvals-25',
  )
  for (const [session_id, other] of [
    ['s1', call({ command: 'echo a >> made', workdir: '.' })],
    ['s2', bash('echo a >> made')],
  ] as const)
    t.is((await rested(daemon, other, session_id)).status, 'waiting_for_approval', other)
  t.is(await read('made'), 'a\na\n')
})

test('approvals-21: a prefix covers what begins with it, a path its file, and everything else its whole input', async (t) => {
  const { daemon, read } = await start(t)
  const piped = await rested(daemon, bash('echo a | cat'))
  t.deepEqual(codeOf(await always(daemon, piped, { command_prefix: 'echo' })), [400, 'grant_invalid'])
  t.is((await always(daemon, piped)).status, 202)
  const echo = await rested(daemon, bash('echo a'))
  for (const command_prefix of ['sudo echo', 'ech', 'echo b'])
    t.deepEqual(codeOf(await always(daemon, echo, { command_prefix })), [400, 'grant_invalid'], command_prefix)
  t.is((await always(daemon, echo, { command_prefix: 'echo' })).status, 202)
  t.is((await rested(daemon, bash('echo b c'))).status, 'completed')
  const write = (file: string, content: string): string => call({ path: file, content }, 'write_file')
  t.is((await always(daemon, await rested(daemon, write('notes.md', 'one')))).status, 202)
  t.is((await rested(daemon, write('notes.md', 'two'))).status, 'completed')
  t.is(await read('notes.md'), 'two')
  t.is((await rested(daemon, write('./notes.md', 'three'))).status, 'waiting_for_approval')
  t.is(await read('notes.md'), 'two')
})

test('approvals-22: what a rule denies, and what planning and dontAsk stop, no grant lets pass', async (t) => {
  const { daemon, read } = await start(t)
  const made = await daemon.request('POST', '/v1/grants', { tool_name: 'bash', input: { command: 'touch made' } })
  t.is(made.status, 201)
  const check = async (mode_override: string): Promise<any> =>
    (
      await daemon.request('POST', '/v1/runtime/permissions/check', {
        tool_name: 'bash',
        session_id: 's1',
        mode_override,
        input: { command: 'touch made' },
      })
    ).body
  t.like(await check('default'), { decision: 'allow', base_decision: 'ask', grant_id: made.body.grant_id })
  for (const mode of ['plan', 'dontAsk']) {
    t.is((await check(mode)).decision, 'deny', mode)
    t.false('grant_id' in (await check(mode)))
  }
  await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'dontAsk' })
  await rested(daemon, bash('touch made'))
  t.is(await read('made'), '')
  const plan = await daemon.request('POST', '/v1/grants', { tool_name: 'exit_plan_mode', input: { plan: 'p' } })
  t.is(plan.status, 201)
  const exit = { tool_name: 'exit_plan_mode', mode_override: 'plan', input: { plan: 'p' } }
  const leaving = (await daemon.request('POST', '/v1/runtime/permissions/check', exit)).body
  t.is(leaving.decision, 'ask')
  t.false('grant_rule' in leaving)
})

test('approvals-22: a rule that denies holds against a grant', async (t) => {
  const workspace = await makeFolder(t)
  const denied = { scope: 'user', tool_name_pattern: 'bash', behavior: 'deny' }
  const daemon = await startTestDaemon(t, {
    flags: { 'workspace-root': workspace },
    config: { tools: { permission_rules: [denied] } },
  })
  await openSession(daemon)
  t.is((await daemon.request('POST', '/v1/grants', { tool_name: 'bash', input: { command: 'true' } })).status, 201)
  const run = await rested(daemon, bash('true'))
  t.like((await steps(daemon, run, 'tool_ended'))[0], { outcome: 'refused', code: 'call_denied_by_rule' })
})

test('approvals-22: a hook that asks asks all the same, and what it asks cannot be remembered', async (t) => {
  const hook = watcher()
  const daemon = await startTestDaemon(t, { plugins: [hook.plugin] })
  await openSession(daemon)
  t.is((await daemon.request('POST', '/v1/grants', { tool_name: 'bash', input: { command: 'true' } })).status, 201)
  t.is((await rested(daemon, bash('true'))).status, 'completed')
  hook.rules.pre_tool_use = () => ({ permission: 'ask' })
  const asked = await rested(daemon, bash('true'))
  t.is(asked.status, 'waiting_for_approval')
  t.false('grant_rule' in asked.pending_approvals[0])
})

test('approvals-21: a host is its scheme, name and port, and a URL that holds a user is its whole input', async (t) => {
  const { daemon } = await start(t)
  const ruleOf = async (url: string) =>
    (await daemon.request('POST', '/v1/grants', { tool_name: 'web_fetch', input: { url } })).body.rule
  t.deepEqual(await ruleOf('https://EXAMPLE.com:8443/a?b#c'), { kind: 'host', value: 'https://example.com:8443' })
  t.deepEqual(await ruleOf('https://example.com.evil.test/'), { kind: 'host', value: 'https://example.com.evil.test' })
  t.is((await ruleOf('https://u:p@example.com/')).kind, 'input')
  t.is((await ruleOf('file:///etc/passwd')).kind, 'input')
})

test('approvals-23: what cannot be remembered says no grant_rule, and is refused with nothing recorded', async (t) => {
  const { daemon, read } = await start(t)
  const long = await rested(daemon, bash(`touch made # ${'a'.repeat(1_000)}`))
  t.false('grant_rule' in long.pending_approvals[0])
  const [request_id] = long.pending_approval_ids
  const decide = (resolution: object) =>
    daemon.request('POST', `/v1/runs/${long.run_id}/approvals`, { resolutions: [{ request_id, ...resolution }] })
  for (const resolution of [
    { behavior: 'allow', grant: {} },
    { behavior: 'deny', grant: {} },
    { behavior: 'allow', grant: {}, updated_input: { command: 'true' } },
  ])
    t.deepEqual(codeOf(await decide(resolution)), [400, 'grant_invalid'])
  t.deepEqual((await daemon.request('GET', '/v1/grants')).body, [])
  t.is((await daemon.request('GET', `/v1/runs/${long.run_id}`)).body.status, 'waiting_for_approval')
  t.is(await read('made'), '')
  for (const sign of ['\u200b', '\u00a0', '\u2800', '\u3000']) {
    const hidden = { tool_name: 'bash', input: { command: `a${sign}b` } }
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/grants', hidden)), [400, 'grant_invalid'])
  }
})

test('approvals-24: a grant is listed until it is revoked, has expired, or its session has ended', async (t) => {
  const { daemon } = await start(t)
  const add = async (body: object) =>
    (await daemon.request('POST', '/v1/grants', { tool_name: 'bash', input: { command: 'true' }, ...body })).body
  const mine = await add({ session_id: 's1' })
  const others = await add({ session_id: 's2' })
  const all = await add({ expires_in_ms: 10_000 })
  t.is(all.scope, 'user')
  const list = async (query = ''): Promise<string[]> =>
    (await daemon.request('GET', `/v1/grants${query}`)).body.map(({ grant_id }: any) => grant_id)
  t.deepEqual(await list(), [mine, others, all].map(({ grant_id }) => grant_id).toSorted())
  t.deepEqual(await list('?session_id=s1'), [mine, all].map(({ grant_id }) => grant_id).toSorted())
  const again = await add({ session_id: 's1' })
  t.false((await list()).includes(mine.grant_id), 'one that says the same takes its place')
  t.is((await daemon.request('DELETE', `/v1/grants/${again.grant_id}`)).status, 200)
  t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/grants/${again.grant_id}`)), [404, 'grant_not_found'])
  await daemon.request('POST', '/v1/sessions/s2/end')
  const late = { session_id: 's2', tool_name: 'bash', input: { command: 'true' } }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/grants', late)), [409, 'session_ended'])
  await daemon.request('POST', '/v1/sessions', { session_id: 's2' })
  t.deepEqual(await list(), [all.grant_id])
  while ((await list()).length > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  t.is((await rested(daemon, bash('true'))).status, 'waiting_for_approval')
  const unknown = await daemon.request('POST', '/v1/grants', { tool_name: 'nosuch', input: {} })
  t.deepEqual([codeOf(unknown), unknown.body.errors[0].path], [[400, 'grant_invalid'], 'body.tool_name'])
})

test('approvals-20, approvals-25: a grant survives a kill, and the ledger says that it let a call pass', async (t) => {
  const daemon = await spawnAsking(t)
  const run = await daemon.asks('s1', 'a')
  const line = ['approvals', 'allow', run.run_id, run.pending_approval_ids[0], '--always', '--hours', '1']
  t.is((await createCommandLine(daemon)(...line)).code, 0)
  await until(daemon, run.run_id, 'completed')
  const next = await daemon.again()
  const again = await next.request('POST', '/v1/sessions/s1/runs', {
    content: `/tool bash {"command":"echo a >> s1.txt"}`,
  })
  await until(next, again.body.run_id, 'completed')
  t.deepEqual(next.effects('s1'), ['a', 'a'])
  const [grant] = (await next.request('GET', '/v1/grants')).body
  t.is(grant.expires_at_ms - grant.created_at_ms, 3_600_000)
  const grounds = [run, again.body].map(async ({ run_id }) => {
    const { body } = await next.request('GET', `/v1/runs/${run_id}/external-actions`)
    return (body.external_actions ?? body.actions ?? body)[0].approved_by
  })
  t.deepEqual(await Promise.all(grounds), [
    { type: 'approval', id: run.pending_approval_ids[0] },
    { type: 'grant', id: grant.grant_id },
  ])
  const holdfast = createCommandLine(next)
  const shown = await holdfast('grants')
  t.true(shown.out.includes(`${grant.grant_id}  bash for the command echo a >> s1.txt\n  in session s1, until `))
  const revoked = await holdfast('grants', 'revoke', grant.grant_id)
  t.regex(revoked.out, /^Revoked grant_/u)
})
