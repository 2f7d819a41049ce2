/** What a session works towards by itself, and when that ends. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast, type JsonObject } from '../../../../core/plugin.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'
import { watcher } from '../../../support/interceptors.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { openStream } from '../../../support/sse.js'

const path = '/v1/sessions/s1/goal'
const says = (said = 'done'): ModelEvent[] => [text(said), done()]
const calls = (name: string, input: JsonObject = {}, n = 1): ModelEvent[] => [
  callTool(`${name}_${n}`, name, input),
  done('tool_calls'),
]
const objective = 'All links lead somewhere.'

const start = async (t: ExecutionContext, play: Play, config: JsonObject = {}, more = {}) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, ...config },
    ...more,
  })
  await openSession(daemon)
  return Object.assign(daemon, { asked: model.requests })
}

const goalOf = async ({ request }: Reachable): Promise<any> => (await request('GET', path)).body.goal
/** In the order of their submission. */
const runsOf = async ({ request }: Reachable): Promise<any[]> =>
  (await request('GET', '/v1/runs')).body.toSorted((a: any, b: any) => (a.run_id < b.run_id ? -1 : 1))

/** Reads the goal until it is in this state and no run is under way. */
const until_ = async (daemon: Reachable, holds: (goal: any) => boolean): Promise<any> => {
  for (let n = 0; n < 4_000; n += 1) {
    const goal = await goalOf(daemon)
    if (holds(goal)) return goal
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error(`the goal is ${JSON.stringify(await goalOf(daemon))}`)
}
const state =
  (...statuses: string[]) =>
  (goal: any): boolean =>
    statuses.includes(goal?.status)
const still = (daemon: Reachable) => until_(daemon, state('paused', 'budget_limited', 'complete'))
const settled = async (daemon: Reachable): Promise<any[]> => {
  for (const { run_id } of await runsOf(daemon)) await until(daemon, run_id, 'completed', 'failed', 'cancelled')
  return runsOf(daemon)
}

test('goals-1, goals-4, goals-5, goals-7: runs are made until the model says that the goal is complete', async (t) => {
  const daemon = await start(t, (_, count) =>
    count < 3 ? says(`step ${count}`) : count === 3 ? calls('update_goal', { status: 'complete' }) : says(),
  )
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1/goal')).body, {})
  const set = await daemon.request('POST', '/v1/sessions/s1/goal', { objective, token_budget: 1_000 })
  t.is(set.status, 200)
  t.like(set.body.goal, { session_id: 's1', objective, status: 'active', token_budget: 1_000, definition_version: 1 })
  const goal = await still(daemon)
  const runs = await settled(daemon)
  t.is(runs.length, 3)
  for (const run of runs)
    t.like(run, {
      kind: 'input',
      status: 'completed',
      request: { source_kind: 'goal_continuation', source_plugin: 'goals' },
    })
  t.like(goal, {
    status: 'complete',
    turns: 3,
    last_continuation_run_id: runs[2].run_id,
    completed_by_run_id: runs[2].run_id,
  })
  t.regex(daemon.asked[0]?.system ?? '', /<goal>\nThis session works towards a goal\. Its objective:\nAll links/u)
  t.notRegex(daemon.asked.at(-1)?.system ?? '', /<goal>/u)
  t.regex(JSON.stringify(daemon.asked[0]?.messages), /turn 1 of at most 50\./u)
  t.true(goal.tokens_used > 0)
  t.is((await daemon.request('GET', path)).body.remaining_tokens, 1_000 - goal.tokens_used)
})

test('goals-2, goals-8: a goal is what a PUT says, whatever was before', async (t) => {
  const daemon = await start(t, () => says())
  const put = async (body: object) => (await daemon.request('PUT', path, body)).body.goal
  const first = await put({ objective, status: 'paused', token_budget: 500 })
  const second = await put({ objective: 'Another.' })
  t.like(second, { goal_id: first.goal_id, objective: 'Another.', status: 'active', token_budget: undefined })
  t.like(await put({ objective, status: 'paused' }), { goal_id: first.goal_id, status: 'paused' })
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  t.false(
    warnings.some(({ code }: any) => code === 'goal_stopped'),
    'who paused it knows',
  )
  await daemon.request('PATCH', path, { status: 'complete' })
  const anew = await put({ objective, status: 'paused' })
  t.not(anew.goal_id, first.goal_id)
  t.like(anew, { status: 'paused', tokens_used: 0 })
})

test('goals-2, goals-3: what cannot be done with a goal is refused by name and changes nothing', async (t) => {
  const daemon = await start(t, () => says())
  const { request } = daemon
  const patch = (body: object) => request('PATCH', '/v1/sessions/s1/goal', body)
  t.deepEqual(codeOf(await request('POST', '/v1/sessions/nobody/goal', { objective })), [404, 'session_not_found'])
  t.deepEqual(codeOf(await request('GET', '/v1/sessions/nobody/goal')), [404, 'session_not_found'])
  t.deepEqual(codeOf(await patch({ status: 'paused' })), [404, 'goal_not_found'])
  t.deepEqual(codeOf(await request('POST', path, { objective: ' ' })), [400, 'bad_request'])
  t.is((await request('POST', path, { objective, status: 'paused' })).status, 200)
  const before = await goalOf(daemon)
  const { goal_id, version } = before
  t.deepEqual(codeOf(await request('POST', path, { objective: 'Another.' })), [409, 'goal_already_exists'])
  t.deepEqual(codeOf(await patch({ status: 'active', expected_goal_id: 'goal_other' })), [409, 'goal_conflict'])
  const other = await patch({ status: 'active', expected_version: version + 1 })
  t.deepEqual(codeOf(other), [409, 'goal_conflict'])
  t.regex(other.body.action, /GET \/v1\/sessions\/s1\/goal,/u)
  t.deepEqual(codeOf(await patch({})), [400, 'goal_invalid_request'])
  t.deepEqual(codeOf(await patch({ token_budget: 5, clear_token_budget: true })), [400, 'goal_invalid_request'])
  t.deepEqual(codeOf(await patch({ status: 'budget_limited' })), [400, 'bad_request'])
  t.deepEqual(await goalOf(daemon), before)
  const changed = await patch({ token_budget: 5, expected_goal_id: goal_id, expected_version: version })
  t.like(changed.body, { goal: { token_budget: 5, version: 2, definition_version: 2 }, remaining_tokens: 5 })
  t.is((await patch({ clear_token_budget: true })).body.remaining_tokens, undefined)
  const put = await request('PUT', '/v1/sessions/s1/goal', { objective: 'Another.', status: 'paused' })
  t.like(put.body.goal, { goal_id, objective: 'Another.', definition_version: 4 })
  t.like((await patch({ status: 'complete' })).body.goal, { status: 'complete' })
  t.deepEqual(codeOf(await patch({ status: 'active' })), [400, 'goal_invalid_request'])
  const over = await patch({ objective })
  t.deepEqual(codeOf(over), [400, 'goal_invalid_request'])
  t.notRegex(over.body.detail, /\/v1|[{}]/u)
  t.regex(over.body.action, /POST \/v1\/sessions\/s1\/goal\./u)
  t.not((await request('POST', path, { objective, status: 'paused' })).body.goal.goal_id, goal_id)
  t.deepEqual((await request('DELETE', '/v1/sessions/s1/goal')).body, {})
  t.is((await runsOf(daemon)).length, 0)
})

test('goals-2: with require_no_active_runs a goal changes only while no run is under way', async (t) => {
  const daemon = await start(t, () =>
    calls('ask_user_question', {
      questions: [{ header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }],
    }),
  )
  await daemon.request('POST', path, { objective, status: 'paused' })
  await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'waiting_for_user_question')
  const change = { objective: 'Another.', require_no_active_runs: true }
  t.deepEqual(codeOf(await daemon.request('PATCH', path, change)), [409, 'goal_session_not_idle'])
  t.is((await daemon.request('PATCH', path, { ...change, require_no_active_runs: false })).status, 200)
})

