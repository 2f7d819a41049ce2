/** What model calls used and cost, wherever it is told. */
import test, { type ExecutionContext } from 'ava'
import { unsafeCast, type JsonObject } from '../../../../core/plugin.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { verifyShipped } from '../../../support/copied-root.js'
import {
  freshRoot,
  spawnTestDaemon,
  startTestDaemon,
  type Reachable,
  type TestDaemon,
} from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { readMetrics } from '../../../support/prometheus.js'
import { day, retain, weekOfRuns } from '../../../support/retention.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, fails, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'

const used = { input_tokens: 100, output_tokens: 10 }
const says = (usage: object = used): ModelEvent[] => [
  text('said'),
  { type: 'done', outcome: 'stop', usage: { ...used, ...usage } },
]
const failsWith = (retryable: boolean, usage = used): ModelEvent => ({ ...fails(retryable), usage }) as ModelEvent

const start = async (t: ExecutionContext, play: Play, config: JsonObject = {}, more = {}) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: {
      ...model.config,
      usage: config,
      runs: { model_retry_base_ms: 1, stop_grace_ms: 100, drain_ms: 10 },
      tools: { permission_mode: 'bypassPermissions' },
    },
    ...more,
  })
  return { daemon, calls: () => model.requests.length }
}
const run = async (daemon: Reachable, session: string, body: object = {}): Promise<any> => {
  await openSession(daemon, session)
  const { run_id } = (await daemon.request('POST', `/v1/sessions/${session}/runs`, { content: 'go', ...body })).body
  return until(daemon, run_id, 'completed', 'failed', 'cancelled')
}
const usage = async ({ request }: Reachable, query = ''): Promise<any[]> =>
  (await request('GET', `/v1/usage?${query}`)).body

const beside = ['cached_input_tokens', 'reasoning_tokens', 'searches', 'cost_microusd']
const fields = ['calls', 'input_tokens', 'output_tokens', ...beside]
const summed = (rows: readonly any[]): Record<string, number> =>
  Object.fromEntries(fields.map((field) => [field, rows.reduce((sum, row) => sum + (row?.[field] ?? 0), 0)]))

/** Runs, sessions, days and routes say the same; returns it. */
const agree = async (t: ExecutionContext, daemon: Reachable): Promise<Record<string, number>> => {
  const runs = (await daemon.request('GET', '/v1/runs')).body as any[]
  const ofRuns = summed(runs.map((one) => one.usage))
  for (const by of ['day', 'session', 'route']) t.deepEqual(summed(await usage(daemon, `by=${by}`)), ofRuns, by)
  return ofRuns
}

test('usage-1, usage-4: what calls used is told by the run, its session, its route and the day, and is the same', async (t) => {
  const { daemon } = await start(t, ({ messages }, count) =>
    count === 1 && messages.length === 1
      ? [callTool('c1', 'bash', { command: 'true' }), { type: 'done', outcome: 'tool_calls', usage: used }]
      : says({ cached_input_tokens: 40, reasoning_tokens: 3 }),
  )
  const one = await run(daemon, 'one')
  t.deepEqual(one.usage, {
    calls: 2,
    input_tokens: 200,
    output_tokens: 20,
    cached_input_tokens: 40,
    reasoning_tokens: 3,
  })
  await run(daemon, 'two')
  t.like(await agree(t, daemon), { calls: 3, input_tokens: 300, output_tokens: 30, cached_input_tokens: 80 })
  t.deepEqual(
    (await usage(daemon, 'by=session')).map(({ session_id, calls }) => [session_id, calls]),
    [
      ['one', 2],
      ['two', 1],
    ],
  )
  t.deepEqual(
    (await usage(daemon, 'by=route')).map(({ route }) => route),
    ['scripted'],
  )
  t.deepEqual(
    (await usage(daemon, 'session_id=two')).map(({ calls }) => calls),
    [1],
  )
})

test('usage-4: the command says of what each row is, and what its numbers count', async (t) => {
  const { daemon } = await start(t, () => says())
  await run(daemon, 'one')
  const line = createCommandLine(daemon)
  for (const by of ['day', 'session', 'route', 'purpose'])
    t.regex(
      (await line('usage', '--by', by)).out,
      new RegExp(`^${by} +calls  input tokens  output tokens +USD\\n\\S+ +1 +100 +10 `, 'u'),
    )
})

