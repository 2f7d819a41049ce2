import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { enums, integer, string, unsafeCast } from '../../../../core/plugin.js'
import { RuntimeSettings, defineSetting } from '../../../../plugins/operator/runtime/contract.js'
import { HookCallbacks } from '../../../../plugins/operator/hooks/contract.js'
import { allCommands } from '../../../../core/cli/client-line.js'
import { shipped } from '../../../../core/shipped.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { watcher } from '../../../support/interceptors.js'
import { eventually } from '../../../support/mcp.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { openStream } from '../../../support/sse.js'
import { makeFolder } from '../../../support/tools.js'

const colourSetting = (values: readonly string[]) =>
  defineSetting({
    name: 'colour',
    schema: enums(values),
    initial: () => 'red',
    change: {
      path: 'colour',
      summary: 'Sets the colour.',
      fields: { colour: string() },
      value: (body) => body.colour,
      example: { colour: 'red' },
    },
  })

test('runtime-26: a setting whose path clients would resolve to another one is refused with its plugin', async (t) => {
  const setting = colourSetting(['red'])
  const paths = ['../up', 'up/..', '.', './up', 'a b', 'v1.5/..up']
  const plugins = paths.map((path, at) =>
    testPlugin(`of-${at}`, {
      register: (ctx) =>
        ctx.contribute(RuntimeSettings, { ...setting, name: `colour_${at}`, change: { ...setting.change, path } }),
    }),
  )
  const { daemon, request } = await startTestDaemon(t, { plugins })
  const reasons = daemon.view.plugins().flatMap(({ id, reason }) => (id.startsWith('of-') ? [reason ?? 'none'] : []))
  for (const path of paths.slice(0, -1))
    t.true(reasons.shift()?.endsWith(`has the malformed path /v1/runtime/${path}`), path)
  t.deepEqual(reasons, ['none'])
  const { body } = await request('GET', '/v1/openapi.json')
  t.deepEqual(
    Object.keys(body.paths).filter((path) => path.split('/').some((part) => part === '.' || part === '..')),
    [],
  )
})

const changes: readonly (readonly [path: string, body: object, shown: object])[] = [
  ['model', { model: 'other' }, { model: 'other', route_id: 'demo', provider: 'demo', default_route: 'demo' }],
  ['permission-mode', { mode: 'acceptEdits' }, { permission_mode: 'acceptEdits' }],
  ['tool-limits', { limits: { max_parallel_tools: 3 } }, { tool_runtime_limits: { max_parallel_tools: 3 } }],
  ['system-prompt', { settings: { language: 'Dutch' } }, { system_prompt: { language: 'Dutch' } }],
  ['run-memory-policy', { policy: { enabled: false } }, { run_memory_policy: { enabled: false, redact_pii: true } }],
  ['learning-policy', { policy: { mode: 'enabled' } }, { learning_policy: { mode: 'enabled' } }],
  ['debug-level', { level: 'redacted' }, { debug_level: 'redacted' }],
]

test('runtime-26: a change holds at once, is told on the unfiltered stream alone, and is there after a restart', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const port = Number(new URL(first.url).port)
  const [all, one] = ['/v1/events/stream', '/v1/sessions/s1/stream'].map((path) => openStream({ port, path }))
  await until(first, (await submit(first, 's1', 'x')).run_id, 'completed')
  t.true((await all?.until(1)) && (await one?.until(1)))
  for (const [at, [path, body, shown]] of changes.entries()) {
    const answer = await first.request('POST', `/v1/runtime/${path}`, body)
    t.is(answer.status, 200, path)
    t.like(answer.body, { ...shown, config: { revision: at + 1, persisted: true, history_len: at } })
    t.like((await first.request('GET', '/v1/runtime')).body, shown)
  }
  const updates = () => all?.frames.filter(({ event }) => event === 'runtime_updated') ?? []
  while (updates().length < changes.length) t.true(await all?.until((all?.frames.length ?? 0) + 1))
  const told = updates()
  t.deepEqual(
    told.map(({ data }) => data.runtime.config.revision),
    changes.map((_, at) => at + 1),
  )
  t.like(told.at(-1)?.data.runtime, { model: 'other', debug_level: 'redacted' })
  t.false(one?.frames.some(({ event }) => event === 'runtime_updated'))
  all?.close()
  one?.close()
  await first.stop()
  const second = await startTestDaemon(t, { root, flags: { 'permission-mode': 'dontAsk' } })
  const { body } = await second.request('GET', '/v1/runtime')
  for (const [, , shown] of changes) t.like(body, shown)
  t.like((await second.request('GET', '/v1/runtime/tool-limits')).body, { max_parallel_tools: 3 })
})