test('goals-4: a model sets a goal once, and reads it', async (t) => {
  const plays = [
    calls('create_goal', { objective, token_budget: 500 }),
    calls('create_goal', { objective }, 2),
    calls('get_goal'),
    calls('update_goal', { status: 'complete' }),
    says(),
  ]
  const daemon = await start(t, (_, count) => plays[count - 1] ?? says())
  const { run_id } = await submit(daemon, 's1', 'go')
  await until(daemon, run_id, 'completed')
  const results = daemon.asked.at(-1)?.messages.flatMap(({ content }) => content.filter(isResult)) ?? []
  t.like(results[0], { is_error: false, output: { goal: { objective, created_by_run_id: run_id } } })
  t.like(results[1], { is_error: true, output: { error: { code: 'goal_already_exists' } } })
  t.like(results[2], { output: { goal: { token_budget: 500, status: 'active' } } })
  t.like(await goalOf(daemon), { status: 'complete', completed_by_run_id: run_id, turns: 0 })
  t.is((await runsOf(daemon)).length, 1)
})

const isResult = ({ type }: { readonly type: string }): boolean => type === 'tool_result'

const meanwhile: readonly (readonly [string, string, readonly object[], object, string, object | undefined])[] = [
  ['DELETE', 'update_goal', [{ objective }], { status: 'complete' }, 'goal_not_found', undefined],
  [
    'PATCH',
    'update_goal',
    [{ objective }, { objective: 'Mine.' }],
    { status: 'complete' },
    'goal_conflict',
    { objective: 'Mine.', version: 2 },
  ],
  [
    'POST',
    'create_goal',
    [{ objective: 'Mine.', status: 'paused' }],
    { objective },
    'goal_already_exists',
    { objective: 'Mine.', version: 1 },
  ],
]
for (const [method, tool, [first, then], input, code, left] of meanwhile)
  test(`goals-4, tools-36: ${tool} does not write over what a ${method} of an operator was told while the call was under way`, async (t) => {
    const model = scriptedProvider((_, count) => (count === 1 ? calls(tool, unsafeCast<JsonObject>(input)) : says()))
    const hook = watcher()
    const daemon = await startTestDaemon(t, { plugins: [model.plugin, hook.plugin], config: model.config })
    await openSession(daemon)
    if (method !== 'POST') await daemon.request('POST', path, { ...first, status: 'paused' })
    hook.rules.post_tool_use = async () => {
      const done_ = await daemon.request(method, path, method === 'POST' ? first : then)
      t.is(done_.status, 200)
      return undefined
    }
    await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
    const result = model.requests.at(-1)?.messages.at(-1)?.content[0]
    t.like(result, { type: 'tool_result', is_error: true, output: { error: { code } } })
    const { message, action } = unsafeCast<any>(result).output.error
    t.notRegex(`${message} ${action}`, /\/v1\/|GET|POST|PATCH|DELETE/u, 'a model has no routes')
    t.regex(action, code === 'goal_not_found' ? /only if a person asks/u : /get_goal/u)
    const goal = await goalOf(daemon)
    if (left === undefined) t.is(goal, undefined)
    else t.like(goal, left)
  })

