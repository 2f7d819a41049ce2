import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { digest, type Json } from '../../../../core/plugin.js'
import { foldEntry } from '../../../../plugins/execution/engine/thread/fold.js'
import { beginThread } from '../../../../plugins/execution/engine/thread/thread.js'
import type { JournalEntry } from '../../../../plugins/execution/sessions/contract.js'
import { askInTurn, type Ruling } from '../../../../plugins/execution/interception/contract.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { echoing, watcher } from '../../../support/interceptors.js'
import { openSession, submit, until } from '../../../support/runs.js'

const daemonWith = async (t: ExecutionContext, permission: 'allow' | 'ask' = 'allow', root?: string) => {
  const [watch, tool] = [watcher(), echoing(permission)]
  const daemon = await startTestDaemon(t, { plugins: [watch.plugin, tool.plugin], ...(root !== undefined && { root }) })
  await openSession(daemon)
  const journal = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
  const outcomes = async (): Promise<any[]> =>
    (await journal()).filter(({ type }) => type === 'outcome').map(({ entry }) => entry)
  const notes = async (): Promise<any[]> =>
    (await journal()).filter(({ type }) => type === 'intercepted').map(({ entry }) => entry)
  const run = async (content: string, ...statuses: string[]) => {
    const { run_id } = await submit(daemon, 's1', content)
    return until(daemon, run_id, ...(statuses.length > 0 ? statuses : ['completed', 'failed']))
  }
  return { ...daemon, ...watch, calls: tool.calls, journal, outcomes, notes, run }
}
const call = '/tool echo {"text":"plain"}'

test('hooks-1: interceptors are asked in order, each about what the ones before made of it, until one blocks', async (t) => {
  const asked: Json[] = []
  const rulings: Record<string, Partial<Ruling>> = {
    a: { updated_input: { n: 1 }, permission: 'ask', reason: 'a asks', contexts: ['from a'] },
    b: { permission: 'allow', reason: 'b allows', contexts: ['from b'] },
    c: { block: 'no' },
    d: {},
  }
  const ruling = await askInTurn(
    { event: 'pre_tool_use', payload: { tool_input: { n: 0 } } },
    ['a', 'b', 'c', 'd'],
    async (name, { payload }) => {
      asked.push([name, payload['tool_input'] ?? null])
      return { by: [name], ...rulings[name] }
    },
  )
  t.deepEqual(asked, [
    ['a', { n: 0 }],
    ['b', { n: 1 }],
    ['c', { n: 1 }],
  ])
  t.like(ruling, { permission: 'ask', reason: 'a asks', updated_input: { n: 1 }, block: 'no' })
  t.deepEqual(
    [ruling.by, ruling.contexts],
    [
      ['a', 'b', 'c'],
      ['from a', 'from b'],
    ],
  )
})

test('hooks-35: what is no ruling is logged by its field and counts as no objection', async (t) => {
  const { rules, calls, run, log } = await daemonWith(t)
  const broken: readonly [any, string][] = [
    [{ block: 5 }, 'block must be a string'],
    [{ by: undefined, block: 'no' }, 'by is required'],
    [{ contexts: 'more' }, 'contexts must be an array'],
    [{ permission: 'perhaps' }, 'permission must be one of "allow", "deny", "ask"'],
  ]
  for (const [ruling, fault] of broken) {
    rules.pre_tool_use = () => ruling
    t.is((await run(call)).status, 'completed', fault)
    const { fact, details } = log.findLast(({ level }) => level === 'error') ?? t.fail()
    t.is(fact, 'an interceptor failed')
    t.is(String(details['error']), `Error: what it returned is no ruling: ${fault}`)
  }
  t.is(calls.length, broken.length)
})