test('usage-4: a run that has asked no model says nothing of usage', async (t) => {
  const { daemon } = await start(t, () => says())
  await openSession(daemon)
  const accepted = await submit(daemon, 's1', 'go')
  t.false('usage' in accepted)
  t.like(await until(daemon, accepted.run_id, 'completed'), { usage: { calls: 1 } })
})

test('usage-2: attempts that failed, were repeated or followed by another model count with what was told', async (t) => {
  const { daemon } = await start(t, ({ model }, count) => {
    if (model === 'small') return [count === 1 ? failsWith(true) : failsWith(false)]
    return says()
  })
  const done = await run(daemon, 'one', { generation: { model: 'small', fallback_model: 'large' } })
  t.like(done, { status: 'completed', usage: { calls: 3, input_tokens: 300, output_tokens: 30 } })
  t.like(await agree(t, daemon), { calls: 3, input_tokens: 300 })
  const silent = await start(t, () => [fails(false)])
  t.deepEqual((await run(silent.daemon, 'one')).usage, { calls: 1, input_tokens: 0, output_tokens: 0 })
})

test('usage-2: a call that was cancelled counts with what its provider told nevertheless', async (t) => {
  let began = (): void => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const { daemon } = await start(t, async function* (_, __, signal) {
    began()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    yield failsWith(false)
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'go')
  await begun
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
  t.like(await until(daemon, run_id, 'cancelled'), { usage: { calls: 1, output_tokens: 10 } })
  await agree(t, daemon)
})

test('usage-1: after a kill the sums are equal, and so they are when the runs have gone on', async (t) => {
  const root = await freshRoot()
  const flags = ['--permission-mode', 'bypassPermissions']
  const first = await spawnTestDaemon(t, { root, flags })
  const sessions = ['a', 'b', 'c', 'd']
  for (const session of sessions) await openSession(first, session)
  const script = Array.from({ length: 12 }, () => '/tool bash {"command":"sleep 0.01"}').join('\n---\n')
  const ids = await Promise.all(
    sessions.map(async (session) => (await submit(first, session, script)).run_id as string),
  )
  const booked = async (): Promise<number> => summed(await usage(first))['calls'] ?? 0
  for (let looks = 0; looks < 1000 && (await booked()) < 12;) looks += 1
  await first.kill('SIGKILL')
  const second = await spawnTestDaemon(t, { root, flags: [...flags, '--hold'] })
  t.true(((await agree(t, second))['calls'] ?? 0) >= 12)
  await second.request('POST', '/v1/release', {})
  for (const id of ids) await until(second, id, 'completed', 'failed', 'interrupted')
  const sums = await agree(t, second)
  await second.stop()
  const third = await spawnTestDaemon(t, { root })
  t.deepEqual(await agree(t, third), sums)
  await third.stop()
})

test('usage-3: from and to leave out other days, sessions come in pages, and what is wrong is refused', async (t) => {
  const clock = createLeapingClock()
  const { daemon } = await start(t, () => says(), {}, { clock })
  const days: string[] = []
  for (const [at, session] of ['a', 'b', 'c'].entries()) {
    if (at > 0) clock.leap(day)
    await run(daemon, session)
    days.push(new Date(clock.now()).toISOString().slice(0, 10))
  }
  await run(daemon, 'a')
  t.deepEqual(
    (await usage(daemon)).map((row) => [row.day, row.calls]),
    [
      [days[0], 1],
      [days[1], 1],
      [days[2], 2],
    ],
  )
  const named = async (query: string) => (await usage(daemon, query)).map((row) => [row.session_id, row.calls])
  t.deepEqual(await named(`by=session&from=${days[1]}&to=${days[1]}`), [['b', 1]])
  t.deepEqual(await named(`by=session&to=${days[1]}`), [
    ['a', 1],
    ['b', 1],
  ])
  t.deepEqual(await named(`by=session&from=${days[2]}`), [
    ['a', 1],
    ['c', 1],
  ])
  t.deepEqual(await named('by=session&session_id=a'), [['a', 2]])
  t.deepEqual(await named('by=session&session_id=nobody'), [])
  for (const [query, calls] of [
    ['by=route', 4],
    ['by=route&session_id=a', 2],
    [`by=route&session_id=a&to=${days[1]}`, 1],
  ] as const)
    t.deepEqual(
      (await usage(daemon, query)).map((row) => [row.route, row.calls]),
      [['scripted', calls]],
      query,
    )
  const page = (await daemon.request('GET', '/v1/usage?by=session&page=true&limit=2')).body
  t.like(page.pagination, { total_count: 3, has_more: true })
  const next = (await daemon.request('GET', `/v1/usage?by=session&limit=2&cursor=${page.pagination.next_cursor}`)).body
  t.deepEqual(
    [...page.items, ...next.items].map(({ session_id }) => session_id),
    ['a', 'b', 'c'],
  )
  await run(daemon, 'd')
  t.deepEqual((await named('by=session')).at(-1), ['d', 1], 'also who came after the first look')
  for (const wrong of [
    'by=moon',
    'from=yesterday',
    'from=2026-13-01',
    'to=2026-02-30',
    'from=2026-02-02&to=2026-02-01',
    'limit=0',
  ])
    t.is((await daemon.request('GET', `/v1/usage?${wrong}`)).status, 400, wrong)
})

test('usage-3: on the command line what cost or used most comes first, and of a session that is not there nothing is said', async (t) => {
  const { daemon } = await start(t, (_, count) => says({ output_tokens: 10 * count }))
  for (const session of ['a', 'b', 'c']) await run(daemon, session)
  await openSession(daemon, 'idle')
  const line = createCommandLine(daemon)
  t.regex((await line('usage', '--by', 'session')).out, /^c .*\nb .*\na .*$/mu)
  t.deepEqual((await line('usage', '--by', 'session', '--output', 'json')).out.match(/(?<="session_id": ?")\w+/gu), [
    'a',
    'b',
    'c',
  ])
  t.like(await line('usage', '--session-id', 'idle'), { code: 0, out: 'Nothing was used.\n' })
  const nobody = await line('usage', '--session-id', 'nobody')
  t.like(nobody, { code: 1, out: '' })
  t.regex(nobody.err, /session_not_found/u)
  const turned = await line('usage', '--from', '2026-12-02', '--to', '2026-11-01')
  t.regex(turned.err, /--from must not be later than --to/u)
})

const prices = [
  { route: 'elsewhere', input: 9_000_000, output: 9_000_000 },
  { model: 'small*', input: 1_000_000, cached_input: 100_000, output: 2_000_000 },
  { route: 'scripted', model: 'large', input: 5_000_000, output: 10_000_001 },
  { model: 'l*', input: 1_000_000, output: 1_000_000 },
]

test('usage-1, usage-5: a call costs what the first price says that fits it, rounded up, and nothing without one', async (t) => {
  const { daemon } = await start(t, () => says({ cached_input_tokens: 40 }), { prices, price_version: 'v1' })
  const cost = async (model: string) => (await run(daemon, model, { generation: { model } })).usage.cost_microusd
  t.is(await cost('small-1'), 60 + 4 + 20)
  t.is(await cost('large'), 500 + 101)
  t.is(await cost('other'), undefined)
  t.like(await agree(t, daemon), { calls: 3, cost_microusd: 84 + 601 })
  t.like((await daemon.request('GET', '/v1/status')).body.budgets, {
    price_version: 'v1',
    day: { output_tokens: 30, cost_microusd: 84 + 601 },
  })
  await daemon.stop()
  const { stdout } = await import('node:child_process').then(({ spawnSync }) =>
    spawnSync('grep', ['-rhoE', '"cost_microusd":[0-9]+,"price":"[^"]+"', `${daemon.root}`], { encoding: 'utf8' }),
  )
  t.deepEqual([...new Set(stdout.trim().split('\n'))].toSorted(), [
    '"cost_microusd":601,"price":"v1"',
    '"cost_microusd":84,"price":"v1"',
  ])
})

test('usage-15: searches of servers are counted and cost what the price says', async (t) => {
  const priced = [
    { model: 'small', input: 0, output: 0, searches: 10_000_000 },
    { input: 0, output: 0 },
  ]
  const { daemon } = await start(t, () => says({ searches: 3 }), { prices: priced })
  t.like((await run(daemon, 'one', { generation: { model: 'small' } })).usage, { searches: 3, cost_microusd: 30_000 })
  t.like((await run(daemon, 'two', { generation: { model: 'free' } })).usage, { searches: 3, cost_microusd: 0 })
  t.like(await agree(t, daemon), { calls: 2, searches: 6, cost_microusd: 30_000 })
})

test('usage-15: a budget in dollars that searches have used up ends the run before its next call', async (t) => {
  const searching = { ...used, searches: 3 }
  const play = (): ModelEvent[] => [
    callTool('c1', 'bash', { command: 'true' }),
    { type: 'done', outcome: 'tool_calls', usage: searching },
  ]
  const priced = [{ input: 0, output: 0, searches: 10_000_000 }]
  const { daemon, calls } = await start(t, play, { prices: priced, max_run_cost_usd: 0.02 })
  const ended = await run(daemon, 'one')
  t.is(ended.status, 'failed')
  t.regex(JSON.stringify(ended), /budget_exhausted/u)
  t.is(calls(), 1)
})

test('usage-7: days are those of day_zone, or of UTC, and a zone that is none ends the start', async (t) => {
  const clock = createLeapingClock()
  clock.leap(day - (clock.now() % day) + 20 * 3_600_000)
  const utc = (ahead: number): string => new Date(clock.now() + ahead).toISOString().slice(0, 10)
  for (const [config, expected] of [
    [{}, utc(0)],
    [{ day_zone: 'Asia/Tokyo' }, utc(day)],
  ] as const) {
    const { daemon } = await start(t, () => says(), config, { clock })
    await run(daemon, 'one')
    t.deepEqual(
      (await usage(daemon)).map((row) => row.day),
      [expected],
    )
  }
  await t.throwsAsync(
    start(t, () => says(), { day_zone: 'Moon/Base' }),
    { message: /IANA time zone/u },
  )
})

test('usage-6: sums stay when runs fall', async (t) => {
  const [root, clock] = [await freshRoot(), createLeapingClock()]
  const daemon = await startTestDaemon(t, { root, clock, config: { retention: weekOfRuns } })
  const { run_id } = await run(daemon, 'one')
  const before = await usage(daemon)
  await retain(daemon, true)
  clock.leap(20 * day)
  await run(daemon, 'two')
  await retain(daemon, false)
  t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).status, 404)
  t.deepEqual((await usage(daemon))[0], before[0])
  await daemon.stop()
  t.deepEqual((await verifyShipped(root)).findings, [])
})