const meantimes: readonly (readonly [string, readonly (readonly [string, object?])[], object])[] = [
  [
    'a goal in its place',
    [['PATCH', { status: 'active' }], ['DELETE'], ['POST', { objective: 'Mine.' }]],
    { version: 1 },
  ],
  ['another objective', [['PATCH', { objective: 'Mine.' }]], { version: 2 }],
  ['what a PUT says', [['PUT', { objective: 'Mine.' }]], { version: 2, status: 'active' }],
  [
    'a pause',
    [
      ['PATCH', { status: 'active' }],
      ['PATCH', { status: 'paused', objective: 'Mine.' }],
    ],
    { version: 3 },
  ],
]
for (const [what, changes, left] of meantimes)
  test(`goals-4: a model that was asked with one goal does not complete ${what}, until it was asked with that`, async (t) => {
    let between: any
    const daemon = await start(t, async function* (_, count) {
      if (count === 1)
        for (const [method, body] of changes) t.is((await daemon.request(method, path, body)).status, 200)
      if (count === 2) between = await goalOf(daemon)
      yield* count < 3 ? calls('update_goal', { status: 'complete' }, count) : says()
    })
    await daemon.request('POST', path, { objective, status: 'paused' })
    const { run_id } = await submit(daemon, 's1', 'go')
    await until(daemon, run_id, 'completed')
    t.like(between, { objective: 'Mine.', ...left })
    const results = daemon.asked[2]?.messages.flatMap(({ content }) => content.filter(isResult)) ?? []
    t.like(results[0], { is_error: true, output: { error: { code: 'goal_conflict' } } })
    t.like(results[1], { is_error: false, output: { goal: { goal_id: between.goal_id, status: 'complete' } } })
    t.like(await goalOf(daemon), { objective: 'Mine.', status: 'complete', completed_by_run_id: run_id })
  })

