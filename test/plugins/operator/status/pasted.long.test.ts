/** Warnings made real: what they say to paste is taken by the command line, and does what the warning says. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { parseArguments, switchesOf } from '../../../../core/cli/arguments.js'
import { allCommands } from '../../../../core/cli/client-line.js'
import { findCommand, givenOf } from '../../../../core/cli/dispatch.js'
import { shipped } from '../../../../core/shipped.js'
import { freshRoot, mainFile, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { makeSchedule } from '../../../support/schedules.js'

const commands = await allCommands(shipped)

interface Told {
  readonly code: string
  readonly message: string
  readonly action?: string
  readonly related_id?: string
}
const warningsOf = ({ daemon }: TestDaemon): readonly Told[] => daemon.view.warnings()

/** Command lines in a sentence: each ends with the sentence, or where the sentence goes on. */
const linesIn = (action: string): string[] =>
  [...action.matchAll(/\bholdfast (?!serve)(.+?)(?=\.? [A-Z][a-z]|\.? and start again|, |; |\.?$)/gu)].map(
    ([, line = '']) => line,
  )
/** As a shell would take them apart. */
const wordsOf = (line: string): string[] =>
  spawnSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    .stdout.trimEnd()
    .split('\n')

/** Fails for a line that the command line would refuse before it asks anybody, and for routes in place of lines. */
const checkLines = (t: ExecutionContext, warnings: readonly Told[]): void => {
  for (const { code, message, action = '' } of warnings) {
    t.notRegex(`${message} ${action}`, /\b(?:GET|POST|PUT|PATCH|DELETE) \/v1/u, code)
    for (const line of linesIn(action)) {
      const given = parseArguments(wordsOf(line), switchesOf(commands))
      t.notThrows(() => givenOf(findCommand(given, commands), given), `${code}: holdfast ${line}`)
    }
  }
}

const find = (t: ExecutionContext, warnings: readonly Told[], code: string, about?: string): Told => {
  const found = warnings.find((one) => one.code === code && (about === undefined || one.related_id === about))
  t.truthy(found, `${code} is not among ${warnings.map((one) => one.code).join(', ')}`)
  return found ?? { code, message: '' }
}

/** Runs the first command line of a warning as a person would; its exit code, and what it said. */
const paste = (t: ExecutionContext, { url }: TestDaemon, { action = '' }: Told, input = ''): Promise<string> =>
  new Promise((resolve) => {
    const [line = ''] = linesIn(action)
    t.not(line, '', action)
    const child = execFile(process.execPath, [mainFile, ...wordsOf(line), '--base-url', url], (error, out, err) =>
      resolve(`${error?.code ?? 0} ${out}${err}`),
    )
    child.stdin?.end(input)
  })

const hooks = { pre_tool_use: [{ name: 'guard', executor: { type: 'command', command: 'true' } }] }
const setHooks = ({ request }: TestDaemon, to: object) =>
  request('POST', '/v1/runtime/hooks', { settings: { hooks: to } })

test('secrets-5, runtime-40: what is told of a lost key makes a new one and lifts locked settings when it is pasted', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await first.request('POST', '/v1/runtime/secrets', { slot_id: 'mail', state: { value: 'canary' } })
  t.is((await setHooks(first, hooks)).status, 200)
  await first.stop()
  rmSync(join(root, 'secrets'), { recursive: true })
  const second = await startTestDaemon(t, { root })
  const warnings = warningsOf(second)
  checkLines(t, warnings)
  t.regex(await paste(t, second, find(t, warnings, 'setting_locked')), /^0 Done\./u)
  t.false(warningsOf(second).some(({ code }) => code === 'setting_locked'))
  await openSession(second)
  t.is((await second.request('POST', '/v1/sessions/s1/runs', { content: 'hello' })).status, 202)
  const [, line = ''] =
    /one: (.*) and start again\.$/u.exec(find(t, warnings, 'secrets_key_unusable').action ?? '') ?? []
  t.deepEqual([spawnSync('sh', ['-c', line]).status, existsSync(join(root, 'secrets/slots.key'))], [0, true])
  const missing = find(t, warnings, 'secrets_key_missing')
  t.true(
    missing.action?.includes(
      `If it is lost for good, make a new one: ${line} and start again; store the secret again: `,
    ),
  )
  await second.stop()
  const third = await startTestDaemon(t, { root })
  t.false(warningsOf(third).some(({ code }) => code === 'secrets_key_unusable'))
  t.notRegex(find(t, warningsOf(third), 'secrets_key_missing').action ?? '', /new one/u, 'there is one now')
  t.is((await third.request('POST', '/v1/runtime/secrets', { slot_id: 'mail', state: { value: 'x' } })).status, 200)
})