test('runtime-27: a change that expects another revision is refused and changes nothing', async (t) => {
  const { request } = await startTestDaemon(t)
  const change = (mode: string, expected_revision?: number) =>
    request('POST', '/v1/runtime/permission-mode', {
      mode,
      ...(expected_revision !== undefined && { expected_revision }),
    })
  t.is((await change('plan', 0)).status, 200)
  const refused = await change('dontAsk', 0)
  t.like(refused.body, { status: 409, code: 'runtime_revision_conflict', domain: 'runtime', revision: 1 })
  t.like((await request('GET', '/v1/runtime')).body, { permission_mode: 'plan', config: { revision: 1 } })
  t.is((await change('dontAsk', 1)).status, 200)
  const both = await Promise.all([change('plan', 2), change('default', 2)])
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
})

test('runtime-27: of two changes that expect the same revision one is made, however long hooks look at them', async (t) => {
  const hook = watcher()
  const { request } = await startTestDaemon(t, { plugins: [hook.plugin] })
  let [asked, release] = [0, (): void => {}]
  const both = new Promise<void>((resolve) => {
    release = resolve
  })
  hook.rules.config_change = async () => {
    asked += 1
    if (asked === 2) release()
    await both
    return undefined
  }
  const answers = await Promise.all(
    ['acceptEdits', 'plan'].map((mode) =>
      request('POST', '/v1/runtime/permission-mode', { mode, expected_revision: 0 }),
    ),
  )
  t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  t.is((await request('GET', '/v1/runtime')).body.config.revision, 1)
})

test('runtime-28: the current revision and 64 before it are kept, and each can hold again', async (t) => {
  const { request } = await startTestDaemon(t)
  const mode = async (): Promise<string> => (await request('GET', '/v1/runtime')).body.permission_mode
  const rollback = (body?: object) => request('POST', '/v1/runtime/rollback', body)
  for (const body of [undefined, { target_revision: 0 }])
    t.like((await rollback(body)).body, {
      code: 'runtime_revision_not_found',
      detail: 'There is nothing to go back to: no setting was changed yet.',
    })
  for (let n = 1; n <= 66; n += 1)
    await request('POST', '/v1/runtime/permission-mode', { mode: n % 2 === 0 ? 'plan' : 'dontAsk' })
  const { revisions, next_before_revision } = (await request('GET', '/v1/runtime/revisions')).body
  t.like((await request('GET', '/v1/runtime')).body.config, { history_len: 64, history_limit: 64 })
  t.is(revisions.length, 64)
  t.like(revisions[0], { revision: 66, source: 'api', permission_mode: 'plan', model: 'demo' })
  t.is(next_before_revision, 3)
  const rest = (await request('GET', `/v1/runtime/revisions?before_revision=${next_before_revision}`)).body
  t.deepEqual([rest.revisions.map((one: any) => one.revision), rest.next_before_revision], [[2], undefined])
  t.like((await rollback({ target_revision: 1 })).body, {
    code: 'runtime_revision_not_found',
    detail: 'There is nothing to go back to: there is no revision 1.',
  })
  t.deepEqual(codeOf(await rollback({ target_revision: 67 })), [404, 'runtime_revision_not_found'])
  t.like((await rollback()).body, { permission_mode: 'dontAsk', config: { revision: 67 } })
  t.like((await rollback({ target_revision: 66, expected_revision: 67 })).body, { permission_mode: 'plan' })
  t.deepEqual(codeOf(await rollback({ expected_revision: 67 })), [409, 'runtime_revision_conflict'])
  t.like((await rollback({ target_revision: 68 })).body, { permission_mode: 'plan', config: { revision: 69 } })
  t.like((await rollback({ target_revision: 0 })).body, { permission_mode: 'default' })
  const kept = (await request('GET', '/v1/runtime/revisions')).body.revisions
  t.deepEqual(
    kept.slice(0, 4).map((one: any) => [one.revision, one.setting, one.rollback_of_revision]),
    [70, 69, 68, 67].map((revision, at) => [revision, 'rollback', [0, 68, 66, 65][at]]),
  )
  t.is(await mode(), 'default')
})