test('goals-4: a goal that a model sets may be complete in the same answer', async (t) => {
  const both = [callTool('a', 'create_goal', { objective }), callTool('b', 'update_goal', { status: 'complete' })]
  const daemon = await start(t, (_, count) => (count === 1 ? [...both, done('tool_calls')] : says()))
  const { run_id } = await submit(daemon, 's1', 'go')
  await until(daemon, run_id, 'completed')
  t.like(await goalOf(daemon), { status: 'complete', created_by_run_id: run_id, completed_by_run_id: run_id })
})

test('goals-3: what is asked for together is one version, and of a complete goal nothing is written anew', async (t) => {
  const daemon = await start(t, () => says())
  const patch = (body: object) => daemon.request('PATCH', path, body)
  await daemon.request('POST', path, { objective, token_budget: 5 })
  await patch({ status: 'paused', token_budget: 9 }).then(({ body }) =>
    t.like(body.goal, { version: 2, token_budget: 9 }),
  )
  await daemon.request('PUT', path, { objective: 'Another.', status: 'paused', token_budget: 7 })
  t.is((await goalOf(daemon)).version, 3)
  t.like((await patch({ status: 'complete', objective })).body.goal, { version: 4, status: 'complete', objective })
  const before = await goalOf(daemon)
  for (const wish of [{ objective: 'REWRITTEN' }, { token_budget: 1 }, { clear_token_budget: true }])
    t.deepEqual(codeOf(await patch({ status: 'complete', ...wish })), [400, 'goal_invalid_request'])
  t.is((await patch({ status: 'complete' })).status, 200)
  t.deepEqual(await goalOf(daemon), before)
})

test('goals-7, goals-8: a goal that never ends is paused at its bound, told with the command that has it go on', async (t) => {
  const daemon = await start(t, () => says(), { goals: { max_turns: 3 } })
  await daemon.request('POST', path, { objective })
  t.like(await still(daemon), { status: 'paused', stop_code: 'goal_turns_exhausted', turns: 3 })
  t.is((await settled(daemon)).length, 3)
  const warning = async (): Promise<any> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.find(({ code }: any) => code === 'goal_stopped')
  const { action, related_id } = await warning()
  t.is(related_id, 's1')
  t.regex(action, /holdfast goals resume s1/u)
  const line = createCommandLine(daemon)
  t.regex(
    (await line('goals', 'get', 's1')).out,
    /\n {2}because {2}it made 3 runs without an end\.\n {2}next {5}holdfast goals resume s1\n$/u,
  )
  t.regex((await line('goals', 'resume', 's1')).out, /active/u)
  await until_(daemon, ({ status, turns }) => status === 'paused' && turns === 3)
  t.is((await settled(daemon)).length, 6)
  await line('goals', 'clear', 's1')
  t.is(await warning(), undefined)
})

test('goals-8: a run of it that fails or is cancelled pauses the goal, and it goes on only when told', async (t) => {
  const daemon = await start(t, function* (_, count) {
    yield* count === 1 ? [fails(false)] : count === 3 ? calls('update_goal', { status: 'complete' }) : says()
  })
  await daemon.request('POST', path, { objective })
  t.like(await still(daemon), { status: 'paused', stop_code: 'run_failed', turns: 1 })
  await until(daemon, (await submit(daemon, 's1', 'of a person')).run_id, 'completed')
  t.is((await runsOf(daemon)).length, 2)
  await daemon.request('PATCH', path, { status: 'active' })
  t.like(await still(daemon), { status: 'complete' })
  t.is((await goalOf(daemon)).stop_code, undefined)
})