test('runtime-40: a secret setting that holds nothing is locked by no lost key', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await setHooks(first, hooks)
  await setHooks(first, {})
  await first.request('POST', '/v1/runtime/secrets', { slot_id: 'mail', state: { value: 'canary' } })
  await first.stop()
  rmSync(join(root, 'secrets'), { recursive: true })
  const second = await startTestDaemon(t, { root })
  t.false(warningsOf(second).some(({ code }) => code === 'setting_locked'))
  await openSession(second)
  t.is((await second.request('POST', '/v1/sessions/s1/runs', { content: 'hello' })).status, 202)
})

test('models-12: a route whose stored key is missing or was revoked says the line that stores it', async (t) => {
  const flags = {
    provider: 'openai_compatible',
    'provider-base-url': 'http://127.0.0.1:9/',
    model: 'm',
    'auth-ref': 'key',
  }
  const daemon = await startTestDaemon(t, { flags })
  const told = () => warningsOf(daemon).filter(({ code }) => code === 'provider_active_route_not_ready')
  for (const before of [
    () => Promise.resolve(),
    () => daemon.request('POST', '/v1/runtime/auth/slots/key/revoke').then(() => {}),
  ]) {
    await before()
    checkLines(t, warningsOf(daemon))
    t.regex(await paste(t, daemon, find(t, told(), 'provider_active_route_not_ready'), 'value\n'), /^0 key /u)
    t.deepEqual(told(), [])
  }
})

test('a plugin that needs one which did not come up says so, and names no file that is not there', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'usage.toml'), 'colour = "red"\n')
  const daemon = await startTestDaemon(t, { root, flags: { safe: 'true' } })
  const warnings = warningsOf(daemon)
  checkLines(t, warnings)
  t.regex(find(t, warnings, 'plugin_not_loaded', 'usage').message, /config\/usage\.toml:1/u)
  for (const { action = '' } of warnings.filter(({ code }) => code === 'plugin_not_loaded'))
    for (const [file] of action.matchAll(/config\/[\w-]+\.toml/gu)) t.true(existsSync(join(root, file)), action)
  t.regex(find(t, warnings, 'plugin_not_loaded', 'goals').action ?? '', /^Mend what the sentence names/u)
})

test('a plugin whose folder is not there names its table, and no file that is not there', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'plugins.toml'), '[dice]\nfrom = "state:dice"\n')
  const { action = '' } = find(t, warningsOf(await startTestDaemon(t, { root })), 'plugin_not_loaded', 'dice')
  t.deepEqual(action.match(/config\/[\w-]+\.toml/gu), ['config/plugins.toml'])
})

test('runtime-9: a run that lags, one that stands still and a schedule that is due are told with lines to paste', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: {
      runs: { queued_run_lag_warning_threshold_ms: 1, stale_non_terminal_run_threshold_ms: 1 },
      schedules: { dispatch_enabled: false, lag_warning_threshold_ms: 1 },
    },
  })
  t.is((await daemon.request('GET', '/v1/status')).body.health.scheduler_lag_ms, undefined)
  await openSession(daemon)
  const { run_id: still } = await submit(daemon, 's1', '/sleep 3600000')
  await until(daemon, still, 'running')
  const { run_id: queued } = await submit(daemon, 's1', 'hello')
  const { schedule_id } = await makeSchedule(daemon, { cadence: { type: 'once', fire_at_ms: 1 } })
  const pause = createPause()
  const lags = () => new Set(warningsOf(daemon).map(({ code }) => code))
  while (!lags().has('queued_run_lag') || !lags().has('stale_non_terminal_runs')) await pause()
  const warnings = warningsOf(daemon)
  checkLines(t, warnings)
  for (const [code, about] of [
    ['queued_run_lag', queued],
    ['stale_non_terminal_runs', undefined],
    ['scheduler_lag', schedule_id],
  ] as const)
    t.regex(await paste(t, daemon, find(t, warnings, code, about)), /^0 /u)
  const { health, schedules } = (await daemon.request('GET', '/v1/status')).body
  t.true(health.scheduler_lag_ms >= 1 && health.scheduler_lag_ms <= schedules.oldest_due_schedule_lag_ms + 60_000)
})