test('runtime-28: a list of long revisions ends early and says where it goes on', async (t) => {
  const { request } = await startTestDaemon(t)
  for (let n = 0; n < 5; n += 1)
    await request('POST', '/v1/runtime/system-prompt', { settings: { append_prompt: 'ä'.repeat(190_000) } })
  const lengths: number[] = []
  for (let query = ''; ;) {
    const { body } = await request('GET', `/v1/runtime/revisions${query}`)
    lengths.push(body.revisions.length)
    if (body.next_before_revision === undefined) break
    query = `?before_revision=${body.next_before_revision}`
  }
  t.deepEqual(lengths, [2, 2, 1])
})

test('runtime-27: a change is answered with what held at its own revision', async (t) => {
  const { request } = await startTestDaemon(t)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => request('POST', '/v1/runtime/model', { model: `m${at}` })),
  )
  t.is(new Set(answers.map(({ body }) => body.config.revision)).size, 8)
  const { revisions } = (await request('GET', '/v1/runtime/revisions')).body
  for (const { body } of answers)
    t.is(revisions.find(({ revision }: any) => revision === body.config.revision).model, body.model)
})

test('runtime-29: of a kept value that cannot hold any more the last good one holds, and a warning says so', async (t) => {
  const root = await freshRoot()
  const colour = (values: readonly string[]) =>
    testPlugin('paints', { register: (ctx) => ctx.contribute(RuntimeSettings, colourSetting(values)) })
  const first = await startTestDaemon(t, { root, plugins: [colour(['red', 'green', 'blue'])] })
  for (const one of ['green', 'blue']) await first.request('POST', '/v1/runtime/colour', { colour: one })
  await first.stop()
  const second = await startTestDaemon(t, { root, plugins: [colour(['red', 'green'])] })
  t.is((await second.request('GET', '/v1/runtime')).body.colour, 'green')
  t.like(second.daemon.view.warnings(), [
    {
      code: 'setting_unfit',
      related_id: 'colour',
      message:
        'What was kept of the setting colour ("blue") cannot hold any more: it must be one of "red", "green". ' +
        'The last value that can is in force.',
      action: 'See what holds now, and set it again: holdfast runtime get',
    },
  ])
  await second.request('POST', '/v1/runtime/permission-mode', { mode: 'plan' })
  t.is((await second.request('GET', '/v1/runtime')).body.colour, 'green')
  t.like(second.daemon.view.warnings(), [{ code: 'setting_unfit', related_id: 'colour' }])
  await second.request('POST', '/v1/runtime/colour', { colour: 'red' })
  t.deepEqual(second.daemon.view.warnings(), [])
  const back = await second.request('POST', '/v1/runtime/rollback', { target_revision: 2 })
  t.deepEqual(codeOf(back), [409, 'runtime_revision_unfit'])
  await second.stop()
  const third = await startTestDaemon(t, { root })
  await third.request('POST', '/v1/runtime/permission-mode', { mode: 'dontAsk' })
  await third.stop()
  const fourth = await startTestDaemon(t, { root, plugins: [colour(['red', 'green'])] })
  t.like((await fourth.request('GET', '/v1/runtime')).body, { colour: 'red', permission_mode: 'dontAsk' })
})