const stops = { run_cancelled: '/v1/runs/{run_id}/cancel', run_interrupted: '/v1/sessions/s1/interrupt' }
for (const [code, at] of Object.entries(stops))
  test(`goals-8: a run that is stopped pauses the goal: ${code}`, async (t) => {
    const daemon = await start(t, async function* (_, __, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      yield {
        type: 'done',
        outcome: 'failed',
        failure: { class: 'aborted', retryable: false, message: 'Aborted.' },
      } as const
    })
    await daemon.request('POST', path, { objective })
    const { last_continuation_run_id } = await until_(daemon, ({ turns }) => turns === 1)
    await until(daemon, last_continuation_run_id, 'running')
    await daemon.request('POST', at.replace('{run_id}', last_continuation_run_id))
    t.like(await still(daemon), { status: 'paused', stop_code: code })
  })

test('goals-8: a run that cannot be accepted pauses the goal, with the code of that', async (t) => {
  const daemon = await start(t, () => says())
  const credential_scope = { route_deny: ['scripted'] }
  await daemon.request('POST', '/v1/sessions', { session_id: 's2', credential_scope })
  const at = '/v1/sessions/s2/goal'
  await daemon.request('POST', at, { objective })
  const stopped = async () => (await daemon.request('GET', at)).body.goal.stop_code
  for (let left = 400; left > 0 && (await stopped()) === undefined; left -= 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  t.like((await daemon.request('GET', at)).body.goal, { status: 'paused', stop_code: 'route_not_allowed', turns: 0 })
  t.deepEqual(await runsOf(daemon), [])
})

test('goals-3, goals-11, goals-12: a used budget ends a run before its next call, and one last run says how far it is', async (t) => {
  const used = { input_tokens: 60, output_tokens: 10 }
  const daemon = await start(t, (_, count) => [
    ...(count === 4 ? [text('half done')] : [callTool(`c${count}`, 'get_goal')]),
    { type: 'done', outcome: count === 4 ? 'stop' : 'tool_calls', usage: used },
  ])
  await daemon.request('POST', path, { objective, token_budget: 200 })
  const goal = await still(daemon)
  const [first, last, ...others] = await settled(daemon)
  t.deepEqual(others, [])
  t.like(first, { status: 'failed' })
  t.regex(first.error, /^goal_budget_exhausted: .*210 of 200 tokens/u)
  t.like(last, { status: 'completed', request: { source_kind: 'goal_continuation' } })
  t.regex(JSON.stringify(daemon.asked.at(-1)?.messages.at(-1)), /say in a few sentences/u)
  t.like(goal, {
    status: 'budget_limited',
    stop_code: 'goal_budget_exhausted',
    budget_limited_by_run_id: first.run_id,
    budget_wrapup_run_id: last.run_id,
    tokens_used: 210,
    accounted_usage: { input_tokens: 180, output_tokens: 30 },
  })
  t.is((await goalOf(daemon)).tokens_used, 210, 'the last run is not counted')
  t.deepEqual(codeOf(await daemon.request('PATCH', path, { status: 'active' })), [400, 'goal_invalid_request'])
  const on = await daemon.request('PATCH', path, { status: 'active', token_budget: 100_000 })
  t.is(on.body.goal.status, 'active', on.text)
  t.false('budget_limited_by_run_id' in on.body.goal || 'budget_wrapup_run_id' in on.body.goal, on.text)
})

test('goals-12: where a budget of the daemon is used up the goal is limited without a last run', async (t) => {
  const daemon = await start(t, () => says(), { usage: { max_session_output_tokens: 2 } })
  await daemon.request('POST', path, { objective })
  t.like(await still(daemon), {
    status: 'budget_limited',
    stop_code: 'budget_exhausted',
    budget_wrapup_run_id: undefined,
  })
  t.is((await settled(daemon)).length, 3)
})

test('goals-8, goals-12: of a budget of the daemon that is used up the warning says what helps', async (t) => {
  const raise = (of: string) => `max_${of}_output_tokens or max_${of}_cost_usd in config/usage.toml and restart`
  const helps = {
    run: 'Its next run may use as much again. To have it go on: holdfast goals resume s1.',
    session: `First raise ${raise('session')} the daemon. To have it go on: holdfast goals resume s1.`,
    day: `First wait for the next day, or raise ${raise('day')} the daemon. To have it go on: holdfast goals resume s1.`,
  }
  for (const [of, help] of Object.entries(helps)) {
    const daemon = await start(t, () => calls('get_goal'), { usage: { [`max_${of}_output_tokens`]: 2 } })
    await daemon.request('POST', path, { objective })
    const { stop_code, stop_reason } = await still(daemon)
    t.is(stop_code, 'budget_exhausted')
    t.regex(stop_reason, new RegExp(`^its run run_\\w+ failed: the budget of the ${of} is used up: 2 of 2 `, 'u'))
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    const { action } = warnings.find(({ code }: any) => code === 'goal_stopped')
    t.is(action, `${help} To hear no more of it: holdfast goals clear s1`)
    const { code, out, err } = await createCommandLine(daemon)('goals', 'resume', 's1')
    t.deepEqual([code, err], [0, ''], out)
  }
})

test('goals-12: the budget of a goal ends no run of a person', async (t) => {
  const plays = [calls('create_goal', { objective, token_budget: 1 }), calls('get_goal')]
  const daemon = await start(t, (_, count) => plays[count - 1] ?? says())
  const { run_id } = await submit(daemon, 's1', 'go')
  t.is((await until(daemon, run_id, 'completed', 'failed')).status, 'completed')
  t.like(await still(daemon), { status: 'budget_limited', turns: 0 })
})

test('goals-11: the time while a goal is active counts, and no other', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await start(t, () => says(), {}, { clock, flags: { hold: true } })
  const used = async (): Promise<number> => (await goalOf(daemon)).time_used_ms
  const turn = (status: string) => daemon.request('PATCH', path, { status })
  await daemon.request('POST', path, { objective })
  clock.leap(60_000)
  t.is(await used(), 60_000)
  await turn('paused')
  clock.leap(600_000)
  t.is(await used(), 60_000)
  await turn('active')
  clock.leap(30_000)
  t.is(await used(), 90_000)
})

