import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { object, string } from '../../../../core/plugin.js'
import { nextStep, showStatus } from '../../../../plugins/operator/status/summary.js'
import { runStatuses } from '../../../../plugins/execution/runs/contract.js'
import { Capabilities, StatusSections } from '../../../../plugins/operator/status/contract.js'
import { mainFile, startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

const contributor = testPlugin('contributor', {
  register(ctx) {
    ctx.contribute(StatusSections, {
      name: 'weather',
      schema: object({ sky: string() }),
      collect: () => ({ sky: 'blue' }),
    })
    ctx.contribute(StatusSections, {
      name: 'broken',
      schema: object({}),
      collect: () => {
        throw new RangeError('not today')
      },
    })
    ctx.contribute(Capabilities, { name: 'weather_reports', value: true })
    ctx.health({
      id: 'weather',
      check: () => [{ severity: 'warning', code: 'rain_soon', message: 'It may rain.', action: 'Take an umbrella.' }],
    })
  },
})

test('runtime-6: the status tells of the daemon, its plugins, its storage and what plugins add', async (t) => {
  const { request, root, daemon } = await startTestDaemon(t, { plugins: [contributor] })
  const { status, body } = await request('GET', '/v1/status')
  t.is(status, 200)
  t.is(body.status, 'ready')
  t.is(body.process_id, process.pid)
  t.deepEqual(body.weather, { sky: 'blue' })
  t.is(body.storage.probes[0].path, root)
  t.is(body.storage.probes[0].code, 'state_root_writable')
  t.is(body.storage.state_root_lock.held, true)
  t.is(body.control_plane.base_url, daemon.url)
  t.is(body.events.history_capacity, 2048)
  t.true(['contributor', 'sessions', 'status'].every((id) => body.plugins.some((plugin: any) => plugin.id === id)))
  t.true(
    body.plugins.every(
      ({ start_ms, state }: { start_ms: number; state: string }) => start_ms >= 0 && state === 'ready',
    ),
  )
  t.is(body.capabilities.weather_reports, true)
  t.is(body.capabilities.session_events, true)
})

test('runtime-38: the runtime tells the limits of starts, and the capabilities say what of agents there is', async (t) => {
  const rule = { selector: { profile: 'plan' }, limits: { max_spawns_per_run: 1 }, label: 'plans are rare' }
  const { request } = await startTestDaemon(t, { config: { sidechains: { max_child_depth: 2, rules: [rule] } } })
  const { body } = await request('GET', '/v1/status')
  const { subagent_policy } = (await request('GET', '/v1/runtime')).body
  t.like(subagent_policy, { max_child_depth: 2, max_spawns_per_run: 6, spawn_rate_window_ms: 60_000 })
  t.deepEqual(subagent_policy.rules, [rule])
  t.deepEqual(body.runtime.subagent_policy, subagent_policy)
  const { sidechains, mailboxes, spawn_policies, agent_supervisor_audit } = body.capabilities
  t.deepEqual([sidechains, mailboxes, spawn_policies, agent_supervisor_audit], [true, true, true, true])
})

test('runtime-7: a section that throws is left out, told, and takes nothing with it', async (t) => {
  const { request } = await startTestDaemon(t, { plugins: [contributor] })
  const { body } = await request('GET', '/v1/status')
  t.is(body.broken, undefined)
  t.deepEqual(
    body.health.warnings.map(({ code }: { code: string }) => code),
    ['status_section_failed', 'rain_soon'],
  )
  t.is(body.health.ok, false)
})

test('runtime-4: capabilities are what plugins claim, and no more', async (t) => {
  const { request } = await startTestDaemon(t)
  const { body } = await request('GET', '/v1/capabilities')
  const always = {
    control_plane_version: 'v1',
    api_revision: 3,
    route_capability_matrix_version: 2,
    live_events: true,
    sse_replay: true,
    typed_sse_heartbeat: true,
    openapi: true,
    problem_details: true,
    cursor_pagination: true,
    paginated_lists: true,
    domain_errors: true,
  }
  const later = { sidechains: true, mailboxes: true, agent_supervisor_audit: true, spawn_policies: true }
  t.like(body, { ...always, ...later, approvals: true, session_events: true, restart_restore: true })
  t.deepEqual((await request('GET', '/v1/status')).body.capabilities, body)
})

test('runtime-8: holdfast status prints a summary whose last line is the next step, and JSON when asked', async (t) => {
  const { url } = await startTestDaemon(t)
  const call = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [mainFile, 'status', '--base-url', url, ...args])).stdout
  const text = await call()
  t.regex(text, /^Holdfast \d+\.\d+\.\d+ is ready: process \d+/u)
  t.regex(text.trimEnd().split('\n').at(-1) ?? '', /^Next: Create a session: holdfast sessions create/u)
  t.is(JSON.parse(await call('--output', 'json')).status, 'ready')
})