const errorOf = ({ status, error }: any): [string, string] => [status, error]

test('usage-8: a run stops before a call when its own budget, that of its session or that of the day is used up', async (t) => {
  const loop: Play = (_, count) => [
    callTool(`c${count}`, 'bash', { command: `echo ${count}` }),
    { type: 'done', outcome: 'tool_calls', usage: used },
  ]
  const own = await start(t, loop, { max_run_output_tokens: 25 })
  t.deepEqual(errorOf(await run(own.daemon, 'one')), [
    'failed',
    'budget_exhausted: the budget of the run is used up: 30 of 25 output tokens. It is not free again by itself: ' +
      'raise max_run_output_tokens or max_run_cost_usd in config/usage.toml and restart the daemon.',
  ])
  t.is(own.calls(), 3)
  const session = await start(t, () => says(), {
    max_session_cost_usd: 0.0002,
    prices: [{ input: 1_000_000, output: 0 }],
  })
  t.is((await run(session.daemon, 'one')).status, 'completed')
  t.is((await run(session.daemon, 'one')).status, 'completed')
  const [status, error] = errorOf(await run(session.daemon, 'one'))
  t.is(status, 'failed')
  t.true(error.startsWith('budget_exhausted: the budget of the session is used up: 0.0002 of 0.0002 USD. '), error)
  t.is((await run(session.daemon, 'other')).status, 'completed')
  for (const [limit, of, used_] of [
    [{ max_run_cost_usd: 0.00005 }, 'run', '0.0001 of 0.00005 USD'],
    [{ max_session_output_tokens: 5 }, 'session', '10 of 5 output tokens'],
    [{ max_day_cost_usd: 0.00005 }, 'day', '0.0001 of 0.00005 USD'],
  ] as const) {
    const { daemon, calls } = await start(t, loop, { ...limit, prices: [{ input: 1_000_000, output: 0 }] })
    const failed = await run(daemon, 'one')
    t.true(failed.error.startsWith(`budget_exhausted: the budget of the ${of} is used up: ${used_}. `), failed.error)
    t.is(calls(), 1)
  }
})