test('hooks-2: a call that is blocked is not made, and the model reads why', async (t) => {
  const { rules, calls, run, outcomes, seen } = await daemonWith(t)
  rules.pre_tool_use = () => ({ block: 'not on Mondays' })
  t.is((await run(call)).status, 'completed')
  t.deepEqual(calls, [])
  t.like((await outcomes())[0], {
    state: 'refused',
    output: { error: { code: 'call_denied_by_hook', reason: 'not on Mondays' } },
  })
  t.like(seen[0], { event: 'pre_tool_use', subject: 'echo', session_id: 's1', payload: { tool_name: 'echo' } })
})

test('hooks-2: an input that is changed is what the tool gets, and one that does not fit is refused', async (t) => {
  const { rules, calls, run, outcomes, notes } = await daemonWith(t)
  rules.pre_tool_use = () => ({ updated_input: { text: 'changed' } })
  await run(call)
  t.deepEqual(calls, [{ text: 'changed' }])
  t.like((await notes())[0], { event: 'pre_tool_use', by: ['watcher'], input: { text: 'changed' } })
  rules.pre_tool_use = () => ({ updated_input: { wrong: 1 } })
  await run(call)
  t.is(calls.length, 1)
  t.is((await outcomes()).at(-1).output.error.code, 'call_input_invalid')
})

test('hooks-3, hooks-6: a changed input is what people approve and what is called, also after a restart that asks nobody again', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await daemonWith(t, 'ask', root)
  first.rules.pre_tool_use = () => ({ updated_input: { text: 'changed' } })
  const { run_id } = await first.run(call, 'waiting_for_approval')
  t.is(first.seen.length, 1)
  await first.stop()
  const second = await daemonWith(t, 'ask', root)
  second.rules.pre_tool_use = () => ({ block: 'asked again' })
  const [{ request_ids, requests }] = (await second.journal()).flatMap(({ entry }) =>
    entry.event?.type === 'waiting_for_approval' ? [entry.event] : [],
  )
  t.deepEqual(requests[0].input, { text: 'changed' })
  t.is(requests[0].input_digest, digest({ text: 'changed' }))
  const answer = await second.request('POST', `/v1/runs/${run_id}/approvals`, {
    resolutions: [{ request_id: request_ids[0], behavior: 'allow' }],
  })
  t.is(answer.status, 202, answer.text)
  await until(second, run_id, 'completed', 'failed')
  t.deepEqual(second.calls, [{ text: 'changed' }])
  t.deepEqual(second.seen, [])
})

test('hooks-3: an input that changes after its approval no longer has the digest that was approved', (t) => {
  const thread = beginThread(0, () => undefined)
  const note = { run_id: 'r1', at: 1 }
  const request: any = { id: 'a1', tool_call_id: 'c1', input: { n: 1 } }
  const resolution: any = { request_id: 'a1', behavior: 'allow', input_digest: digest({ n: 1 }) }
  const entries: JournalEntry[] = [
    { ...note, type: 'event', event: { type: 'accepted', content: 'go' } },
    { ...note, type: 'event', event: { type: 'started' } },
    {
      ...note,
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'echo', input: { n: 0 } }] },
    },
    { ...note, type: 'intercepted', event: 'pre_tool_use', by: ['h'], tool_call_id: 'c1', input: { n: 1 } },
    { ...note, type: 'event', event: { type: 'waiting_for_approval', request_ids: ['a1'], requests: [request] } },
    { ...note, type: 'event', event: { type: 'approval_resolved', resolutions: [resolution] } },
  ]
  entries.forEach((entry, at) => foldEntry(thread, at + 1, entry))
  const stateOf = () => thread.progress?.calls[0]?.state
  t.like(stateOf(), { type: 'ready', input: { n: 1 }, digest: digest({ n: 1 }) })
  const late: JournalEntry = {
    ...note,
    type: 'intercepted',
    event: 'x',
    by: ['h'],
    tool_call_id: 'c1',
    input: { n: 2 },
  }
  foldEntry(thread, 7, late)
  t.like(stateOf(), { type: 'ready', input: { n: 2 }, digest: digest({ n: 1 }) })
})