test('goals-11: what is used while the goal is paused does not count', async (t) => {
  const daemon = await start(t, () => says(), { goals: { max_turns: 2 } })
  await until(daemon, (await submit(daemon, 's1', 'before')).run_id, 'completed')
  await daemon.request('POST', path, { objective })
  t.like(await still(daemon), { tokens_used: 4 })
  await until(daemon, (await submit(daemon, 's1', 'between')).run_id, 'completed')
  await daemon.request('PATCH', path, { status: 'active' })
  await until_(daemon, ({ status, tokens_used }) => status === 'paused' && tokens_used === 8)
  t.pass()
})

test('goals-5: what people submit comes before the next run of the goal, also while one of theirs is under way', async (t) => {
  const releases: (() => void)[] = []
  const daemon = await start(t, async function* (_, count) {
    if (count < 3) await new Promise<void>((resolve) => releases.push(resolve))
    yield* count === 4 ? calls('update_goal', { status: 'complete' }) : says()
  })
  const held = async (count: number): Promise<void> => {
    while (releases.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await daemon.request('POST', path, { objective })
  await held(1)
  const first = await submit(daemon, 's1', 'of a person')
  releases[0]?.()
  await held(2)
  const second = await submit(daemon, 's1', 'of another one')
  releases[1]?.()
  await still(daemon)
  const runs = (await settled(daemon)).toSorted((a, b) => a.started_at_ms - b.started_at_ms)
  t.is(runs.length, 4)
  t.deepEqual(
    runs.slice(1, 3).map(({ run_id }) => run_id),
    [first.run_id, second.run_id],
  )
  t.is(runs[3].request.source_kind, 'goal_continuation')
})

test('goals-9: each change is told on the stream and stands in the metadata of the session', async (t) => {
  const daemon = await start(t, (_, count) =>
    count === 1 ? says() : calls('update_goal', { status: 'complete' }, count),
  )
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/sessions/s1/stream' })
  await daemon.request('POST', path, { objective })
  await still(daemon)
  await settled(daemon)
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  t.like(body.session.metadata.session_goal, { objective, status: 'complete' })
  await daemon.request('DELETE', path)
  const told = () => stream.frames.filter(({ event }) => event === 'session_goal_updated')
  while (told().at(-1)?.data.goal !== null) t.true(await stream.until(stream.frames.length + 1))
  t.deepEqual(
    told().map(({ data: { goal } }) => goal && [goal.status, goal.turns]),
    [['active', 0], ['active', 1], ['active', 2], ['complete', 2], null],
  )
  stream.close()
})

test('goals-10: the end of a session ends its goal', async (t) => {
  const daemon = await start(t, () => says(), { goals: { max_turns: 1 } })
  await daemon.request('POST', path, { objective })
  await still(daemon)
  await daemon.request('POST', '/v1/sessions/s1/end')
  await until_(daemon, (goal) => goal === undefined)
  t.deepEqual(codeOf(await daemon.request('POST', path, { objective })).slice(1), ['session_ended'])
})

test('goals-6: the run and the goal that knows of it are one line of the log', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, () => says(), { goals: { max_turns: 1 } }, { root })
  await daemon.request('POST', path, { objective })
  const { last_continuation_run_id: run_id } = await still(daemon)
  const [segment = ''] = readdirSync(join(root, 'log'))
  const lines = readFileSync(join(root, 'log', segment), 'utf8').split('\n')
  const first = lines.find((line) => line.includes(run_id)) ?? ''
  t.true(first.includes(`"last_continuation_run_id":"${run_id}"`), first)
})