test('usage-8, usage-10: the budget of the day is free again on the next, and status says so with what to do', async (t) => {
  const clock = createLeapingClock()
  const { daemon } = await start(t, () => says(), { max_day_output_tokens: 10 }, { clock })
  const status = async (): Promise<any> => (await daemon.request('GET', '/v1/status')).body
  t.is((await run(daemon, 'one')).status, 'completed')
  const { budgets, health } = await status()
  t.like(budgets.day, { max_output_tokens: 10, output_tokens: 10, exhausted: true })
  const free = new Date(budgets.day.free_at_ms).toISOString().replace('.000', '')
  t.deepEqual(errorOf(await run(daemon, 'one')), [
    'failed',
    `budget_exhausted: the budget of the day is used up: 10 of 10 output tokens. It is free again at ${free}.`,
  ])
  const [warning] = health.warnings.filter(({ code }: any) => code === 'budget_exhausted')
  t.true(warning.action.includes(`holdfast usage --by session --from ${budgets.day.day}`), warning.action)
  clock.leap(budgets.day.free_at_ms - clock.now())
  t.false((await status()).budgets.day.exhausted)
  t.is((await run(daemon, 'one')).status, 'completed')
})

test('usage-9: of fifty runs at once against a budget for ten, none makes a call after the budget was used up', async (t) => {
  const { daemon, calls } = await start(
    t,
    async function* (_, count) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      yield callTool(`c${count}`, 'bash', { command: 'true' })
      yield { type: 'done', outcome: 'tool_calls', usage: used }
    },
    { max_day_output_tokens: 100 },
  )
  const runs = await Promise.all(Array.from({ length: 50 }, (_, at) => run(daemon, `s${at}`)))
  t.deepEqual(
    [...new Set(runs.map(({ status, error }) => `${status} ${error.split(':')[0]}`))],
    ['failed budget_exhausted'],
  )
  const { output_tokens = 0, calls: booked = 0 } = await agree(t, daemon)
  t.true(output_tokens < 100 + 50 * 10, `${output_tokens}`)
  t.is(booked, calls())
})