test('runtime-29: of a setting with secrets the warning tells neither what was kept nor what holds', async (t) => {
  const root = await freshRoot()
  const paints = (values: readonly string[]) =>
    testPlugin('paints', {
      register: (ctx) =>
        ctx.contribute(RuntimeSettings, { ...colourSetting(values), secret: true, setBy: (colour) => `set ${colour}` }),
    })
  const first = await startTestDaemon(t, { root, plugins: [paints(['red', 'green', 'blue'])] })
  for (const one of ['green', 'blue']) await first.request('POST', '/v1/runtime/colour', { colour: one })
  await first.stop()
  const second = await startTestDaemon(t, { root, plugins: [paints(['red', 'green'])] })
  const [warning] = second.daemon.view.warnings()
  t.like(warning, { code: 'setting_unfit', related_id: 'colour' })
  t.notRegex(`${warning?.message} ${warning?.action}`.replace(/must be one of .*\./u, ''), /green|blue/u)
})

test('runtime-29: what cannot hold at present is kept through other changes and rollbacks, and holds when it can again', async (t) => {
  const root = await freshRoot()
  const hook = (name: string, executor: object) => ({ name, executor, failure_policy: { mode: 'closed' } })
  const hooks = {
    pre_tool_use: [
      hook('guard', { type: 'command', command: 'exit 2' }),
      hook('judge', { type: 'callback', name: 'judge' }),
    ],
  }
  const plugins = [
    testPlugin('judges', {
      register(ctx) {
        ctx.contribute(HookCallbacks, { name: 'judge', call: async () => undefined })
        ctx.contribute(RuntimeSettings, colourSetting(['red', 'blue']))
      },
    }),
  ]
  const first = await startTestDaemon(t, { root, plugins })
  await first.request('POST', '/v1/runtime/colour', { colour: 'blue' })
  t.is((await first.request('POST', '/v1/runtime/hooks', { hooks })).status, 200)
  await first.stop()
  const poorer = [
    testPlugin('judges', { register: (ctx) => ctx.contribute(RuntimeSettings, colourSetting(['red', 'green'])) }),
  ]
  const second = await startTestDaemon(t, { root, plugins: poorer })
  const shown = (await second.request('GET', '/v1/runtime')).body
  t.deepEqual([shown.hooks.pre_tool_use?.length, shown.colour], [2, 'red'])
  t.is((await second.request('POST', '/v1/runtime/hooks', { hooks })).status, 400)
  await second.request('POST', '/v1/runtime/debug-level', { level: 'off' })
  t.is((await second.request('POST', '/v1/runtime/rollback', { target_revision: 3 })).body.colour, 'red')
  t.like(second.daemon.view.warnings(), [{ code: 'setting_unfit', related_id: 'colour' }])
  t.like((await second.request('GET', '/v1/runtime/revisions')).body.revisions[0], { colour: 'red', unfit: ['colour'] })
  await second.stop()
  const third = await startTestDaemon(t, { root, plugins })
  t.like((await third.request('GET', '/v1/runtime')).body, { colour: 'blue', hooks: { pre_tool_use: { length: 2 } } })
  t.deepEqual(third.daemon.view.warnings(), [])
})

/** A daemon with the model routes `first` and `alt`; `write` saves others. */
const startWithRoutes = async (t: ExecutionContext<any>) => {
  const root = await freshRoot()
  await mkdir(join(root, 'config'), { recursive: true })
  const write = (...names: string[]) =>
    writeFile(
      join(root, 'config', 'routes.toml'),
      `default_route = "first"\n${names.map((name) => `[routes.${name}]\ndriver = "demo"\n`).join('')}`,
    )
  await write('first', 'alt')
  return { root, write, daemon: await startTestDaemon(t, { root }) }
}