test('goals-10: a goal whose session ended before a kill ends at the next start', async (t) => {
  const root = await freshRoot()
  const first = await start(t, () => says(), {}, { root })
  await first.request('POST', path, { objective, status: 'paused' })
  await first.stop()
  rewriteRecord(root, { collection: 'sessions', id: 's1' }, (session) => ({ ...session, ended_at_ms: 1 }))
  const model = scriptedProvider(() => says())
  const second = await startTestDaemon(t, { root, plugins: [model.plugin], config: model.config })
  await until_(second, (goal) => goal === undefined)
  t.is((await second.request('GET', '/v1/sessions/s1')).body.goal, undefined)
})

test('goals-6: a daemon that holds makes no run of a goal until it is released', async (t) => {
  const root = await freshRoot()
  const daemon = await start(
    t,
    (_, count) => calls('update_goal', { status: 'complete' }, count),
    {},
    { root, flags: { hold: true } },
  )
  await daemon.request('POST', path, { objective })
  t.is((await runsOf(daemon)).length, 0)
  await daemon.request('POST', '/v1/release')
  t.like(await still(daemon), { status: 'complete' })
})

test('goals-1: the command line sets, shows, pauses and completes a goal', async (t) => {
  const daemon = await start(t, () => says())
  const line = createCommandLine(daemon)
  t.regex((await line('goals', 'get', 's1')).out, /has no goal/u)
  t.regex(
    (await line('goals', 'set', 's1', objective, '--paused', '--token-budget', '77')).out,
    /paused, 0 runs, 0 of 77/u,
  )
  t.like(await goalOf(daemon), { status: 'paused', token_budget: 77 })
  t.regex((await line('goals', 'pause', 's1')).out, /paused/u)
  t.regex((await line('goals', 'complete', 's1')).out, /^complete, 0 runs, /mu)
  t.not((await line('goals', 'resume', 's1', '--token-budget', 'many')).code, 0)
  t.regex(
    (await line('goals', 'set', 's2', objective, '--token-budget', '-5')).err,
    /--token-budget must be at least 1/u,
  )
})

