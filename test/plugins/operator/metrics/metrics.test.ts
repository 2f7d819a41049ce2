/** What the daemon measures, as Prometheus reads it. */
import { spawnSync } from 'node:child_process'
import test from 'ava'
import { Metrics, unsafeCast, type Metric } from '../../../../core/plugin.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { testPlugin } from '../../../support/plugins.js'
import { fallen, readMetrics } from '../../../support/prometheus.js'
import { openSession, submit, until } from '../../../support/runs.js'

const config = { tools: { permission_mode: 'bypassPermissions' } }
const scrape = async ({ request }: Pick<TestDaemon, 'request'>) => readMetrics((await request('GET', '/metrics')).text)

const runOnce = async (daemon: TestDaemon, session: string, content = 'hello'): Promise<string> => {
  await openSession(daemon, session)
  const { run_id } = await submit(daemon, session, content)
  await until(daemon, run_id, 'completed')
  return run_id
}

const promtool = (text: string) => spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

test('metrics-1: GET /metrics is text that Prometheus reads, and nothing in it repeats', async (t) => {
  const daemon = await startTestDaemon(t, {
    config,
    flags: { 'http-admin-token': 'admin-token-1', 'http-readonly-token': 'read-token-1' },
    headers: { authorization: 'Bearer admin-token-1' },
  })
  await runOnce(daemon, 'one', '/tool bash {"command":"true"}\n/say done')
  t.is((await daemon.request('GET', '/metrics', undefined, { authorization: '' })).status, 401)
  const reader = { authorization: 'Bearer read-token-1' }
  const { status, headers, text } = await daemon.request('GET', '/metrics', undefined, reader)
  t.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  const families = readMetrics(text)
  const value = (name: string, labels = ''): number | undefined => families.get(name)?.series.get(name + labels)
  t.is(value('service_runs', '{status="completed"}'), 1)
  t.is(value('service_runs_ended_total', '{route="demo",status="completed"}'), 1)
  t.is(value('service_run_queue_lag_seconds'), 0)
  t.is(value('service_http_requests_total', '{route="sessions.create",status="2xx"}'), 1)
  t.is(
    families
      .get('service_model_attempt_seconds')
      ?.series.get('service_model_attempt_seconds_count{route="demo",result="answered"}'),
    2,
  )
  t.is(
    families
      .get('service_tool_call_seconds')
      ?.series.get('service_tool_call_seconds_count{tool="bash",result="answered"}'),
    1,
  )
  t.true((value('service_commits_total') ?? 0) >= 3)
  t.true((value('service_commit_bytes_total') ?? 0) > 1000)
  t.true((value('service_process_resident_memory_bytes') ?? 0) > 1e6)
  for (const name of ['service_deliveries', 'service_schedules'])
    t.true((families.get(name)?.series.size ?? 0) > 0, name)
  const looks = async (): Promise<number> => {
    const { series } = (await scrape(daemon)).get('service_event_loop_delay_seconds') ?? {}
    return series?.get('service_event_loop_delay_seconds_count') ?? 0
  }
  let seen = 0
  for (let left = 200; seen === 0 && left > 0; left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    seen = await looks()
  }
  t.true(seen > 0)
})

test('metrics-1: the queue lag is how long the first queued run has waited', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { config, clock, flags: { hold: 'true' } })
  await openSession(daemon, 'one')
  await submit(daemon, 'one', 'first')
  clock.leap(60_000)
  await submit(daemon, 'one', 'second')
  const lag = (await scrape(daemon)).get('service_run_queue_lag_seconds')?.series.get('service_run_queue_lag_seconds')
  t.true(lag !== undefined && lag >= 60 && lag < 120, `${lag}`)
})

const withPromtool = hasPromtool ? test : test.skip
withPromtool('metrics-1: promtool finds nothing to say', async (t) => {
  const daemon = await startTestDaemon(t, { config })
  await runOnce(daemon, 'one', '/tool bash {"command":"true"}\n/say done')
  const { status, stdout, stderr } = promtool((await daemon.request('GET', '/metrics')).text)
  t.deepEqual([status, stdout, stderr], [0, '', ''])
})

test('metrics-2: counts never fall while the daemon lives, and say nothing of ids and of what callers write', async (t) => {
  const daemon = await startTestDaemon(t, { config })
  await runOnce(daemon, 'canary-session')
  const before = await scrape(daemon)
  const run_id = await runOnce(daemon, 'other', 'canary-text')
  await daemon.request('GET', '/canary-path')
  const wish = { content: 'x', generation: { model: 'canary-model' } }
  const { body } = await daemon.request('POST', '/v1/sessions/other/runs', wish)
  await until(daemon, body.run_id, 'completed')
  const { text } = await daemon.request('GET', '/metrics')
  t.deepEqual(fallen(before, readMetrics(text)), [])
  t.false(text.includes('canary') || text.includes(run_id))
})