const runs = {
  total: 0,
  queued: 0,
  running: 0,
  waiting_for_approval: 0,
  waiting_for_user_question: 0,
  completed: 0,
  failed: 0,
  interrupted: 0,
  cancelled: 0,
}
type Facts = Parameters<typeof nextStep>[0]
const facts = (more: Partial<Facts>): Facts => ({
  status: 'ready',
  version: '1',
  process_id: 1,
  snapshot_at_ms: 90_000,
  started_at_ms: 0,
  boot: { total_ms: 5 },
  control_plane: { base_url: 'http://h', auth_enabled: false },
  storage: { ok: true, probes: [{ path: '/s', code: 'x' }], state_root_lock: { generation: 1 } },
  plugins: [],
  sessions: { total: 1 },
  runs,
  health: {},
  ...more,
})

test('runtime-8: the line of the runs tells of every status that a run can have', (t) => {
  const text = showStatus(facts({ runs: { ...runs, ...Object.fromEntries(runStatuses.map((status) => [status, 7])) } }))
  for (const status of runStatuses) t.true(text.includes(`7 ${status.replaceAll('_', ' ')}`), status)
})

test('the newest archive of each kind is named', (t) => {
  const fallen = [
    { kind: 'runs', archive: '/a/runs-1' },
    { kind: 'runs', archive: '/a/runs-2' },
    { kind: 'receipts', archive: '/a/receipts-3' },
    { kind: 'receipts' },
  ]
  const text = showStatus(facts({ retention: { fallen } }))
  t.deepEqual(text.match(/(?<=^ {2}archive +)\/.*$/gmu), ['/a/runs-2', '/a/receipts-3'])
})

test('runtime-8: calls that are held back are told with the time of the next one, and Next says so where work waits', (t) => {
  const until_ms = Date.parse('2026-01-31T07:30:03Z')
  const route = { route_id: 'r', model: 'm', active: true, state: 'ok', message: 'Ready.', held: [{ until_ms }] }
  const other = { ...route, route_id: 'other', active: false }
  const warning = { severity: 'warning', code: 'provider_route_failing', message: 'm', action: 'Mend it.' }
  const of = (more: object, running = 1): Facts => {
    const one = { ...route, ...more }
    const routes = [one, { ...other, ...(one.active ? {} : { waiting_calls: 2 }) }]
    return facts({ provider_readiness: { routes }, runs: { ...runs, running }, health: { warnings: [warning] } })
  }
  const text = showStatus(of({}))
  t.regex(text, /^ {2}model {5}r\/m, ready; calls held back until 07:30:03 UTC$/mu)
  t.regex(text, /^ {2}routes {4}r \(calls held back\), other \(calls held back\)$/mu)
  t.regex(showStatus(of({ state: 'warning' })), /r\/m is not ready: Ready\.; calls held back until 07:30:03 UTC$/mu)
  t.is(nextStep(of({})), 'Calls of r wait until 07:30:03 UTC, as its server asked: holdfast runs list')
  t.regex(nextStep(of({ active: false })), /^Calls of other wait/u)
  t.is(nextStep(of({ held: undefined })), 'provider_route_failing: Mend it.')
  t.is(nextStep(of({}, 0)), 'provider_route_failing: Mend it.')
})