test('goals-2: the command line replaces no goal that is not complete, and changes one without losing its budget', async (t) => {
  const daemon = await start(t, () => says())
  const line = createCommandLine(daemon)
  await line('goals', 'set', 's1', objective, '--paused', '--token-budget', '77')
  const refused = await line('goals', 'set', 's1', 'Another one.')
  t.is(refused.code, 1)
  t.regex(
    refused.err,
    /goal_already_exists\)\n.*holdfast goals change --objective OBJECTIVE s1.*holdfast goals clear s1/u,
  )
  t.like(await goalOf(daemon), { objective, status: 'paused', token_budget: 77 })
  t.regex((await line('goals', 'change', 's1')).err, /needs --objective, --token-budget or --clear-token-budget/u)
  await line('goals', 'change', 's1', '--objective', 'Another one.')
  t.like(await goalOf(daemon), { objective: 'Another one.', status: 'paused', token_budget: 77 })
  await line('goals', 'change', 's1', '--clear-token-budget')
  t.is((await goalOf(daemon)).token_budget, undefined)
  await line('goals', 'complete', 's1')
  t.regex((await line('goals', 'resume', 's1')).err, /Set a new one with holdfast goals set s1 OBJECTIVE/u)
  t.regex((await line('goals', 'set', 's1', objective, '--paused')).out, /paused/u)
})

test('goals-8, explanations-13: a goal that was paused for another reason, and whose budget was lowered since, is told with a line that works', async (t) => {
  const daemon = await start(t, () => says(), { goals: { max_turns: 2 } })
  const line = createCommandLine(daemon)
  await line('goals', 'set', 's1', objective)
  t.like(await still(daemon), { status: 'paused', stop_code: 'goal_turns_exhausted' })
  await line('goals', 'change', 's1', '--token-budget', '1')
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const { action } = warnings.find(({ code }: any) => code === 'goal_stopped')
  t.regex(action, /holdfast goals resume --token-budget \d+ s1\. Without a budget: holdfast goals resume --clear/u)
  t.regex((await line('explain', 's1')).out, /holdfast goals resume --token-budget TOKENS s1/u)
  const [, words = ''] = /holdfast (goals resume [^.]+)\./u.exec(action) ?? []
  t.is((await line(...words.split(' '))).code, 0, words)
})

test('goals-8, goals-12: of a goal whose budget is used up the warning names commands that have it go on', async (t) => {
  const daemon = await start(t, () => says())
  const line = createCommandLine(daemon)
  const lines = async (): Promise<string[][]> => {
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    const { action } = warnings.find(({ code }: any) => code === 'goal_stopped')
    return [...action.matchAll(/holdfast (goals resume [^.]+)\./gu)].map(([, words]) => words.split(' '))
  }
  await line('goals', 'set', 's1', objective, '--token-budget', '1')
  t.like(await still(daemon), { status: 'budget_limited' })
  t.regex((await line('goals', 'resume', 's1')).err, /Raise --token-budget, or give --clear-token-budget\./u)
  t.is((await lines()).length, 2)
  for (const at of [0, 1]) {
    await settled(daemon)
    const words = (await lines())[at] ?? []
    const { code, out } = await line(...words)
    t.is(code, 0, words.join(' '))
    t.regex(out, /active/u)
    if (at === 0) await still(daemon)
  }
  await line('goals', 'clear', 's1')
})

test('goals-9, goals-13: the view of a session, its row and its metadata have the goal that is asked for apart', async (t) => {
  const daemon = await start(t, () => says())
  const { request } = daemon
  await request('POST', '/v1/sessions', { session_id: 's2' })
  await request('POST', path, { objective, status: 'paused', token_budget: 9 })
  const goal = await goalOf(daemon)
  const seen = async (session_id: string) => {
    const rows = (await request('GET', '/v1/sessions')).body
    const { metadata } = (await request('GET', `/v1/sessions/${session_id}/events`)).body.session
    return [
      (await request('GET', `/v1/sessions/${session_id}`)).body.goal,
      rows.find((row: any) => row.session_id === session_id).goal,
      metadata.session_goal,
    ]
  }
  t.deepEqual(await seen('s1'), [goal, goal, goal])
  t.deepEqual(await seen('s2'), [undefined, undefined, undefined])
  const run = createCommandLine(daemon)
  t.regex((await run('sessions', 'get', 's1')).out, /\n {2}goal {3}paused: All links lead somewhere\.\n/u)
  await request('DELETE', path)
  t.deepEqual(await seen('s1'), [undefined, undefined, undefined])
})