test('usage-8, usage-10: status says the limits, by default of runs alone; one in dollars needs prices', async (t) => {
  const ofRuns = { max_output_tokens: 1_000_000, max_cost_microusd: 500_000_000 }
  for (const [config, session, ofDay, isWarned] of [
    [{}, {}, undefined, false],
    [{ max_day_cost_usd: 1 }, {}, 1_000_000, true],
    [{ max_session_cost_usd: 1 }, { max_cost_microusd: 1_000_000 }, undefined, true],
    [{ max_day_cost_usd: 1, prices: [{ input: 1, output: 1 }] }, {}, 1_000_000, false],
  ] as const) {
    const { daemon } = await start(t, () => says(), unsafeCast<JsonObject>(config))
    const { budgets, health } = (await daemon.request('GET', '/v1/status')).body
    const said = JSON.stringify(config)
    t.deepEqual([budgets.run, budgets.session, budgets.day.max_cost_microusd], [ofRuns, session, ofDay], said)
    t.is(budgets.day.max_output_tokens, undefined)
    t.is(
      health.warnings.some(({ code }: any) => code === 'budget_without_prices'),
      isWarned,
      said,
    )
  }
})

test('usage-10: under a budget in dollars a model without a price is told with its name, of a route or once it is called', async (t) => {
  const said = async (daemon: Reachable) =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.find(
      ({ code }: any) => code === 'model_without_price',
    )?.message
  const free = (names: string): string =>
    `A budget is set in US dollars, and no price fits ${names}: ` +
    'calls of it count as free, and no such budget stops them.'
  const [elsewhere, anything] = [
    { model: 'gpt-*', input: 1, output: 1 },
    { input: 0, output: 0 },
  ]
  const own = 'scripted of the route scripted'
  const budgets = { max_day_cost_usd: 1, max_session_cost_usd: 1, max_run_cost_usd: 1 }
  for (const [budget, limit] of Object.entries(budgets)) {
    const { daemon } = await start(t, () => says(), { [budget]: limit, prices: [elsewhere] })
    t.is(await said(daemon), free(own), budget)
  }
  for (const config of [{ prices: [elsewhere] }, { max_day_cost_usd: 1, prices: [anything] }])
    t.is(await said((await start(t, () => says(), unsafeCast<JsonObject>(config))).daemon), undefined)
  const { daemon } = await start(t, () => says(), {
    max_day_cost_usd: 1,
    prices: [elsewhere, { model: 'scripted*', input: 1, output: 1 }],
  })
  t.is(await said(daemon), undefined)
  await run(daemon, 'one', { generation: { model: 'gpt-5' } })
  t.is(await said(daemon), undefined)
  await run(daemon, 'one', { generation: { model: 'other' } })
  t.is(await said(daemon), free('other of the route scripted'))
})