test('runtime-8: the next step is the most urgent thing', (t) => {
  const warning = { severity: 'warning', code: 'w', message: 'm', action: 'Do this.' }
  t.regex(nextStep(facts({})), /^Nothing needs you/u)
  t.regex(nextStep(facts({ sessions: { total: 0 } })), /sessions create/u)
  t.regex(nextStep(facts({ runs: { ...runs, running: 1 } })), /events stream/u)
  const info = { severity: 'info', code: 'i', message: 'm' }
  const note = { ...info, action: 'Or this.' }
  t.is(nextStep(facts({ health: { warnings: [info, note] } })), 'i: Or this.')
  t.is(nextStep(facts({ health: { warnings: [note, warning] } })), 'w: Do this.')
  t.regex(nextStep(facts({ health: { warnings: [note] }, runs: { ...runs, running: 1 } })), /events stream/u)
  t.regex(nextStep(facts({ health: { warnings: [info] } })), /^Nothing needs you/u)
  t.is(nextStep(facts({ health: { warnings: [warning] } })), 'w: Do this.')
  t.regex(
    nextStep(facts({ runs: { ...runs, waiting_for_user_question: 1 }, health: { warnings: [warning] } })),
    /^1 run waits for an answer: holdfast questions list/u,
  )
  t.regex(
    nextStep(facts({ runs: { ...runs, waiting_for_approval: 2, waiting_for_user_question: 1 } })),
    /^2 runs wait for approval: holdfast approvals list/u,
  )
  t.is(
    nextStep(
      facts({
        runs: { ...runs, waiting_for_approval: 2 },
        health: { warnings: [{ severity: 'error', code: 'disk_full', message: 'm' }] },
      }),
    ),
    'See to disk_full.',
  )
  t.regex(nextStep(facts({ status: 'draining' })), /holdfast serve/u)
})

test('an action stands below its own warning, also where it is the next step', (t) => {
  const of = (code: string) => ({ severity: 'warning', code, message: `${code} is odd.`, action: `Mend ${code}.` })
  const text = showStatus(facts({ health: { warnings: [of('a'), of('b')] } }))
  for (const code of ['a', 'b']) t.true(text.includes(`  warning ${code}: ${code} is odd.\n    Mend ${code}.\n`), text)
  t.true(text.endsWith('Next: a: Mend a.'))
})

test('a summary shows counts, odd plugins and warnings', (t) => {
  const status = facts({
    runs: { ...runs, total: 3, waiting_for_approval: 1, completed: 2 },
    plugins: [
      { id: 'a', state: 'ready' },
      { id: 'b', state: 'failed' },
    ],
    health: { warnings: [{ severity: 'warning', code: 'w', message: 'Look.' }] },
  })
  const text = showStatus(status)
  for (const part of [
    'up 1 min',
    '3: 1 waiting for approval, 2 completed',
    '1 ready; b is failed\n',
    'warning w: Look.',
    'Next: 1 run waits',
  ])
    t.true(text.includes(part), part)
})

test('runtime-8: of many plugins that are in one state the count is told, and what they wait for', (t) => {
  const plugins = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, state: 'registered' }))
  const { storage } = facts({})
  const line = (ok: boolean): string | undefined =>
    showStatus(facts({ plugins, storage: { ...storage, ok } }))
      .split('\n')
      .find((one) => one.startsWith('  plugins'))
  t.is(line(false), '  plugins   0 ready; 5 wait for storage: a, b, c, …')
  t.is(line(true), '  plugins   0 ready; 5 are registered: a, b, c, …')
})

test('the line of the model makes sense with and without a model, ready or not', (t) => {
  const lineOf = (model: string, state: string): string | undefined => {
    const route = { route_id: 'openai_compatible', model, active: true, state, message: 'The provider needs a model.' }
    return /^ {2}model +(.*)$/mu.exec(showStatus(facts({ provider_readiness: { routes: [route] } })))?.[1]
  }
  t.is(lineOf('small', 'ok'), 'openai_compatible/small, ready')
  t.is(lineOf('', 'ok'), 'openai_compatible, ready')
  t.is(lineOf('', 'error'), 'openai_compatible is not ready: The provider needs a model.')
  t.is(lineOf('small', 'error'), 'openai_compatible/small is not ready: The provider needs a model.')
})

test('several routes are named in one line, those that are not ready as such', (t) => {
  const route = (route_id: string, state: string) => ({ route_id, model: 'm', active: false, state, message: 'No.' })
  const lineOf = (routes: ReturnType<typeof route>[]): string | undefined =>
    /^ {2}routes +(.*)$/mu.exec(showStatus(facts({ provider_readiness: { routes } })))?.[1]
  t.is(lineOf([route('a', 'ok')]), undefined)
  t.is(lineOf([route('a', 'ok'), route('b\u001b[1m', 'error')]), 'a, b\\u001b[1m (not ready)')
  t.regex(lineOf(Array.from({ length: 30 }, (_, n) => route(`r${n}`, 'ok'))) ?? '', /r19, …$/u)
})
