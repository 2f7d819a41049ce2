/** Programs of sidecars, with programs and time that a test makes. */
import { Readable } from 'node:stream'
import test from 'ava'
import type { Clock, Exit, SupervisedProgram, SupervisedWish } from '../../../../../core/plugin.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import {
  createChildren,
  daemonUrlOf,
  type ChildrenParts,
} from '../../../../../plugins/connectors/external/children/children.js'
import { environmentOf } from '../../../../../plugins/connectors/external/children/environment.js'
import { restartWaitMs } from '../../../../../plugins/connectors/external/children/pace.js'
import { faultOfTexts } from '../../../../../plugins/connectors/external/setup/texts.js'

const isOver = (signal?: AbortSignal): boolean => signal?.aborted === true

/** Nothing waits: each sleep is over at once, and the time has gone on by it. */
const createSwiftClock = (): Clock & { readonly slept: number[] } => {
  const slept: number[] = []
  let now = 0
  const due = new Map<() => void, number>()
  return {
    slept,
    now: () => now,
    elapsed: () => now,
    after(ms, callback) {
      due.set(callback, now + ms)
      return () => void due.delete(callback)
    },
    async sleep(ms, signal) {
      if (isOver(signal)) return false
      slept.push(ms)
      now += ms
      for (const [callback, at] of due) {
        if (at > now) continue
        due.delete(callback)
        callback()
      }
      await new Promise(setImmediate)
      // It may have aborted meanwhile.
      return !isOver(signal)
    },
  }
}

interface Made {
  readonly wish: SupervisedWish
  readonly end: (exit: Partial<Exit>) => void
  stops: number
}

const createPrograms = (says: (life: number) => string = () => '') => {
  const made: Made[] = []
  const stops: number[] = []
  const waiting = new Set<() => void>()
  return {
    made,
    stops,
    start(wish: SupervisedWish): Promise<SupervisedProgram> {
      let tell: (exit: Exit) => void = () => {}
      const exited = new Promise<Exit>((resolve) => {
        tell = resolve
      })
      const end = (exit: Partial<Exit>): void => tell({ started: true, lost: false, code: null, signal: null, ...exit })
      made.push({ wish, end, stops: 0 })
      for (const one of waiting) one()
      const program: Partial<SupervisedProgram> = {
        isThere: true,
        exited,
        stdout: Readable.from([]),
        stderr: Readable.from([Buffer.from(says(made.length))]),
        letGo: () => Promise.resolve(),
      }
      return Promise.resolve(unsafeCast<SupervisedProgram>(program))
    },
    remember: () => Promise.resolve(),
    stop(_: readonly SupervisedProgram[], grace_ms: number) {
      stops.push(grace_ms)
      return Promise.resolve({ found: 0, remaining: [], supported: true })
    },
    /** Resolves with this start, counted from 1. */
    async life(nth: number): Promise<Made> {
      for (let found = made[nth - 1]; ; found = made[nth - 1]) {
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          waiting.add(resolve)
        })
      }
    },
  }
}

type Answers = { manifest?: object; health?: object }
const good: Answers = { manifest: { instance_id: 'one' }, health: { instance_id: 'one', status: 'ready' } }
const asked = (value: object | undefined, code = 'outbound_connection_failed') =>
  value === undefined
    ? { type: 'failure', code }
    : 'code' in value
      ? { type: 'failure', ...value }
      : { type: 'answer', value }