test('usage-8: a limit of less than a millionth of a dollar is one of a millionth, and not none', async (t) => {
  const [tiny, one] = [0.000_000_1, { max_cost_microusd: 1 }]
  const limits = { max_run_cost_usd: tiny, max_session_cost_usd: tiny, max_day_cost_usd: tiny }
  const { daemon } = await start(t, () => says(), limits)
  const { budgets } = (await daemon.request('GET', '/v1/status')).body
  t.deepEqual([budgets.run, budgets.session], [{ max_output_tokens: 1_000_000, ...one }, one])
  t.like(budgets.day, one)
})

test('usage-10: without prices nothing more counts towards a budget in dollars, and what had one still does', async (t) => {
  const root = await freshRoot()
  const prices = [{ input: 0, output: 1_000_000_000_000 }]
  const lives = [
    [{ max_day_cost_usd: 11, prices }, false],
    [{ max_day_cost_usd: 11 }, false],
    [{ max_day_cost_usd: 5 }, true],
  ] as const
  for (const [at, [config, isUsedUp]] of lives.entries()) {
    const { daemon } = await start(t, () => says(), unsafeCast<JsonObject>(config), { root })
    const said = JSON.stringify(config)
    t.is((await run(daemon, `s${at}`)).status, isUsedUp ? 'failed' : 'completed', said)
    const { health, budgets } = (await daemon.request('GET', '/v1/status')).body
    t.is(budgets.day.cost_microusd, 10_000_000, said)
    const told = health.warnings.find(({ code }: any) => code === 'budget_without_prices')
    const message = 'A budget is set in US dollars, and there are no prices: nothing more counts towards it.'
    t.is(told?.message, 'prices' in config ? undefined : message, said)
    t.is(
      health.warnings.some(({ code }: any) => code === 'budget_exhausted'),
      isUsedUp,
      said,
    )
    await daemon.stop()
  }
})

test('usage-11: metrics count calls, tokens and cost by route', async (t) => {
  const { daemon } = await start(t, () => says({ cached_input_tokens: 40, reasoning_tokens: 3 }), {
    prices: [{ input: 1_000_000, output: 0 }],
  })
  await run(daemon as TestDaemon, 'one')
  const families = readMetrics((await daemon.request('GET', '/metrics')).text)
  const value = (name: string, labels: string) => families.get(name)?.series.get(`${name}{${labels}}`)
  t.is(value('service_model_calls_total', 'route="scripted"'), 1)
  for (const [kind, tokens] of Object.entries({ input: 100, output: 10, cached_input: 40, reasoning: 3 }))
    t.is(value('service_model_tokens_total', `route="scripted",kind="${kind}"`), tokens, kind)
  t.is(value('service_model_cost_usd_total', 'route="scripted"'), 0.0001)
})

test('usage-11: the cost of many calls is the one of the books, to the last digit', async (t) => {
  const { daemon } = await start(t, () => says({}), { prices: [{ input: 1_000_000, output: 0 }] })
  for (const content of ['one', 'two', 'three']) await run(daemon as TestDaemon, content)
  const [{ cost_microusd }] = (await daemon.request('GET', '/v1/usage?by=route')).body
  const families = readMetrics((await daemon.request('GET', '/metrics')).text)
  const { series } = families.get('service_model_cost_usd_total') ?? { series: new Map() }
  t.is(series.get('service_model_cost_usd_total{route="scripted"}'), cost_microusd / 1e6)
})
