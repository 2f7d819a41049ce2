/** A third-party plugin adds to the status what it must not: it is charged with it, and all the rest stands. */
import test from 'ava'
import { coreCommands } from '../../../../core/cli/commands.js'
import type { ShippedView } from '../../../../core/cli/shipped-view.js'
import { showStatus, StatusAnswer } from '../../../../plugins/operator/status/summary.js'
import { RuntimeSections } from '../../../../plugins/operator/runtime/contract.js'
import { Capabilities, StatusSections, type StatusSection } from '../../../../plugins/operator/status/contract.js'
import { object, parse, unsafeCast, type AnyStruct, type HealthCheck } from '../../../../core/plugin.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

const plugin = 'breaks-the-status'

test('runtime-7: a section or a check of a plugin that is no JSON or no warning is charged to it, and the rest of the status stands', async (t) => {
  const { request, daemon } = await startTestDaemon(t, { root: await rootWith(plugin) })
  const { status, body } = await request('GET', '/v1/status')
  t.is(status, 200)
  const warnings: Record<string, string>[] = body.health.warnings
  const told = (code: string) => warnings.filter((warning) => warning['code'] === code)
  const sections = told('status_section_failed')
  t.deepEqual(
    sections.map(
      ({ message }) => /^The its_(\w+) part of the status of the plugin breaks-the-status /u.exec(`${message}`)?.[1],
    ),
    ['circle', 'big', 'late', 'rejected', 'json', 'list', 'number', 'nothing', 'endless', 'huge', 'deep', 'thrown'],
  )
  const checks = told('plugin_health_check_failed')
  t.deepEqual(
    checks.map(({ message }) => /^The health check (\w+) of the plugin breaks-the-status /u.exec(`${message}`)?.[1]),
    ['late', 'rejected', 'number', 'nothing', 'fatal', 'big', 'holes'],
  )
  t.true([...sections, ...checks].every(({ related_id }) => related_id === plugin))
  t.deepEqual(body.its_sound, { is: 'told' })
  t.deepEqual(told('sound'), [{ severity: 'info', code: 'sound', message: 'It is told.' }])
  t.is(body.its_big, undefined)
  const faulty = daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
  t.deepEqual(
    faulty.map(({ id }) => id),
    [plugin],
  )
  t.true((faulty[0]?.fault_count ?? 0) >= sections.length + checks.length)
  const read = parse(StatusAnswer, body)
  t.true(read.ok)
  if (read.ok) t.regex(showStatus(read.value), /breaks-the-status/u)
})

test('runtime-3: a section of the runtime that is no JSON is left out and charged, and the rest stands', async (t) => {
  const { request, daemon } = await startTestDaemon(t, { root: await rootWith(plugin) })
  const { status, body } = await request('GET', '/v1/runtime')
  t.is(status, 200)
  t.deepEqual(
    Object.keys(body).filter((name) => name.startsWith('its_')),
    ['its_list', 'its_number', 'its_sound'],
    'a member of the runtime may be any JSON',
  )
  const faulty = daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
  t.deepEqual(
    faulty.map(({ id }) => id),
    [plugin],
  )
})