const createFake = (says?: (life: number) => string) => {
  const clock = createSwiftClock()
  const programs = createPrograms(says)
  const told: object[] = []
  const counted: string[] = []
  const leases: string[] = []
  const listeners = new Set<(changed: { kind: 'external'; name: string }) => void>()
  const now: { answers: Answers; version: number; of: (life: number) => Answers } = {
    answers: good,
    version: 1,
    of: () => now.answers,
  }
  const settings = new Map<string, object>()
  const find = (_: unknown, name: string) => {
    const found = settings.get(name)
    return found && { kind: 'external', name, settings: found, secret: () => 'the-shared-token' }
  }
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (fact: string, details: unknown) => told.push({ fact, details }),
  }
  const parts = {
    clock,
    log,
    supervised: programs,
    guard: () => () => {},
    redact: (text: string) => text.replaceAll('the-shared-token', '[redacted]'),
    host: {
      workspaceRoot: '/workspace',
      phase: () => 'ready',
      controlPlane: () => ({ base_url: 'http://127.0.0.1:4000', bind_is_unspecified: false }),
    },
    slots: {
      find: () => ({ details: { version: now.version } }),
      onChange: (hear: any) => (listeners.add(hear), () => {}),
    },
    kind: {},
    connectors: {
      find,
      all: () => [...settings.keys()].map((name) => find({}, name)),
      onChange: (listener: any) => (listeners.add(listener), () => void listeners.delete(listener)),
      well: () => told.push({ state: 'ok' }),
      trouble: (_: string, __: string, { state, cause }: any) => told.push({ state, cause }),
    },
    credentials: {
      begin: () => (leases.push('begin'), Promise.resolve({ token: 'hft_lent', env_keys: ['KEY'] })),
      end: () => (leases.push('end'), Promise.resolve()),
    },
    client: {
      manifest: () => Promise.resolve(asked(now.of(programs.made.length).manifest)),
      health: () => Promise.resolve(asked(now.of(programs.made.length).health)),
    },
    manifests: { forget: () => {} },
    counts: { add: (_: string, what: string) => counted.push(what) },
  }
  const put = (name: string, more: object = {}): void => {
    const child_process = { command: 'box', args: ['--here'], env: { OF: 'the connector' } }
    settings.set(name, { mode: 'child_process', base_url: 'http://127.0.0.1:9', child_process, ...more })
  }
  const changed = (name: string): void => listeners.forEach((listener) => listener({ kind: 'external', name }))
  const children = createChildren(unsafeCast<ChildrenParts>(parts))
  return { clock, programs, told, counted, leases, now, settings, put, changed, children }
}