test('hooks-4: the ground of a call that was let pass is who let it pass, and not who changed it', (t) => {
  const thread = beginThread(0, () => undefined)
  const note = { run_id: 'r1', at: 1 }
  const content = [{ type: 'tool_call' as const, id: 'c1', name: 'echo', input: { n: 0 } }]
  const ruled = { ...note, type: 'intercepted' as const, event: 'pre_tool_use', tool_call_id: 'c1', input: { n: 1 } }
  const [input, allow] = [['input' as const], ['allow' as const]]
  const entries: JournalEntry[] = [
    { ...note, type: 'event', event: { type: 'accepted', content: 'go' } },
    { ...note, type: 'event', event: { type: 'started' } },
    { ...note, type: 'message', message: { role: 'assistant', content } },
    {
      ...ruled,
      by: ['writer', 'friend'],
      permission: 'allow',
      parts: [
        { by: 'writer', did: input },
        { by: 'friend', did: allow },
      ],
    },
  ]
  entries.forEach((entry, at) => foldEntry(thread, at + 1, entry))
  t.deepEqual(thread.progress?.calls[0]?.grounds, { type: 'configuration', id: 'hook:friend' })
})

test('hooks-4: permissions of interceptors: deny and ask are stricter than the rules, allow passes what would ask', async (t) => {
  const allowed = await daemonWith(t, 'allow')
  allowed.rules.pre_tool_use = () => ({ permission: 'ask', reason: 'look first' })
  t.is((await allowed.run(call, 'waiting_for_approval')).status, 'waiting_for_approval')
  const asking = await daemonWith(t, 'ask')
  asking.rules.permission_request = () => ({ permission: 'allow' })
  t.is((await asking.run(call)).status, 'completed')
  t.is(asking.calls.length, 1)
  asking.rules.permission_request = () => ({ permission: 'deny', reason: 'never' })
  asking.rules.permission_denied = () => ({ contexts: ['ask somebody else'] })
  await asking.run(call)
  t.is(asking.calls.length, 1)
  t.like((await asking.outcomes()).at(-1), { state: 'refused', output: { error: { reason: 'never' } } })
  t.deepEqual(
    asking.seen.map(({ event }) => event),
    ['permission_request', 'permission_request', 'permission_denied'],
  )
  t.deepEqual((await asking.notes()).at(-1).contexts, ['ask somebody else'])
})

test('hooks-4: whoever adds something to a request for permission, or allows it, does not lift what another asks for', async (t) => {
  const { rules, run, request, calls } = await daemonWith(t, 'allow')
  rules.pre_tool_use = () => ({ permission: 'ask', reason: 'look first' })
  for (const ruling of [{ contexts: ['ticket 12'] }, { reason: 'fyi' }, { permission: 'allow' }] as const) {
    rules.permission_request = () => ruling
    const { run_id, status } = await run(call, 'waiting_for_approval', 'completed', 'failed')
    t.is(status, 'waiting_for_approval')
    await request('POST', `/v1/runs/${run_id}/cancel`)
  }
  t.deepEqual(calls, [])
})

test('hooks-3, hooks-4: the input that whoever is asked for permission gives is what is judged, and what is called', async (t) => {
  const daemon = await daemonWith(t, 'ask')
  const { rules, run, calls, notes, request } = daemon
  rules.permission_request = () => ({ permission: 'allow', updated_input: { text: 'safe' } })
  t.is((await run(call)).status, 'completed')
  t.deepEqual(calls, [{ text: 'safe' }])
  t.like((await notes())[0], { event: 'permission_request', permission: 'allow', input: { text: 'safe' } })
  rules.permission_request = () => ({ updated_input: { text: 'asked' } })
  const { run_id, pending_approvals } = await run(call, 'waiting_for_approval')
  t.deepEqual(pending_approvals[0].input, { text: 'asked' }, 'a person is asked about it too')
  await request('POST', `/v1/runs/${run_id}/approvals`, {
    resolutions: [{ request_id: pending_approvals[0].id, behavior: 'allow' }],
  })
  await until(daemon, run_id, 'completed')
  t.deepEqual(calls[1], { text: 'asked' })
})