test('runtime-7: texts of a plugin that have half of a character leave the answer to strict readers', async (t) => {
  const { request, daemon } = await startTestDaemon(t, { root: await rootWith('says-odd-texts') })
  for (const path of ['/v1/status', '/v1/runtime', '/v1/capabilities'])
    t.notRegex((await request('GET', path)).text, /\\ud[89a-f]/u, path)
  const { body } = await request('GET', '/v1/status')
  t.deepEqual(body.its_half, { 'name\ufffd': ['\ufffd', { in: '\ufffd' }] })
  t.is(body.capabilities.its_claim, '\ufffd')
  const { text: metrics } = await request('GET', '/metrics')
  t.regex(metrics, /^service_its_halves\{of="\ufffd"\} 1$/mu)
  t.notRegex(metrics, /service_its_twins\{/u, 'what is the same without its halves is told by nobody')
  t.regex(daemon.view.plugins().find(({ id }) => id === 'says-odd-texts')?.summary ?? '', /^Half \ufffd/u)
})

test('runtime-8: texts of a plugin begin no line of a terminal, and a code is a word', async (t) => {
  const { request } = await startTestDaemon(t, { root: await rootWith('says-odd-texts') })
  const { body } = await request('GET', '/v1/status')
  const odd = body.health.warnings.filter(({ code }: { code: string }) => /odd|co/u.test(code))
  t.deepEqual(
    odd.map(({ code }: { code: string }) => code),
    ['odd'],
  )
  t.regex(JSON.stringify(body.health.warnings), /The health check codes of the plugin says-odd-texts failed/u)
  const read = parse(StatusAnswer, { ...body, health: { warnings: [...odd, { ...odd[0], code: 'co\nde' }] } })
  t.true(read.ok)
  const [list] = coreCommands(unsafeCast<ShippedView>({})).filter(({ path }) => path.join(' ') === 'plugins list')
  const rows = body.plugins.map((row: object) => ({ ...row, version: '1\nof it' }))
  for (const text of [read.ok ? showStatus(read.value) : '', list?.show?.(rows, 80) ?? '']) {
    t.regex(text, /of it/u)
    t.notRegex(text, /^(?:x is|-rf|de:|of it)/mu)
  }
})

test('runtime-8: where the status and a refusal point to, the last fault of a degraded plugin is shown, on one line', async (t) => {
  const failing = testPlugin('failing', {
    register: (ctx) =>
      ctx.health({
        id: 'check',
        check: () => {
          // Where it is thrown would blame the plugin whose folder this test is named after.
          throw Object.assign(new Error(`the cellar\nis \u001b[31mflooded ${'deep '.repeat(90)}`), { stack: '' })
        },
      }),
  })
  const { request } = await startTestDaemon(t, { plugins: [failing] })
  await request('GET', '/v1/status')
  const { body } = await request('GET', '/v1/status')
  const warnings: Record<string, string>[] = body.health.warnings
  for (const code of ['plugin_degraded', 'plugin_health_check_failed'])
    t.regex(warnings.find((warning) => warning['code'] === code)?.['action'] ?? '', /: holdfast plugins list$/u, code)
  const { action } = warnings.find(({ code }) => code === 'plugin_degraded') ?? {}
  t.regex(action ?? '', /start again: this is told until then, also where nothing fails any more\./u)
  const [list] = coreCommands(unsafeCast<ShippedView>({})).filter(({ path }) => path.join(' ') === 'plugins list')
  const shown = (rows: unknown): string[] => (list?.show?.(rows, 80) ?? '').split('\n')
  const line = shown(body.plugins).find((one) => one.startsWith('failing '))
  t.regex(line ?? '', / degraded .* failed in the health check check: the cellar.{1,4}is .*flooded deep/u)
  t.false(line?.includes('\u001b'))
  const [row] = body.plugins.filter(({ id }: { id: string }) => id === 'failing')
  const [long] = shown([{ ...row, last_fault: { where: 'w '.repeat(5000), message: 'm '.repeat(5000) } }])
  t.true((long ?? '').length < 800)
})

test('runtime-6: a section without a struct is refused with its plugin: the OpenAPI document is made of them', async (t) => {
  const collect = () => ({})
  const section = { name: 'its', collect, schema: unsafeCast<AnyStruct>({}) }
  const plugins = [
    testPlugin('of-status', { register: (ctx) => ctx.contribute(StatusSections, section) }),
    testPlugin('of-runtime', { register: (ctx) => ctx.contribute(RuntimeSections, section) }),
    testPlugin('of-health', { register: (ctx) => ctx.health(unsafeCast<HealthCheck>({ id: 5 })) }),
  ]
  const { request, daemon } = await startTestDaemon(t, { plugins })
  t.is((await request('GET', '/v1/openapi.json')).status, 200)
  t.is((await request('GET', '/v1/status')).status, 200)
  t.deepEqual(
    daemon.view.plugins().flatMap(({ id, state, reason }) => (state === 'failed' ? [[id, reason]] : [])),
    [
      ['of-status', 'the schema of a section of the status must be a struct'],
      ['of-runtime', 'the schema of a section of the runtime must be a struct'],
      ['of-health', 'a health check must have the text id, the function check'],
    ],
  )
})

test('runtime-46: what would be a member of an answer or a word of a command line by a name that is no id is refused', async (t) => {
  const bad = { id: 'Bad Name', name: 'Bad Name', profile: 'Bad Name' }
  const work = { collect: () => ({}), schema: object({}), derive: () => {}, connect: () => {}, capabilities: {} }
  const setting = { initial: () => ({}), change: { path: 'bad', fields: {}, value: () => ({}) } }
  const points = ['status-sections@1', 'runtime-settings@1', 'model-providers@1', 'derivation-profiles@1']
  const plugins = points.map((point) =>
    testPlugin(point.replace('@1', ''), {
      register: (ctx) => ctx.contribute({ point }, { ...bad, ...work, ...setting }),
    }),
  )
  const { daemon, request } = await startTestDaemon(t, { plugins })
  const told = daemon.view.plugins().flatMap(({ state, reason }) => (state === 'failed' ? [reason ?? ''] : []))
  t.is(told.length, points.length)
  for (const reason of told) t.regex(reason, /^the \w+ "Bad Name" of .* must be of small letters/u)
  for (const path of ['/v1/status', '/v1/runtime']) t.false('Bad Name' in (await request('GET', path)).body)
})

test('runtime-6: a section that would take the name of a member of the status is refused with its plugin', async (t) => {
  const section = { collect: () => ({}), schema: object({}) }
  const sections: StatusSection[] = [
    { ...section, name: 'plugins' },
    { ...section, name: 'health', withoutState: true },
    { ...section, name: 'probes', within: 'storage' },
    { ...section, name: 'probes_of_mine', within: 'storage' },
  ]
  const plugins = sections.map((one, at) =>
    testPlugin(`of-${at}`, { register: (ctx) => ctx.contribute(StatusSections, one) }),
  )
  const { daemon, request } = await startTestDaemon(t, { plugins })
  const reasons = daemon.view.plugins().flatMap(({ state, reason }) => (state === 'failed' ? [reason] : []))
  t.deepEqual(
    reasons,
    ['plugins', 'health', 'probes'].map(
      (name) => `the status has a member ${name} of its own, so no section of it can have this name`,
    ),
  )
  const { body } = await request('GET', '/v1/status')
  t.true(Array.isArray(body.plugins))
  t.deepEqual(body.storage.probes_of_mine, {})
})

test('runtime-4: a capability whose value JSON does not have is refused with its plugin', async (t) => {
  const claiming = testPlugin('claiming', {
    register: (ctx) => ctx.contribute(Capabilities, { name: 'large', value: unsafeCast<number>(10n) }),
  })
  const { request } = await startTestDaemon(t, { plugins: [claiming] })
  const { status, body } = await request('GET', '/v1/status')
  t.is(status, 200)
  t.like(
    body.plugins.find(({ id }: { id: string }) => id === 'claiming'),
    { state: 'failed', reason: 'the value of the capability large must be a text, a number or yes or no' },
  )
})
