/** Providers of a third-party plugin that break their contract: their routes are in error, and all the rest stands. */
import test, { type ExecutionContext } from 'ava'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { visibleLine } from '../../../../core/plugin.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { openSession, until } from '../../../support/runs.js'

const plugin = 'breaks-the-models'
const correctIt =
  `See the fault of the plugin ${plugin} with: holdfast plugins list. ` +
  'Correct it, or take it out of config/plugins.toml.'

/** With these routes beside a good one, which is the default. */
const start = async (t: ExecutionContext, routes: readonly string[]): Promise<TestDaemon> => {
  const root = await rootWith(plugin)
  const tables = routes.map((id) => `[routes.${id}]\ndriver = "${id}"\n`)
  const file = `default_route = "main"\n[routes.main]\ndriver = "demo"\n${tables.join('')}`
  await writeFile(path.join(root, 'config', 'routes.toml'), file)
  const daemon = await startTestDaemon(t, { root })
  await openSession(daemon)
  return daemon
}

const charged = ({ daemon }: TestDaemon) => daemon.view.plugins().filter(({ fault_count: count }) => count > 0)

/** It alone is charged, last with this; where, as the fault has it. */
const isCharged = (t: ExecutionContext, daemon: TestDaemon, words: RegExp, what: string): string | undefined => {
  const faulty = charged(daemon)
  t.deepEqual(
    faulty.map(({ id }) => id),
    [plugin],
    what,
  )
  t.regex(faulty[0]?.last_fault?.message ?? '', words, what)
  return faulty[0]?.last_fault?.where
}

const run = async (daemon: TestDaemon, more: object, ...statuses: string[]) => {
  const { status, body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: '/say hello', ...more })
  return status === 202 || status === 201 || status === 200 ? until(daemon, body.run_id, ...statuses) : body
}

const unready: readonly (readonly [string, RegExp])[] = [
  ['ready_thrown', /^it has no words$/u],
  ['ready_bare', /^null$/u],
  ['ready_later', /^it has no words$/u],
  ['ready_promise', /not plain JSON: it is neither/u],
  ['ready_rejected', /not plain JSON: it is neither/u],
  ['ready_number', /^what it returned is wrong: it must be/u],
  ['ready_odd', /^what it returned is wrong: state must be/u],
  ['ready_code', /^what it returned is wrong: code must be of letters/u],
  ['connect_thrown', /^it has no words$/u],
  ['connect_nothing', /^what connect returned is wrong: a connection must be an object$/u],
  ['connect_promise', /^what connect returned is wrong: a connection must have the function readiness, the function/u],
  ['connect_mute', /^what connect returned is wrong: a connection must have the function stream$/u],
]

for (const [id, words] of unready)
  test(`models-80: a provider that does not say whether its route is ready is charged, and its route alone is in error: ${id}`, async (t) => {
    const daemon = await start(t, [id])
    for (let look = 0; look < 2; look += 1) await daemon.request('GET', '/v1/status')
    const { body } = await daemon.request('GET', '/v1/status')
    const { routes, active_route_ready } = body.provider_readiness
    t.true(active_route_ready)
    t.like(
      routes.map(({ state, code }: any) => [state, code]),
      [
        ['ok', 'ready'],
        ['error', 'provider_fault'],
      ],
    )
    const told = body.health.warnings.find(({ code }: any) => code === 'provider_route_not_ready')
    t.like(told, { related_id: id, severity: 'warning' })
    t.regex(told.message, new RegExp(`: The plugin of the provider ${id} failed when`, 'u'))
    t.is(told.action, correctIt)
    const member = id.startsWith('ready') ? 'readiness' : 'connect'
    t.is(isCharged(t, daemon, words, id), `${member} of the model provider ${id}, called by models`)
    t.is(charged(daemon)[0]?.fault_count, 1, 'the same fault is charged once')
    t.is((await daemon.request('GET', '/v1/runtime')).body.route_diagnostics[0].code, 'provider_fault')
    t.is((await run(daemon, { provider: id })).code, 'route_not_ready')
    t.is((await run(daemon, {}, 'completed', 'failed')).status, 'completed')
  })