test('runtime-29: a rollback leaves alone what it does not change, and brings back nothing that cannot hold', async (t) => {
  const { write, daemon } = await startWithRoutes(t)
  const change = (what: string, body: object = {}) => daemon.request('POST', `/v1/runtime/${what}`, body)
  t.is((await change('model', { provider: 'alt', model: 'one' })).status, 200)
  t.is((await change('permission-mode', { mode: 'plan' })).status, 200)
  await write('first')
  await eventually(async () =>
    (await daemon.request('GET', '/v1/runtime')).body.route_id === 'first' ? true : undefined,
  )
  t.like((await change('rollback')).body, { permission_mode: 'default', route_id: 'first' })
  t.like(daemon.daemon.view.warnings(), [{ code: 'setting_unfit', related_id: 'model' }])
  t.is((await change('rollback', { target_revision: 0 })).status, 200)
  const back = await change('rollback', { target_revision: 1 })
  t.deepEqual(codeOf(back), [409, 'runtime_revision_unfit'])
  t.is(
    back.body.detail,
    'What revision 1 has of the setting model cannot hold any more: This daemon has no model route alt.',
  )
})

test('runtime-30: a run keeps the mode, the limits and the model that held when it was accepted', async (t) => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const provider = scriptedProvider(async function* (_, count) {
    if (count === 1) await gate
    if (count % 2 === 0) yield text('end')
    else yield callTool(`c${count}`, 'write_file', { path: 'a', content: 'a' })
    yield done(count % 2 === 0 ? 'stop' : 'tool_calls')
  })
  const daemon = await startTestDaemon(t, { plugins: [provider.plugin], config: provider.config })
  for (const id of ['s1', 's2']) await openSession(daemon, id)
  await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'dontAsk' })
  await daemon.request('POST', '/v1/runtime/tool-limits', { limits: { max_input_bytes: 5 } })
  await daemon.request('POST', '/v1/runtime/model', { model: 'first' })
  const early = await submit(daemon, 's1', 'x')
  t.is(early.request.runtime_revision, 3)
  await daemon.request('POST', '/v1/runtime/rollback', { target_revision: 0 })
  open()
  await until(daemon, early.run_id, 'completed')
  t.is(provider.requests[0]?.model, 'first')
  const answered = JSON.stringify(provider.requests[1]?.messages)
  t.regex(answered, /call_input_too_large/u)
  const late = await submit(daemon, 's2', 'x')
  await until(daemon, late.run_id, 'waiting_for_approval')
  const rows = (await daemon.request('GET', '/v1/runs')).body
  t.deepEqual(rows.map(({ request }: any) => request.runtime_revision).toSorted(), [3, 4])
  t.regex((await createCommandLine(daemon)('runs', 'get', early.run_id)).out, /\n {2}settings revision 3\n/u)
})

test('runtime-30: a run of before any change tells no revision', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  t.false('runtime_revision' in (await submit(daemon, 's1', 'x')).request)
})

test('runtime-31: a model change names a route that is there, once', async (t) => {
  const { request } = await startTestDaemon(t)
  t.deepEqual(codeOf(await request('POST', '/v1/runtime/model', { model: 'm', provider: 'nobody' })), [
    400,
    'bad_request',
  ])
  t.deepEqual(codeOf(await request('POST', '/v1/runtime/model', { model: 'm', provider: 'a', route_id: 'b' })), [
    400,
    'route_ambiguous',
  ])
  t.deepEqual(codeOf(await request('POST', '/v1/runtime/model', { provider: 'demo' })), [400, 'bad_request'])
  for (const sent of ['provider', 'route_id'])
    t.is((await request('POST', '/v1/runtime/model', { model: 'm', [sent]: 'z' })).body.errors[0].path, `body.${sent}`)
  t.like((await request('GET', '/v1/runtime')).body.config, { revision: 0, persisted: false })
  const { body } = await request('POST', '/v1/runtime/model', { model: 'm', route_id: 'demo' })
  t.like(body, { model: 'm', routes: [{ route_id: 'demo', model: 'm' }] })
})