/** Until all that could happen at once has. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}

test('external-54: the waits before starts are those of the reference', (t) => {
  t.deepEqual(
    Array.from({ length: 8 }, (_, failures) => restartWaitMs('discord-main', failures)),
    [1341, 2374, 4183, 8203, 16_083, 32_165, 60_146, 60_132],
  )
})

test('external-52: a program sees the listed variables of the daemon, its own, and those that the daemon sets', (t) => {
  const facts = { name: 'box', base_url: 'http://127.0.0.1:9', daemon_base_url: 'http://127.0.0.1:4000' }
  const lent = { token: 'hft_lent', env_keys: ['A', 'B'] }
  const before = { ...process.env }
  process.env['SSL_CERT_DIR'] = '/certificates'
  process.env['LC_CTYPE'] = 'C'
  process.env['SERVICE_LOG_LEVEL'] = 'debug'
  const seen = environmentOf(
    { env: { HOME: '/home/box', SERVICE_EXTERNAL_CONNECTOR_TEST_MODE: 'true' } },
    { ...facts, shared_token: 'shared', lent },
    (text) => text,
  )
  process.env = before
  t.like(seen, { HOME: '/home/box', SSL_CERT_DIR: '/certificates', PATH: before['PATH'] })
  t.false('LC_CTYPE' in seen || 'SERVICE_LOG_LEVEL' in seen || 'USER' in seen)
  t.deepEqual(
    Object.entries(seen).filter(([name]) => name.startsWith('SERVICE_')),
    [
      ['SERVICE_EXTERNAL_CONNECTOR_TEST_MODE', 'true'],
      ['SERVICE_EXTERNAL_CONNECTOR_NAME', 'box'],
      ['SERVICE_EXTERNAL_CONNECTOR_BASE_URL', 'http://127.0.0.1:9'],
      ['SERVICE_EXTERNAL_CONNECTOR_DAEMON_BASE_URL', 'http://127.0.0.1:4000'],
      ['SERVICE_EXTERNAL_CONNECTOR_SHARED_TOKEN', 'shared'],
      ['SERVICE_EXTERNAL_CONNECTOR_CREDENTIAL_TOKEN', 'hft_lent'],
      ['SERVICE_EXTERNAL_CONNECTOR_CREDENTIAL_KEYS_JSON', '["A","B"]'],
    ],
  )
  const alone = environmentOf({}, { ...facts, shared_token: undefined, lent: undefined }, (text) => text)
  t.false(Object.keys(alone).some((name) => /TOKEN|CREDENTIAL/u.test(name)))
  t.is(daemonUrlOf({ base_url: 'http://0.0.0.0:4000', bind_is_unspecified: true }), 'http://127.0.0.1:4000')
  t.is(daemonUrlOf({ base_url: 'http://[::]:4000', bind_is_unspecified: true }), 'http://[::1]:4000')
})

test('external-51: what no program can be given is refused with its place', (t) => {
  t.is(faultOfTexts({ command: 'box', args: ['a'], env: { A: 'b' } }), undefined)
  t.is(faultOfTexts({ command: 'b\0x' })?.path, 'child_process.command')
  t.is(faultOfTexts({ command: 'box', args: ['', '\0'] })?.path, 'child_process.args')
  t.is(faultOfTexts({ command: 'box', env: { A: '\0' } })?.path, 'child_process.env')
})

test('external-50, external-55: any difference begins a program anew when nothing is left of the one before', async (t) => {
  const { put, changed, programs, children, leases, settings, now } = createFake()
  put('box')
  const end = children.begin()
  t.teardown(end)
  const { wish } = await programs.life(1)
  t.is(wish.folder, '/workspace')
  t.deepEqual(wish.run.slice(-2), ['box', '--here'])
  t.like(wish.environment, { OF: 'the connector', SERVICE_EXTERNAL_CONNECTOR_CREDENTIAL_KEYS_JSON: '["KEY"]' })
  changed('box')
  await settled()
  t.is(programs.made.length, 1, 'nothing differs')
  put('box', { platform: 'another' })
  changed('box')
  await programs.life(2)
  t.deepEqual([programs.stops, leases], [[10_000], ['begin', 'end', 'begin']])
  put('box', { platform: 'a third' })
  changed('box')
  put('box', { platform: 'a fourth' })
  changed('box')
  await programs.life(3)
  await settled()
  t.is(programs.made.length, 3, 'one that was replaced before it began does not begin')
  put('box', { child_process: { command: 'box', credential_slots: { KEY: 'slot' } } })
  changed('box')
  await programs.life(4)
  now.version = 2
  changed('box')
  await programs.life(5)
  put('box', { mode: 'remote_http' })
  changed('box')
  await settled()
  t.is(programs.stops.length, 5)
  settings.delete('box')
  changed('box')
  await end()
  t.deepEqual([programs.made.length, programs.stops.length], [5, 5])
  t.is(leases.filter((one) => one === 'begin').length, leases.filter((one) => one === 'end').length)
})

test('external-53, external-54, external-57: one that dies is told with its end and its last line, and waits longer each time', async (t) => {
  const { put, programs, children, told, counted, clock, now } = createFake(
    (life) => `life ${life}\nthe-shared-token \u001b[2J is wrong\n\n`,
  )
  put('discord-main')
  now.of = (life) => (life < 3 ? {} : good)
  const end = children.begin()
  t.teardown(end)
  ;(await programs.life(1)).end({ code: 3 })
  ;(await programs.life(2)).end({ signal: 'SIGSEGV' })
  await programs.life(3)
  await settled()
  ;(await programs.life(3)).end({ code: 0 })
  await programs.life(4)
  const waits = clock.slept.filter((ms) => ms > 1000 && ms !== 30_000)
  t.deepEqual(waits, [1341, 2374, 1341], 'anew after it was ready')
  t.deepEqual(counted, ['child_restart', 'child_restart', 'child_restart'])
  const said = '[redacted] \\u001b[2J is wrong'
  t.deepEqual(told.slice(0, 7), [
    { state: 'degraded', cause: 'Its program is starting.' },
    { state: 'deaf', cause: `Its program does not run: it ended with code 3: ${said}. It is started again in 1.3 s.` },
    { state: 'degraded', cause: 'Its program is starting.' },
    { state: 'deaf', cause: `Its program does not run: SIGSEGV ended it: ${said}. It is started again in 2.4 s.` },
    { state: 'degraded', cause: 'Its program is starting.' },
    { state: 'ok' },
    { state: 'deaf', cause: `Its program does not run: it ended with code 0: ${said}. It is started again in 1.3 s.` },
  ])
  await end()
})

test('external-53: it has 20 s to be ready as one instance, and another version is refused at once', async (t) => {
  const { put, programs, children, told, now, counted } = createFake()
  const causes = () => told.flatMap((one: any) => (one.state === 'deaf' ? [one.cause] : []))
  put('box')
  const one = { instance_id: 'one' }
  now.of = (life) =>
    [
      { manifest: one, health: { instance_id: 'two', status: 'ready' } },
      { manifest: one, health: { ...one, status: 'starting', detail: 'Wait.' } },
      { manifest: { code: 'sidecar_version_unsupported' } },
      { manifest: { code: 'outbound_answer_too_large' } },
    ][life - 1] ?? good
  const end = children.begin()
  t.teardown(end)
  await programs.life(5)
  await end()
  const late = 'it was not ready within 20 s:'
  t.deepEqual(
    causes().map((cause: string) => cause.slice('Its program does not run: '.length, cause.indexOf('. It is started'))),
    [
      `${late} its health is that of another instance than its manifest`,
      `${late} it says that it is starting: Wait`,
      'its manifest is of another protocol_version than 1',
      `${late} its manifest was answered with more than 64 KiB`,
    ],
  )
  t.is(counted.filter((what) => what === 'manifest_failure').length, 1)
  t.deepEqual(new Set(programs.stops), new Set([10_000]))
})

test('external-56: one that runs is looked at: what it says is told, and one that hangs is started again', async (t) => {
  const { put, programs, children, told, now, clock } = createFake()
  put('box')
  const end = children.begin()
  t.teardown(end)
  await programs.life(1)
  await settled()
  const looks = async (answers: Answers): Promise<void> => {
    now.answers = answers
    const before = clock.slept.length
    while (clock.slept.length < before + 2) await new Promise(setImmediate)
  }
  await looks({ ...good, health: { instance_id: 'one', status: 'degraded', detail: 'No network.' } })
  await looks(good)
  await looks({ ...good, health: { instance_id: 'one', status: 'draining' } })
  await looks({ manifest: { instance_id: 'two' }, health: { instance_id: 'two', status: 'ready' } })
  now.answers = {}
  await programs.life(2)
  await end()
  t.deepEqual(told.slice(1, 8), [
    { state: 'ok' },
    { state: 'degraded', cause: 'Its program runs, and it says that it is degraded: No network.' },
    { state: 'ok' },
    { state: 'degraded', cause: 'Its program runs, and it says that it is draining.' },
    { state: 'ok' },
    { state: 'degraded', cause: 'Its program runs, and its manifest cannot be asked: nothing listens at base_url.' },
    {
      state: 'deaf',
      cause:
        'Its program does not run: it ran and could not be used for 120 s: its manifest cannot be asked: nothing ' +
        'listens at base_url. It is started again in 1.4 s.',
    },
  ])
})