test('models-80: a daemon whose only route has a provider that throws starts, and says why it has no model', async (t) => {
  const daemon = await startTestDaemon(t, { root: await rootWith(plugin), flags: { provider: 'ready_thrown' } })
  await openSession(daemon)
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const told = warnings.find(({ code }: any) => code === 'provider_active_route_not_ready')
  t.regex(told.message, /^The plugin of the provider ready_thrown failed when/u)
  t.is((await run(daemon, {})).code, 'route_not_ready')
  isCharged(t, daemon, /^it has no words$/u, 'the provider')
})

test('models-80: words of readiness are one visible line, and what is wrong has an action', async (t) => {
  const daemon = await start(t, ['ready_raw', 'ready_acts'])
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const told = (id: string) => warnings.find(({ related_id }: any) => related_id === id)
  t.regex(told('ready_raw').message, /: a\\u001b\[31mred\\nnew line x+$/u)
  t.is(told('ready_raw').action, `See what the documentation of the plugin ${plugin} says of asleep.`)
  t.is(told('ready_acts').action, 'Wake\\nit.')
  const { route_diagnostics } = (await daemon.request('GET', '/v1/runtime')).body
  t.is(route_diagnostics[0].code, 'asleep')
  t.true(route_diagnostics[0].message.length <= 1_000)
  const { detail } = await run(daemon, { provider: 'ready_raw' })
  t.is(visibleLine(detail), detail)
  t.deepEqual(charged(daemon), [])
})

test('models-80: what a provider says beyond its readiness is left out', async (t) => {
  const daemon = await start(t, ['ready_more'])
  const { routes } = (await daemon.request('GET', '/v1/status')).body.provider_readiness
  t.like(routes[1], { route_id: 'ready_more', state: 'ok', code: 'ready', message: 'It listens.', more: undefined })
  t.is((await run(daemon, { provider: 'ready_more' }, 'completed', 'failed')).status, 'completed')
})

test('models-80: what a provider knows of its models is charged where it throws or is garbage, and runs go on', async (t) => {
  const all = { searches: /^it has no words$/u, window: /tokens must be/u, family: /^it has no words$/u }
  for (const [id, words] of Object.entries(all)) {
    const daemon = await start(t, [id])
    t.is((await run(daemon, { provider: id }, 'completed', 'failed')).status, 'completed', id)
    isCharged(t, daemon, words, id)
  }
})

const streams: readonly (readonly [string, RegExp])[] = [
  ['stream_thrown', /^it has no words$/u],
  ['stream_next', /^it has no words$/u],
  ['stream_bare', /^null$/u],
]

test('models-80: a stream that is none fails its run, and its plugin is charged', async (t) => {
  for (const [id, words] of streams) {
    const daemon = await start(t, [id])
    const { status, error } = await run(daemon, { provider: id }, 'completed', 'failed')
    t.is(status, 'failed', id)
    t.true(error.startsWith(`model_unknown: The provider ${id} failed in an unexpected way`), error)
    t.is(isCharged(t, daemon, words, id), `stream of the model provider ${id}, called by runs`)
  }
})

const noStream = 'what its stream returned yields no events, as `async *stream()` does'

test('models-76: what is no stream of events breaks the contract, and its run says how', async (t) => {
  const ids = ['stream_async', 'stream_rejected', 'stream_list', 'stream_nothing', 'stream_reader', 'stream_number']
  const daemon = await start(t, [...ids, 'stream_results'])
  for (const [id, wrong] of [
    ...ids.map((id) => [id, noStream] as const),
    ['stream_results', 'what its stream gave is no result of an iterator'] as const,
  ]) {
    const { error } = await run(daemon, { provider: id }, 'completed', 'failed')
    t.is(
      error,
      `model_provider_fault: The provider ${id} gave an answer that breaks the contract of providers: ${wrong}.`,
    )
    t.is(charged(daemon)[0]?.last_fault?.message, wrong)
  }
})

test('models-84: a provider of others writes to nothing that others are told, and to nothing that it has yielded', async (t) => {
  const daemon = await start(t, ['shows', 'writes', 'writes_later'])
  const response_format = { type: 'structured_json', schema: { type: 'object', properties: {} } }
  const shown = async () => (await run(daemon, { content: 'first', provider: 'shows' }, 'completed')).outputs[0].content
  await shown()
  await run(daemon, { provider: 'writes', generation: { response_format } }, 'failed')
  t.is((await run(daemon, { provider: 'writes' }, 'completed')).outputs[0].content, 'Well.')
  t.is((await run(daemon, { provider: 'writes_later' }, 'completed')).outputs[0].content, 'Well.')
  const seen = await shown()
  t.notRegex(seen, /CHANGED/u)
  t.is(JSON.parse(seen).messages[0].content[0].text, 'first')
  t.deepEqual(charged(daemon), [])
})

test('models-86: an event of a provider of others is what it says when it is asked first', async (t) => {
  const ids = ['turns_text', 'turns_type', 'turns_call', 'turns_part', 'turns_delta']
  const daemon = await start(t, ids)
  for (const id of ids)
    t.is((await run(daemon, { provider: id }, 'completed', 'failed')).outputs?.[0]?.content, 'Well.', id)
  t.notRegex(JSON.stringify((await daemon.request('GET', '/v1/sessions/s1/events')).body), /banana|tool_call/u)
  t.deepEqual(charged(daemon), [])
})

const unreadable = {
  odd_metadata: 'part.metadata is not plain JSON: n is a bigint',
  odd_deep: 'part.metadata is not plain JSON: it is more than 128 levels deep',
  odd_large: 'part.metadata has more than 25165824 bytes',
  odd_number: 'part.input is not plain JSON: list.1 is no finite number',
  odd_class: 'part.input is not plain JSON: when is neither a list nor a plain object',
  odd_more: 'part.more is not plain JSON: it is a bigint',
  odd_text: 'part.text cannot be read',
  odd_delta: 'the event cannot be read',
  odd_part: 'part is no plain object',
  odd_event: 'the event cannot be read',
}

test('models-86: what cannot be read of an event, or is no JSON, is a fault of its provider alone', async (t) => {
  const daemon = await start(t, [...Object.keys(unreadable), 'odd_result'])
  for (const [id, wrong] of Object.entries(unreadable)) {
    const { error } = await run(daemon, { provider: id }, 'completed', 'failed')
    t.is(
      error,
      `model_provider_fault: The provider ${id} gave an answer that breaks the contract of providers: ${wrong}.`,
    )
    isCharged(t, daemon, new RegExp(wrong, 'u'), id)
  }
  const { error } = await run(daemon, { provider: 'odd_result' }, 'completed', 'failed')
  t.true(error.startsWith('model_unknown: The provider odd_result failed in an unexpected way'), error)
  t.is(isCharged(t, daemon, /^null$/u, 'odd_result'), 'stream of the model provider odd_result, called by runs')
})

test('models-86: limits that a provider of others tells are counted where they have a name', async (t) => {
  const daemon = await start(t, ['odd_limits'])
  t.is((await run(daemon, { provider: 'odd_limits' }, 'completed', 'failed')).status, 'completed')
  const { status, text } = await daemon.request('GET', '/v1/runtime/providers')
  t.is(status, 200)
  t.regex(text, /"requests"/u)
  t.notRegex(text, /xxxx/u)
})

const contradictions = {
  never_done: 'its stream ended without done',
  ends_other: 'done says other, and there are calls',
  ends_paused: 'done says paused, and there are calls',
  ends_failed: 'done says stop, and there is a failure',
  ends_calls: 'done says tool_calls, and there is no call',
  shows_more: 'its text_deltas say other words than its text parts',
  shows_else: 'its text_deltas say other words than its text parts',
}

test('models-85: an answer that is otherwise than its end or its deltas say is a fault of its provider, and acts on nothing', async (t) => {
  const daemon = await start(t, [...Object.keys(contradictions), 'shows_same'])
  for (const [id, wrong] of Object.entries(contradictions)) {
    const { error } = await run(daemon, { provider: id }, 'completed', 'failed')
    t.is(
      error,
      `model_provider_fault: The provider ${id} gave an answer that breaks the contract of providers: ${wrong}.`,
    )
    isCharged(t, daemon, new RegExp(wrong, 'u'), id)
  }
  const { session } = (await daemon.request('GET', '/v1/sessions/s1/events')).body
  t.false(session.journal.some(({ type }: any) => type === 'outcome'))
  t.is((await run(daemon, { provider: 'shows_same' }, 'completed', 'failed')).status, 'completed')
})

test('models-12: a route whose provider broke its contract is told as a fault of its plugin', async (t) => {
  for (const [id, message] of [
    ['stream_thrown', /The last call failed. The provider stream_thrown failed in an unexpected way\.$/u],
    ['stream_next', /The last call failed. The provider stream_next failed in an unexpected way\.$/u],
    ['stream_odd', /The last call failed. The provider stream_odd gave an answer that breaks the contract/u],
  ] as const) {
    const daemon = await start(t, [id])
    await run(daemon, { provider: id }, 'failed')
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    const told = warnings.find(({ code }: any) => code === 'provider_route_failing')
    t.like(told, { related_id: id, action: correctIt })
    t.regex(told.message, message)
  }
})

test('models-80: a stream that does not end well has been read all the same', async (t) => {
  const daemon = await start(t, ['end_thrown'])
  t.is((await run(daemon, { provider: 'end_thrown' }, 'completed', 'failed')).status, 'completed')
  isCharged(t, daemon, /^it has no words$/u, 'its end')
})

test('models-62: of many providers those are told that are written most alike', async (t) => {
  const root = await rootWith(plugin)
  await writeFile(path.join(root, 'config', 'routes.toml'), '[routes.main]\ndriver = "ready_trown"\n')
  const daemon = await startTestDaemon(t, { root })
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const { message, action } = warnings.find(({ code }: any) => code === 'provider_active_route_not_ready')
  t.regex(message, /ready_trown; did you mean ready_thrown\?$/u)
  const [, told = '', more] = /to one of: (.*), or of (\d+) more in GET \/v1\/runtime\/providers\.$/u.exec(action) ?? []
  const names = told.split(', ')
  t.is(names[0], 'ready_thrown')
  t.is(names.length, 12)
  t.is(names.length + Number(more), (await daemon.request('GET', '/v1/runtime/providers')).body.length)
})

test('models-81: an answer without end leaves the others their turns, can be cancelled, and ends at its bounds', async (t) => {
  const daemon = await start(t, ['empty', 'long'])
  await openSession(daemon, 's2')
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hello', provider: 'empty' })
  const asked = performance.now()
  t.is((await daemon.request('GET', '/healthz')).status, 200)
  t.true(performance.now() - asked < 2000)
  t.true((await daemon.request('POST', `/v1/runs/${body.run_id}/cancel`)).status < 300)
  t.is((await until(daemon, body.run_id, 'cancelled', 'failed')).status, 'cancelled')
  for (const [id, words] of [
    ['empty', 'it has more than 1,000,000 events'],
    ['long', 'it has more than 67,108,864 characters'],
  ] as const) {
    const { error } = await run(daemon, { provider: id }, 'completed', 'failed')
    t.is(
      error,
      `model_provider_fault: The provider ${id} gave an answer that breaks the contract of providers: ${words}.`,
    )
    isCharged(t, daemon, new RegExp(words, 'u'), id)
  }
})