test('runtime-33: what a change of limits or of the memory policy leaves out stays as it is', async (t) => {
  const { request } = await startTestDaemon(t)
  const limits = (asked: object) => request('POST', '/v1/runtime/tool-limits', { limits: asked })
  await limits({ max_parallel_tools: 3 })
  t.like((await limits({ max_timeout_ms: 7 })).body.tool_runtime_limits, { max_parallel_tools: 3, max_timeout_ms: 7 })
  for (const wrong of [{}, { max_timeout_ms: 0 }, { max_timeout_ms: 'long' }, { fastest: 1 }])
    t.deepEqual(codeOf(await limits(wrong)), [400, 'invalid_tool_runtime_limits'])
  const policy = (asked: object) => request('POST', '/v1/runtime/run-memory-policy', asked)
  await policy({ policy: { max_prompt_entries: 5 } })
  t.like((await policy({ redact_pii: false })).body.run_memory_policy, { max_prompt_entries: 5, redact_pii: false })
  for (const wrong of [
    {},
    { expected_revision: 4 },
    { policy: {} },
    { policy: { max_prompt_entries: 6 }, enabled: false },
    { policy: { retention_ms: 1 } },
    { enabled: 'no' },
  ])
    t.deepEqual(codeOf(await policy(wrong)), [400, 'invalid_run_memory_policy'], JSON.stringify(wrong))
  t.is((await policy({})).body.errors[0].path, 'body')
  t.is((await policy({ policy: {} })).body.errors[0].path, 'body.policy')
  t.like((await request('GET', '/v1/runtime/run-memory-policy')).body, { max_prompt_entries: 5, redact_pii: false })
  t.like((await request('GET', '/v1/runtime')).body.config, { revision: 4 })
  const prompt = (settings: object) => request('POST', '/v1/runtime/system-prompt', { settings })
  await prompt({ language: 'Dutch' })
  t.deepEqual(Object.keys((await prompt({ append_prompt: 'Bye' })).body.system_prompt), [
    'configured_prompt',
    'append_prompt',
  ])
  t.deepEqual(codeOf(await prompt({ tone: 'x' })), [400, 'bad_request'])
})

test('runtime-26: run memory that was switched off takes nothing, and takes again when it is on', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const remembered = async (): Promise<number> =>
    (await daemon.request('GET', '/v1/sessions/s1/memory-context')).body.recovered_memory.entries.length
  await daemon.request('POST', '/v1/runtime/run-memory-policy', { enabled: false })
  await until(daemon, (await submit(daemon, 's1', 'one')).run_id, 'completed')
  t.is(await remembered(), 0)
  await daemon.request('POST', '/v1/runtime/run-memory-policy', { enabled: true })
  await until(daemon, (await submit(daemon, 's1', 'two')).run_id, 'completed')
  t.is(await remembered(), 1)
})

test('runtime-26: a setting whose path is taken is refused, and its plugin with it', async (t) => {
  const plugin = testPlugin('paints', {
    register(ctx) {
      const change = {
        path: 'model',
        summary: 'Sets the colour.',
        fields: { colour: string() },
        value: (body: { colour: string }) => body.colour,
        example: { colour: 'red' },
      }
      ctx.contribute(RuntimeSettings, defineSetting({ name: 'colour', schema: string(), initial: () => 'red', change }))
    },
  })
  const { request, daemon } = await startTestDaemon(t, { plugins: [plugin] })
  t.regex(daemon.view.plugins().find(({ id }) => id === 'paints')?.reason ?? '', /is taken by/u)
  t.false('colour' in (await request('GET', '/v1/runtime')).body)
  t.is((await request('POST', '/v1/runtime/model', { model: 'm' })).body.model, 'm')
})