test('hooks-4: a call that an interceptor denies or blocks is told as denied, in its name', async (t) => {
  const { rules, run, outcomes, seen } = await daemonWith(t, 'allow')
  rules.permission_denied = () => undefined
  for (const ruling of [{ permission: 'deny', reason: 'never' }, { block: 'never' }] as const) {
    rules.pre_tool_use = () => ruling
    await run(call)
    const { error } = (await outcomes()).at(-1).output
    t.like(error, { code: 'call_denied_by_hook', reason: 'never' })
    t.is(error.message, 'The plugin watcher refused this call, so it was not made.')
    t.is(seen.at(-1)?.event, 'permission_denied')
  }
})

test('hooks-5: an output is changed or withheld before the model reads it; what is added stands after all results', async (t) => {
  const { rules, run, outcomes, seen, journal } = await daemonWith(t)
  rules.post_tool_use = () => ({ updated_output: { text: 'hidden' }, contexts: ['mind the gap'] })
  t.is((await run(`${call}\n---\n/say The end.`)).status, 'completed')
  t.like((await outcomes())[0], { state: 'done', output: { text: 'hidden' } })
  t.like(seen[0]?.payload, { tool_input: { text: 'plain' }, tool_output: { text: 'plain' } })
  t.true((await journal()).some(({ entry }) => entry.contexts?.[0] === 'mind the gap'))
  rules.post_tool_use = () => ({ block: 'secret' })
  await run(call)
  t.like((await outcomes()).at(-1), {
    state: 'failed',
    output: { error: { code: 'output_withheld_by_hook', reason: 'secret' } },
  })
  rules.post_tool_use_failure = () => ({ contexts: ['it failed'] })
  await run('/tool echo {"text":"x","fail":"yes"}')
  t.is(seen.at(-1)?.event, 'post_tool_use_failure')
})

test('hooks-7: an end is held up with a reason that the model reads, three times at most', async (t) => {
  const { rules, run, seen, journal } = await daemonWith(t)
  rules.stop = () => ({ block: 'you forgot the tests' })
  t.is((await run('Hello')).status, 'completed')
  t.deepEqual(
    seen.map(({ payload }) => payload['stop_hook_active']),
    [false, true, true],
  )
  t.is((await journal()).filter(({ entry }) => entry.blocked === 'you forgot the tests').length, 3)
})

test('hooks-8: what a run is told is refused with 403 and leaves nothing behind, or is added to', async (t) => {
  const { rules, request, journal, notes, run } = await daemonWith(t)
  rules.user_prompt_submit = ({ payload }) =>
    String(payload['prompt']).includes('bad') ? { block: 'no such words' } : { contexts: ['It is Monday.'] }
  const refused = await request('POST', '/v1/sessions/s1/runs', { content: 'bad' })
  t.like(refused.body, { status: 403, code: 'hook_blocked', domain: 'hooks' })
  t.is(refused.body.detail, 'The plugin watcher refused this: no such words')
  t.is(
    refused.body.action,
    'Do what the reason says. It is the plugin watcher that decides this, and no hook.',
    'it is no hook, and no command changes it',
  )
  t.deepEqual((await request('GET', '/v1/runs')).body, [])
  const done = await run('Good')
  t.is(done.request?.text_preview ?? done.text_preview ?? 'Good', 'Good')
  t.true((await journal()).some(({ entry }) => entry.event?.content === 'Good'))
  t.like((await notes())[0], { event: 'user_prompt_submit', by: ['watcher'], contexts: ['It is Monday.'] })
})

test('hooks-8: the model reads what a run is told in place of what was submitted, and what is added, also when it had to wait', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await daemonWith(t, 'ask', root)
  first.rules.user_prompt_submit = ({ payload }) =>
    payload['prompt'] === 'Good' ? { updated_input: 'Better', contexts: ['It is Monday.'] } : undefined
  const blocking = await submit(first, 's1', call)
  await until(first, blocking.run_id, 'waiting_for_approval')
  const { run_id } = await submit(first, 's1', 'Good')
  await first.stop()
  const second = await daemonWith(t, 'ask', root)
  await second.request('POST', `/v1/runs/${blocking.run_id}/cancel`)
  await until(second, run_id, 'completed', 'failed')
  const said = (await second.journal()).findLast(({ entry }) => entry.event?.type === 'output').entry.event.output
    .content
  t.regex(said, /Better/u)
  t.regex(said, /It is Monday\./u)
  t.notRegex(said, /Good/u)
  t.deepEqual(second.seen, [])
})

