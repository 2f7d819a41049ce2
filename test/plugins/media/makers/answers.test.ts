/** Makers of other plugins that make what they must not; docs/rules/makers.md. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import { MediaMakers, type MediaServer } from '../../../../plugins/media/makers/contract.js'
import { asTold, charged, faultsOf, poisons, say } from '../../../support/as-told.js'
import { rootWith } from '../../../support/broken-plugins.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const routes = `default_route = "demo"

[routes.demo]
driver = "demo"

[routes.told]
driver = "told"
default_model = "told"
image_generation = true
audio_generation = true
`

const start = async (t: ExecutionContext): Promise<TestDaemon> => {
  t.teardown(() => say({}))
  const root = await rootWith(asTold)
  writeFileSync(join(root, 'config', 'routes.toml'), routes)
  const daemon = await startTestDaemon(t, { root, config: { tools: { permission_mode: 'bypassPermissions' } } })
  await openSession(daemon)
  return daemon
}

/** The outcome of one call, and how the run ended. */
const called = async (daemon: TestDaemon, name = 'generate_image', input: object = { prompt: 'a field' }) => {
  const { run_id } = await submit(daemon, 's1', `/tool ${name} ${JSON.stringify(input)}`)
  await until(daemon, run_id, 'completed')
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  const own = body.session.journal.filter((one: any) => one.run_id === run_id && one.type === 'outcome')
  return own[0].entry
}

const made = (more: object) => () => ({ files: [png], ...more })
const wrong: Readonly<Record<string, (...given: never[]) => unknown>> = {
  ...poisons,
  broken: () => {
    throw new Error('it is broken')
  },
  nothing: () => null,
  number: () => 7,
  empty: () => ({}),
  none: made({ files: [] }),
  text: made({ files: ['x'] }),
  holes: made({ files: [null] }),
  many: made({ files: Array(50).fill(png) }),
  large: made({ files: [Buffer.alloc(40_000_000)] }),
  usage: made({ usage: 7 }),
  tokens: made({ usage: { input_tokens: -5, output_tokens: 'x' } }),
  prompt: made({ revised_prompt: 7 }),
}

test.serial('makers-9: what a maker may not make has failed by its plugin, and nothing is stored', async (t) => {
  const daemon = await start(t)
  const calls = [
    ['pictures', 'generate_image', { prompt: 'a field' }],
    ['speech', 'generate_audio', { input: 'Hello.' }],
  ] as const
  for (const [part, tool, input] of calls)
    for (const [name, answer] of Object.entries(wrong)) {
      say({ [`${part}.make of media-makers@1`]: answer })
      const outcome = await called(daemon, tool, input)
      t.is(outcome.state, 'failed', `${part} ${name}`)
      t.true(JSON.stringify(outcome).includes(`The plugin ${asTold} failed in ${part}.make of media-makers@1`), name)
      charged(t, daemon, `${part}.make of media-makers@1`, `${part} ${name}`)
    }
  t.deepEqual((await daemon.request('GET', '/v1/assets')).body, [])
  say({ 'pictures.make of media-makers@1': made({ usage: { input_tokens: 1, output_tokens: 2 } }) })
  t.is((await called(daemon)).state, 'done')
})

const asking = (question: object) => async (_: unknown, server: MediaServer) => {
  await server.ask(unsafeCast({ path: '/x', content_type: 'text/plain', body: '', ...question }))
  return { files: [png] }
}

test.serial('makers-9: a question that cannot be sent has failed, and is not unknown', async (t) => {
  const daemon = await start(t)
  const questions = [
    { path: 7, content_type: 8, body: 9 },
    { path: '@elsewhere.example/x' },
    { content_type: 7 },
    { content_type: 'text/plain\r\nc: d' },
    { body: 9 },
  ]
  for (const question of questions) {
    say({ 'pictures.make of media-makers@1': asking(question) })
    t.is((await called(daemon)).state, 'failed', JSON.stringify(question))
    charged(t, daemon, 'pictures.make of media-makers@1')
    t.regex(faultsOf(daemon).last?.message ?? '', /of its question/u)
  }
  const odd = [
    null,
    7,
    { a: 7 },
    'x'.repeat(2_000_000),
    { 'x-a': 'b\r\nc: d' },
    { 'x-a': 'Ж' },
    { 'bad name': 'x' },
    { '': 'x' },
    { Expect: '100-continue' },
    { 'content-length': '7' },
  ]
  for (const [at, headers] of odd.entries()) {
    say({ 'pictures.make of media-makers@1': asking({}), 'headers of media-makers@1': () => headers })
    const outcome = await called(daemon)
    t.is(outcome.state, 'failed')
    t.true(JSON.stringify(outcome).includes(`The plugin ${asTold} failed in headers of media-makers@1`), `${at}`)
    charged(t, daemon, 'headers of media-makers@1')
  }
  t.regex(faultsOf(daemon).last?.message ?? '', /^the header "content-length" that it returned cannot be sent$/u)
})

test('makers-9: a maker of another shape is refused with its plugin', (t) => {
  const check = (more: object) => MediaMakers.check?.(unsafeCast({ provider: 'odd', headers: () => ({}), ...more }))
  const make = () => {}
  for (const odd of [
    { pictures: 7 },
    { pictures: null },
    { pictures: { make: 7 } },
    { pictures: {} },
    { base_url: 7 },
    { headers: 7 },
  ])
    t.regex(check(odd) ?? '', /must have/u, JSON.stringify(odd))
  t.is(check({ speech: { model: 7, make } }), 'the speech of a maker must have the text model or none')
  t.is(check({ pictures: { model: 'm', make }, speech: { make } }), undefined)
})