test('runtime-26: a setting that begins with what does not fit its schema is a fault of its plugin', async (t) => {
  const setting = { ...colourSetting(['red']), name: 'litres', schema: integer({ max: 100 }), initial: () => 1000 }
  const plugin = testPlugin('paints', { register: (ctx) => void ctx.contribute(RuntimeSettings, unsafeCast(setting)) })
  const { daemon } = await startTestDaemon(t, { plugins: [plugin] })
  const faulty = daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
  t.deepEqual(
    faulty.map(({ id, state, last_fault: last }) => [id, state, last?.message]),
    [
      [
        'paints',
        'degraded',
        'the setting litres is wrong: what its initial returns does not fit its schema: it must be at most 100',
      ],
    ],
  )
})

test('runtime-33: changes of different limits at the same time all hold', async (t) => {
  const { request } = await startTestDaemon(t)
  const asked = {
    max_input_bytes: 11,
    max_output_bytes: 12,
    max_timeout_ms: 13,
    max_parallel_tools: 14,
    max_calls_per_turn: 15,
    max_cumulative_output_bytes: 16,
  }
  const answers = await Promise.all(
    Object.entries(asked).map(([name, value]) =>
      request('POST', '/v1/runtime/tool-limits', { limits: { [name]: value } }),
    ),
  )
  t.true(answers.every(({ status }) => status === 200))
  t.like((await request('GET', '/v1/runtime/tool-limits')).body, asked)
})

test('command-line-3: every command that changes a setting asks no hook with --skip-hooks, and a refusal names the flag', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const { paths } = (await daemon.request('GET', '/v1/openapi.json')).body
  const changing = Object.keys(paths)
    .filter((path) => JSON.stringify(paths[path].post?.requestBody ?? '').includes('"skip_hooks"'))
    .map((path) => `POST ${path}`)
  const flagged = (await allCommands(shipped)).filter(({ flags = {} }) => Object.hasOwn(flags, 'skip-hooks'))
  t.true(changing.length >= 9)
  t.deepEqual(flagged.map(({ route }) => route).toSorted(), changing.toSorted())
  t.true(flagged.every(({ flags = {} }) => Object.hasOwn(flags, 'expected-revision')))
  const guard = { name: 'guard', executor: { type: 'command', command: 'echo frozen >&2; exit 2' } }
  const body = { settings: { hooks: { config_change: [guard] } } }
  t.is((await daemon.request('POST', '/v1/runtime/hooks', body)).status, 200)
  for (const line of [
    ['set-model', 'demo/other'],
    ['set-permission-mode', 'plan'],
    ['set-system-prompt', '--append', 'x'],
    ['tool-limits', 'set', '--max-parallel-tools', '2'],
    ['learning-policy', 'set', '--reset'],
    ['rollback'],
    ['hooks', 'set', '--reset'],
  ]) {
    const refused = await holdfast('runtime', ...line)
    t.is(refused.code, 1)
    t.regex(refused.err, /frozen.*runtime_change_blocked\)\n.*ask again with --skip-hooks\./u)
    t.regex((await holdfast('runtime', ...line, '--skip-hooks')).out, /^Done\. The settings are at revision/u)
  }
})

test('command-line-2: what is wrong in a file of hooks is told by its place in the file', async (t) => {
  const holdfast = createCommandLine(await startTestDaemon(t))
  const file = join(await makeFolder(t), 'hooks.json')
  for (const [hook, said] of [
    [{ executor: { type: 'command', command: 'true' } }, 'hooks.pre_tool_use.0.name of --file is required'],
    [
      { name: 'a', executor: { type: 'command', command: '' } },
      'hooks.pre_tool_use.0.executor.command of --file must ',
    ],
  ] as const) {
    await writeFile(file, JSON.stringify({ hooks: { pre_tool_use: [hook] } }))
    const { code, err } = await holdfast('runtime', 'hooks', 'set', '--file', file)
    t.is(code, 2, err)
    t.true(err.includes(said), err)
  }
})