test('hooks-8: what is added is told apart from what was said: a script of the demo model stays one', async (t) => {
  const { rules, request, journal } = await daemonWith(t)
  rules.user_prompt_submit = () => ({ contexts: ['It is Monday.'] })
  const said = async (content: string): Promise<string> => {
    const { run_id } = await submit({ request }, 's1', content)
    await until({ request }, run_id, 'completed')
    return (await journal()).findLast(({ entry }) => entry.event?.type === 'output').entry.event.output.content
  }
  t.is(await said('/say Hi.\n/say There.'), 'Hi.There.')
  t.is(await said('Hello'), 'You said: Hello\nIt is Monday.')
})

test('hooks-9: a change of a setting is refused with 409, unless hooks are skipped', async (t) => {
  const { rules, request, seen } = await daemonWith(t)
  rules.config_change = () => ({ block: 'frozen' })
  const body = { mode: 'acceptEdits' }
  const refused = await request('POST', '/v1/runtime/permission-mode', body)
  t.like(refused.body, { status: 409, code: 'runtime_change_blocked', domain: 'runtime' })
  t.like(seen[0], { subject: 'permission_mode', payload: { permission_mode: 'acceptEdits' } })
  t.is((await request('GET', '/v1/runtime')).body.permission_mode, 'default')
  t.is((await request('POST', '/v1/runtime/permission-mode', { ...body, skip_hooks: true })).status, 200)
  t.is((await request('POST', '/v1/runtime/rollback', {})).status, 409)
  t.like(seen.at(-1), { subject: 'rollback', payload: { target_revision: 0 } })
  const asked = seen.length
  for (const [path, wrong, code] of [
    ['permission-mode', { ...body, expected_revision: 7 }, 'runtime_revision_conflict'],
    ['model', { model: 'm', provider: 'nobody' }, 'bad_request'],
    ['rollback', { target_revision: 9 }, 'runtime_revision_not_found'],
    ['rollback', { expected_revision: 7 }, 'runtime_revision_conflict'],
  ] as const)
    t.is((await request('POST', `/v1/runtime/${path}`, wrong)).body.code, code)
  t.is(seen.length, asked)
  t.is((await request('POST', '/v1/runtime/rollback', { skip_hooks: true })).status, 200)
})

test('hooks-10: the beginning and the end of a session are told, and wait for nobody', async (t) => {
  const { rules, request, seen } = await daemonWith(t)
  const hang = (): Promise<undefined> => new Promise(() => {})
  rules.session_start = () => undefined
  rules.session_end = (_, signal) =>
    Promise.race([
      hang(),
      new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined))),
    ])
  await request('POST', '/v1/sessions', { session_id: 's2' })
  await request('POST', '/v1/sessions', { session_id: 's2' })
  await request('POST', '/v1/sessions/s2/end', { reason: 'done' })
  await request('POST', '/v1/sessions', { session_id: 's2' })
  t.deepEqual(
    seen.map(({ event, payload }) => [event, payload]),
    [
      ['session_start', { source: 'created' }],
      ['session_end', { reason: 'done' }],
      ['session_start', { source: 'opened' }],
    ],
  )
})

test('an interceptor that throws is told in the log and stops nothing', async (t) => {
  const { rules, run, calls, log } = await daemonWith(t)
  rules.pre_tool_use = () => {
    throw new RangeError('broken')
  }
  t.is((await run(call)).status, 'completed')
  t.is(calls.length, 1)
  t.true(log.some(({ fact }) => fact === 'an interceptor failed'))
})