test('metrics-3: what cannot be collected is left out and told, and takes nothing with it', async (t) => {
  const odd: Metric = {
    name: 'service_odd',
    help: 'A back\\slash and\na line.',
    type: 'gauge',
    collect: () => [
      { labels: { of: 'a "b" \\ c\nd' }, value: Infinity },
      { value: 1e21 },
      { labels: { of: 'e' }, value: 1e-7 },
    ],
  }
  const broken: Metric = {
    ...odd,
    name: 'service_broken',
    collect: () => {
      throw new Error('this one is broken')
    },
  }
  const plugin = testPlugin('measures', { register: (ctx) => void ctx.contribute(Metrics, broken, odd) })
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const families = await scrape(daemon)
  t.deepEqual(
    [...(families.get('service_odd')?.series ?? [])],
    [
      ['service_odd{of="a \\"b\\" \\\\ c\\nd"}', Infinity],
      ['service_odd', 1e21],
      ['service_odd{of="e"}', 1e-7],
    ],
  )
  t.false(families.has('service_broken'))
  t.true(daemon.log.some(({ fact }) => fact === 'a metric could not be collected'))
})

test('metrics-4: a metric that would make all of it unreadable is refused when it is contributed', async (t) => {
  const right: Metric = {
    name: 'service_met_calls_total',
    help: 'Calls.',
    type: 'counter',
    collect: () => [{ value: 1 }],
  }
  const wrong: Record<string, unknown> = {
    dashed: { ...right, name: 'service_met-calls' },
    blank: { ...right, name: 'service_met calls' },
    summary: { ...right, type: 'summary' },
    unbound: { ...right, type: 'histogram', collect: () => [] },
    falling: { ...right, type: 'histogram', bounds: [2, 1], collect: () => [] },
    level: { ...right, type: 'histogram', bounds: [1, 1], collect: () => [] },
    endless: { ...right, type: 'histogram', bounds: [1, Infinity], collect: () => [] },
    nameless: { ...right, name: '' },
    foreign: { ...right, name: 'met_calls_total' },
    untold: { ...right, name: 'service_met_calls' },
  }
  const plugins = Object.entries(wrong).map(([id, metric]) =>
    testPlugin(id, { register: (ctx) => void ctx.contribute(Metrics, unsafeCast<Metric>(metric)) }),
  )
  const daemon = await startTestDaemon(t, { plugins })
  const { body } = await daemon.request('GET', '/v1/status')
  const reasons: { id: string; state: string; reason?: string }[] = body.plugins.filter(
    ({ id }: { id: string }) => id in wrong,
  )
  t.deepEqual(
    reasons.filter(({ state }) => state === 'failed').map(({ id }) => id),
    Object.keys(wrong),
  )
  t.regex(
    reasons.find(({ id }) => id === 'dashed')?.reason ?? '',
    /"service_met-calls" of a metric must be of letters/u,
  )
  for (const [id, rule] of Object.entries({ foreign: /must begin with service_/u, untold: /must end with _total/u }))
    t.regex(reasons.find((reason) => reason.id === id)?.reason ?? '', rule)
  t.true((await scrape(daemon)).size > 20)
})

test('metrics-4: labels and values that could not be read are left out, and of one name the first is told', async (t) => {
  const of = (name: string, samples: unknown): Metric => ({
    name,
    help: 'One.',
    type: 'gauge',
    collect: () => unsafeCast<{ value: number }[]>(samples),
  })
  const bounds = { help: 'H.', type: 'histogram', bounds: [1] } as const
  const metrics: Metric[] = [
    of('service_met_blank', [{ labels: { 'bad label': 'x' }, value: 1 }]),
    of('service_met_own', [{ labels: { __name__: 'x' }, value: 1 }]),
    of('service_met_number', [{ labels: { of: 5 }, value: 1 }]),
    of('service_met_text', [{ value: '1' }]),
    of('service_met_twice', [{ value: 1 }, { value: 2 }]),
    { ...bounds, name: 'service_met_le', collect: () => [{ labels: { le: '1' }, buckets: [1, 1], sum: 1 }] },
    { ...bounds, name: 'service_met_short', collect: () => [{ buckets: [1], sum: 1 }] },
    { ...bounds, name: 'service_met_long', collect: () => [{ buckets: [1, 1, 1], sum: 1 }] },
    of('service_event_loop_delay_seconds', [{ value: 1 }]),
    of('service_met_right', [{ value: 1 }]),
  ]
  const plugin = testPlugin('measures', { register: (ctx) => void ctx.contribute(Metrics, ...metrics) })
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const families = await scrape(daemon)
  t.deepEqual(
    [...families.keys()].filter((name) => name.startsWith('service_met_')),
    ['service_met_right'],
  )
  t.false(families.get('service_event_loop_delay_seconds')?.series.has('service_event_loop_delay_seconds'))
  const told = daemon.log.filter(({ fact }) => fact === 'a metric could not be collected')
  t.is(told.length, 8)
})

test('the reader of the tests refuses what a scraper could stumble over', (t) => {
  const head = '# HELP service_a One.\n# TYPE service_a gauge\n'
  t.is(readMetrics(`${head}service_a 1\n`).size, 1)
  for (const wrong of [
    `${head}service_a 1`,
    `${head}service_a 1\nservice_a 2\n`,
    `${head}service_a{b="c} 1\n`,
    `${head}service_b 1\n`,
    `${head}${head}`,
    '# TYPE service_a gauge\nservice_a 1\n',
    '# HELP service_a One.\n# TYPE service_a counter\nservice_a 1\n',
    '# HELP service_h H.\n# TYPE service_h histogram\nservice_h_bucket{le="1"} 2\nservice_h_bucket{le="+Inf"} 1\n',
  ])
    t.throws(() => readMetrics(wrong), undefined, wrong)
})