test('command-line-2: a file of a setting is judged as the body of a request is, and nothing changes unless it is one', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const file = join(await makeFolder(t), 'setting.json')
  const set = async (setting: string, body: unknown) => {
    await writeFile(file, JSON.stringify(body))
    return holdfast('runtime', setting, 'set', '--file', file)
  }
  const guard = { name: 'guard', executor: { type: 'command', command: 'true' } }
  for (const body of [{ hooks: { pre_tool_use: [guard] } }, { settings: { hooks: { pre_tool_use: [guard] } } }])
    t.regex((await set('hooks', body)).out, /^Done\./u)
  for (const [body, said] of [
    [{}, /the body has neither settings nor hooks\. .*\n {2}--file has neither/u],
    [null, /--file must be an object/u],
    [[], /--file must be an object/u],
    [{ hoks: {} }, /hoks of --file is not a known field; did you mean hooks\? /u],
    [{ settings: { hoks: {} } }, /settings\.hoks of --file is not a known field; did you mean settings\.hooks\?/u],
    [{ pre_tool_use: [guard] }, /pre_tool_use of --file is not a known field\. /u],
  ] as const) {
    const { code, err } = await set('hooks', body)
    t.is(code, 2, err)
    t.regex(err, said)
  }
  t.deepEqual((await daemon.request('GET', '/v1/runtime/hooks')).body, { hooks: { pre_tool_use: [guard] } })
  for (const body of [{}, null, { policy: {} }]) t.is((await set('learning-policy', body)).code, 2)
  for (const body of [{ mode: 'manual_only' }, { policy: { mode: 'shadow' } }])
    t.is((await set('learning-policy', body)).code, 0)
  const revision = (await daemon.request('GET', '/v1/runtime')).body.config.revision
  t.is((await set('hooks', { hooks: {}, expected_revision: 0 })).code, 1)
  t.is((await daemon.request('GET', '/v1/runtime')).body.config.revision, revision)
})

test('command-line-2, runtime-31: a model of a route that is not there is refused with the routes that are', async (t) => {
  const holdfast = createCommandLine(await startTestDaemon(t))
  const { code, err } = await holdfast('runtime', 'set-model', 'nosuch/x')
  t.is(code, 2)
  t.regex(err, /<model> must be a route_id of this daemon: demo$/mu)
  t.regex((await holdfast('sessions', 'create', 's1')).out, /s1/u)
  t.regex(
    (await holdfast('sessions', 'set-policy', 's1', '--provider', 'nosuch')).err,
    /--provider must be .*: demo$/mu,
  )
})

test('runtime-28: a revision shows what held in place of a kept value that could not, also when it can again', async (t) => {
  const { root, write, daemon } = await startWithRoutes(t)
  const routes = async ({ request }: Pick<typeof daemon, 'request'>) =>
    (await request('GET', '/v1/runtime/revisions')).body.revisions.map(
      ({ revision, route_id, unfit }: any) => `${revision} ${route_id} ${unfit ?? ''}`,
    )
  t.is((await daemon.request('POST', '/v1/runtime/model', { provider: 'alt', model: 'one' })).status, 200)
  await write('first')
  await eventually(async () => ((await routes(daemon)).length === 2 ? true : undefined))
  const other = await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'plan' })
  t.like(other.body, { route_id: 'first', config: { revision: 3 } })
  t.deepEqual(await routes(daemon), ['3 first model', '2 first model', '1 alt '])
  await daemon.stop()
  await write('first', 'alt')
  const second = await startTestDaemon(t, { root })
  t.like((await second.request('GET', '/v1/runtime')).body, { route_id: 'alt' })
  t.deepEqual(await routes(second), ['3 alt ', '2 first model', '1 alt '], 'the current one shows what holds')
})
