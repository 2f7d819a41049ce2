/** Speech that is written down; docs/rules/derivations.md. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { literal, object } from '../../../../core/plugin.js'
import { Assets, type Asset } from '../../../../plugins/media/assets/contract.js'
import { defineSubject, DerivationSubjects } from '../../../../plugins/media/derivations/contract.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createLatch } from '../../../support/latch.js'
import { lender, testPlugin } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'
import { sounds } from '../../../support/sounds.js'
import { saying, startTranscriptionServer } from '../../../support/transcription-server.js'

const clock = createClock()
const key = 'sk-test-4f9c2b7e1d8a6035'

const routes = (base_url: string, more = '', driver = 'openai_compatible'): string => `default_route = "talk"

[routes.talk]
driver = "demo"

[routes.ears]
driver = "${driver}"
base_url = "${base_url}"
default_model = "${driver === 'openrouter' ? 'a/tiny' : 'tiny'}"
api_key = "${key}"
transcription = true
${more}
`

/** A daemon with a route that writes speech down. */
const start = async (
  t: ExecutionContext,
  more = '',
  { driver, ...options }: TestDaemonOptions & { driver?: string } = {},
) => {
  const server = await startTranscriptionServer(t)
  const root = options.root ?? (await freshRoot())
  mkdirSync(path.join(root, 'config'), { recursive: true })
  writeFileSync(path.join(root, 'config/routes.toml'), routes(server.base_url, more, driver))
  return { server, root, daemon: await startTestDaemon(t, { ...options, root }) }
}

const store = async (daemon: TestDaemon, sound = 'wav', more: object = {}): Promise<any> => {
  const { media_type, bytes } = sounds[sound] ?? { media_type: '', bytes: Buffer.alloc(0) }
  const content_base64 = bytes.toString('base64')
  return (await daemon.request('POST', '/v1/assets', { file_name: 'a.wav', media_type, content_base64, ...more })).body
}
const write = (daemon: TestDaemon, asset_id: string, transcription?: object, query = '') =>
  daemon.request('POST', `/v1/derivations${query}`, {
    profile: 'canonical_text',
    subject: { type: 'asset', asset_id },
    ...(transcription && { transcription }),
  })
const assetOf = async (daemon: TestDaemon, asset_id: string): Promise<any> =>
  (await daemon.request('GET', `/v1/assets/${asset_id}`)).body
const read = async (daemon: TestDaemon, asset_id: string, part = 'raw'): Promise<string> =>
  (await fetch(`${daemon.url}/v1/assets/${asset_id}/${part}`)).text()
const list = async (daemon: TestDaemon): Promise<any[]> => (await daemon.request('GET', '/v1/derivations')).body

test('derivations-13: the route that has transcription is asked, and its words are an asset', async (t) => {
  const { server, daemon } = await start(t, 'transcription_model = "whisper-9"')
  server.answer(saying(' Guten Tag. '))
  const sound = await store(daemon)
  const { status, body } = await write(daemon, sound.asset_id)
  t.is(status, 200, JSON.stringify(body))
  t.deepEqual(body.backend, {
    kind: 'transcription',
    route_id: 'ears',
    provider: 'openai_compatible',
    model: 'whisper-9',
    pipeline_version: 1,
    stitching_strategy: 'single_part',
    part_count: 1,
  })
  t.is(await read(daemon, body.result_asset_id), 'Guten Tag.')
  const [asked] = server.asked
  t.is(asked?.path, '/v1/audio/transcriptions')
  t.is(asked?.headers.authorization, `Bearer ${key}`)
  t.deepEqual(asked?.fields, { model: ['whisper-9'], response_format: ['json'] })
  t.deepEqual([asked?.file.name, asked?.file.type], ['sound.wav', 'audio/wav'])
  t.true(asked?.file.bytes.equals(sounds['wav']?.bytes ?? Buffer.alloc(0)))
  const { body: runtime } = await daemon.request('GET', '/v1/runtime')
  t.true(runtime.routes.find(({ route_id }: any) => route_id === 'ears').transcription)
  const { body: seen } = await daemon.request('GET', '/v1/status')
  t.like(seen.transcription, { available: true, route_id: 'ears', model: 'whisper-9', consecutive_failures: 0 })
})

test('usage-14: what transcription used is booked with its day for that purpose, failed ones too, within the budget of the day', async (t) => {
  const prices = [{ route: 'ears', input: 1_000_000, output: 2_000_000 }]
  const usage = { prices, max_day_cost_usd: 0.0002 }
  const { server, daemon } = await start(t, '', { config: { usage } })
  const rows = async (): Promise<unknown> => (await daemon.request('GET', '/v1/usage?by=purpose')).body
  server.answer((_, response) => void response.writeHead(500).end())
  await write(daemon, (await store(daemon)).asset_id)
  t.deepEqual(await rows(), [
    { purpose: 'transcription', calls: 1, input_tokens: 0, output_tokens: 0, cost_microusd: 0 },
  ])
  server.answer(saying('Hello.', { usage: { type: 'tokens', input_tokens: 100, output_tokens: 50 } }))
  t.is((await write(daemon, (await store(daemon)).asset_id)).status, 200)
  const used = { calls: 2, input_tokens: 100, output_tokens: 50, cost_microusd: 200 }
  t.deepEqual(await rows(), [{ purpose: 'transcription', ...used }])
  const refused = await write(daemon, (await store(daemon, 'mp3')).asset_id)
  t.deepEqual(codeOf(refused), [503, 'transcription_unready'])
  t.regex(refused.body.detail, /budget_exhausted: the budget of the day/u)
  t.is(server.asked.length, 2)
})

test('usage-14: a server that tells seconds in place of tokens has told no tokens', async (t) => {
  const { server, daemon } = await start(t)
  server.answer(saying('Hello.', { usage: { type: 'duration', seconds: 3 } }))
  t.is((await write(daemon, (await store(daemon)).asset_id)).status, 200)
  const { body } = await daemon.request('GET', '/v1/usage?by=route')
  t.deepEqual(body, [{ route: 'ears', calls: 1, input_tokens: 0, output_tokens: 0 }])
})

/** A kind of subjects whose sound comes with words. */
const captioned = () => {
  const of: { sound?: Asset; words?: Asset } = {}
  const plugin = testPlugin('captions', {
    register(ctx) {
      ctx.contribute(
        DerivationSubjects,
        defineSubject({
          type: 'captioned',
          struct: object({ type: literal('captioned') }),
          key: () => 'captioned:1',
          resolve: () => ({
            fingerprint: 'captioned',
            ...(of.sound && { asset: of.sound }),
            ...(of.words && { canonical: { ...of.words, asset: of.words, given: true as const } }),
          }),
        }),
      )
    },
  })
  return { of, plugin }
}

test('derivations-14: words that came with the sound are taken, and without a route there are none', async (t) => {
  const { of, plugin } = captioned()
  const { plugin: lends, services } = lender({ assets: Assets })
  const { server, root, daemon } = await start(t, '', { plugins: [plugin, lends] })
  const { asset_id } = await store(daemon)
  of.sound = services().assets.get(asset_id)
  of.words = await services().assets.add({
    file_name: 'c.txt',
    media_type: 'text/plain',
    bytes: Buffer.from('As captioned'),
  })
  const ask = (query = '', more: object = {}) =>
    daemon.request('POST', `/v1/derivations${query}`, {
      profile: 'canonical_text',
      subject: { type: 'captioned' },
      ...more,
    })
  for (const query of ['', '?force_refresh=true']) {
    const { body } = await ask(query)
    t.is(body.result_asset_id, of.words.asset_id)
    t.false('backend' in body)
  }
  t.is(server.asked.length, 0)
  const wished = await ask('', { transcription: { language: 'en' } })
  t.is(await read(daemon, wished.body.result_asset_id), 'Hello.')
  t.is(server.asked.length, 1, 'who wishes something has it listened to')
  rmSync(path.join(root, 'config/routes.toml'))
  const isGone = async (): Promise<boolean> => !(await daemon.request('GET', '/v1/status')).body.transcription.available
  while (!(await isGone())) await clock.sleep(20)
  const lasting = await write(daemon, asset_id)
  t.deepEqual(codeOf(lasting), [400, 'transcription_unavailable'])
  t.like((await write(daemon, asset_id)).body, { status: 'failed', cache_status: 'hit' })
  t.deepEqual(codeOf(await write(daemon, asset_id, { language: 'en' })), [400, 'transcription_unavailable'])
  writeFileSync(path.join(root, 'config/routes.toml'), routes(server.base_url))
  while (await isGone()) await clock.sleep(20)
  t.like((await write(daemon, asset_id)).body, { status: 'completed', cache_status: 'miss' })
})

test('derivations-14: where no route has transcription, and where one says so that cannot, nobody is asked and the reason is told', async (t) => {
  for (const [file, reason] of [
    ['[routes.talk]\ndriver = "demo"\n', /no model route of config\/routes\.toml has transcription/u],
    ['[routes.talk]\ndriver = "demo"\ntranscription = true\n', /route talk is not ready: .*no transcription/u],
  ] as const) {
    const root = await freshRoot()
    t.teardown(() => rmSync(root, { recursive: true, force: true }))
    mkdirSync(path.join(root, 'config'), { recursive: true })
    writeFileSync(path.join(root, 'config/routes.toml'), file)
    const daemon = await startTestDaemon(t, { root })
    const answer = await write(daemon, (await store(daemon)).asset_id)
    t.deepEqual(codeOf(answer), [400, 'transcription_unavailable'])
    t.regex(answer.body.detail, reason)
    const { transcription } = (await daemon.request('GET', '/v1/status')).body
    t.false(transcription.available)
    t.regex(transcription.reason, reason)
    t.deepEqual((await daemon.request('GET', '/v1/usage?by=purpose')).body, [])
  }
})

test('derivations-15: words become the text of the asset; those that were wished otherwise do not', async (t) => {
  const { server, daemon } = await start(t)
  server.answer(saying('The first words'))
  const sound = await store(daemon)
  t.false('text_uri' in sound)
  const first = (await write(daemon, sound.asset_id)).body
  const known = await assetOf(daemon, sound.asset_id)
  t.is(await read(daemon, sound.asset_id, 'text'), 'The first words')
  t.regex(
    first.source_fingerprint,
    new RegExp(
      `^asset:v2:audio/wav:${sound.sha256}:canonical:text/plain:${known.text_sha256}:transcription:v1:[0-9a-f]{64}$`,
      'u',
    ),
  )
  t.deepEqual((await write(daemon, sound.asset_id)).body, { ...first, cache_status: 'hit' })
  const named = async (asset_id: string) =>
    (await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body.references.filter(
      ({ domain }: { domain: string }) => domain === 'assets',
    )
  const attached = { domain: 'assets', owner_id: sound.asset_id, role: 'attached_text_asset', hard: false }
  t.deepEqual(await named(first.result_asset_id), [attached])
  server.answer(saying('Other words'))
  const wish = { prompt: ' Names: Ada ', language: ' en ', timestamp_granularities: [] }
  const other = (await write(daemon, sound.asset_id, wish)).body
  t.is(await read(daemon, other.result_asset_id), 'Other words')
  t.deepEqual(server.asked.at(-1)?.fields, {
    model: ['tiny'],
    response_format: ['json'],
    prompt: ['Names: Ada'],
    language: ['en'],
  })
  t.notRegex(other.source_fingerprint, /canonical|Ada/u)
  t.is((await write(daemon, sound.asset_id, { prompt: 'Names: Ada', language: 'en' })).body.cache_status, 'hit')
  t.is((await write(daemon, sound.asset_id, { language: 'en' })).body.cache_status, 'miss')
  t.is((await write(daemon, sound.asset_id, { prompt: ' ' })).body.derivation_id, first.derivation_id, 'blank is none')
  t.is((await assetOf(daemon, sound.asset_id)).text_sha256, known.text_sha256)
  server.answer(saying('Newer words'))
  const forced = (await write(daemon, sound.asset_id, undefined, '?force_refresh=true')).body
  t.is(await read(daemon, sound.asset_id, 'text'), 'Newer words')
  t.is((await write(daemon, sound.asset_id)).body.derivation_id, forced.derivation_id)
  t.deepEqual(await named(first.result_asset_id), [])
  t.deepEqual(await named(forced.result_asset_id), [attached])
})

test('derivations-16: wishes that cannot be fulfilled are refused, and nothing is recorded', async (t) => {
  const { server, daemon } = await start(t, 'transcription_model = "gpt-4o-transcribe"')
  const sound = await store(daemon)
  const text = await store(daemon, 'wav', { media_type: 'text/plain', content_base64: 'SGVsbG8=' })
  for (const [asset_id, wish, code, at] of [
    [text.asset_id, { language: 'en' }, 'derivation_invalid', 'body.transcription'],
    [sound.asset_id, { prompt: 'x'.repeat(2_001) }, 'derivation_invalid', 'body.transcription.prompt'],
    [sound.asset_id, { language: 'x'.repeat(33) }, 'derivation_invalid', 'body.transcription.language'],
    [sound.asset_id, { language: 'dänisch' }, 'derivation_invalid', 'body.transcription.language'],
    [
      sound.asset_id,
      { timestamp_granularities: ['word', 'word'] },
      'derivation_invalid',
      'body.transcription.timestamp_granularities',
    ],
    [
      sound.asset_id,
      { timestamp_granularities: ['word'] },
      'derivation_invalid',
      'body.transcription.timestamp_granularities',
    ],
    [sound.asset_id, { timestamp_granularities: ['syllable'] }, 'bad_request', undefined],
    [sound.asset_id, { mood: 'calm' }, 'bad_request', 'body.transcription.mood'],
  ] as const) {
    const answer = await write(daemon, asset_id, wish)
    t.deepEqual(codeOf(answer), [400, code], JSON.stringify(wish).slice(0, 60))
    if (at !== undefined) t.is(answer.body.errors[0].path, at)
  }
  t.is((await write(daemon, sound.asset_id, { prompt: 'ä'.repeat(2_000), language: 'x'.repeat(32) })).status, 200)
  t.is(server.asked.length, 1)
  t.is((await list(daemon)).length, 1)
})

test('derivations-13, derivations-16: openrouter writes speech down too, and a prompt that it passes over is refused', async (t) => {
  const { server, daemon } = await start(t, '', { driver: 'openrouter' })
  const sound = await store(daemon)
  const refused = await write(daemon, sound.asset_id, { prompt: 'Names: Ada' })
  t.deepEqual(
    [codeOf(refused), refused.body.errors[0].path],
    [[400, 'derivation_invalid'], 'body.transcription.prompt'],
  )
  server.answer(saying('Hi', { usage: { seconds: 9, cost: 0.0005 }, words: [{ word: 'Hi', start: 0, end: 1 }] }))
  const { body } = await write(daemon, sound.asset_id, { language: 'en', timestamp_granularities: ['word'] })
  t.like(body.backend, { provider: 'openrouter', model: 'openai/whisper-1' })
  t.is(await read(daemon, body.result_asset_id), 'Hi')
  const [{ path: at, headers, fields } = t.fail(), ...others] = server.asked
  t.deepEqual([at, headers.authorization, others], ['/v1/audio/transcriptions', `Bearer ${key}`, []])
  t.deepEqual(fields, {
    model: ['openai/whisper-1'],
    response_format: ['verbose_json'],
    language: ['en'],
    'timestamp_granularities[]': ['word'],
  })
})

test('derivations-17: the times of words and parts are an asset of their own', async (t) => {
  const { server, daemon } = await start(t)
  const words = [{ word: 'Hi', start: 0, end: 0.25 }]
  server.answer(
    saying('Hi', { language: 'en', duration: 0.5, words, segments: [{ id: 0, text: ' Hi', start: 0, end: 0.5 }] }),
  )
  const sound = await store(daemon)
  const { body } = await write(daemon, sound.asset_id, { timestamp_granularities: ['word', 'segment'] })
  t.deepEqual(server.asked[0]?.fields['timestamp_granularities[]'], ['segment', 'word'])
  t.deepEqual(server.asked[0]?.fields['response_format'], ['verbose_json'])
  const { timestamp_asset_id } = body.backend
  t.deepEqual(JSON.parse(await read(daemon, timestamp_asset_id)), {
    duration_ms: 500,
    language: 'en',
    words: [{ text: 'Hi', start_ms: 0, end_ms: 250 }],
    segments: [{ text: 'Hi', start_ms: 0, end_ms: 500 }],
  })
  const asset = await assetOf(daemon, timestamp_asset_id)
  t.deepEqual([asset.media_type, asset.derivation_ids], ['application/json', [body.derivation_id]])
  const { body: named } = await daemon.request('GET', `/v1/assets/${timestamp_asset_id}/references`)
  t.like(named.references[0], { domain: 'derivations', role: 'timestamp_asset', hard: true })
  server.answer(saying('Hi'))
  const without = await write(daemon, sound.asset_id, { timestamp_granularities: ['word'] })
  t.deepEqual(codeOf(without), [400, 'derivation_invalid'])
  t.is((await list(daemon)).length, 1)
})

test('derivations-18: sound is looked at again before it is sent', async (t) => {
  const { server, root, daemon } = await start(t)
  const raw = await store(daemon, 'wav', { media_type: 'audio/pcm', content_base64: 'AAAAAA==' })
  t.deepEqual(codeOf(await write(daemon, raw.asset_id)), [400, 'transcription_audio_invalid'])
  const sound = await store(daemon)
  const folder = path.join(root, 'blobs/assets')
  const file = readdirSync(folder, { recursive: true, withFileTypes: true }).find(({ name }) => name === sound.sha256)
  writeFileSync(path.join(file?.parentPath ?? '', file?.name ?? ''), Buffer.alloc(sound.byte_length))
  t.deepEqual(codeOf(await write(daemon, sound.asset_id)), [409, 'asset_integrity_mismatch'])
  t.is(server.asked.length, 0)
  t.deepEqual(await list(daemon), [])
  t.is((await store(daemon)).asset_id, sound.asset_id)
  t.is((await write(daemon, sound.asset_id)).status, 200, 'the same file mends it')
})

test('derivations-18: what an earlier version took and this one does not is not sent', async (t) => {
  const { plugin: lends, services } = lender({ assets: Assets })
  const { of, plugin } = captioned()
  const { server, daemon } = await start(t, '', { plugins: [lends, plugin] })
  const text = await services().assets.add({
    file_name: 'lie.wav',
    media_type: 'text/plain',
    bytes: Buffer.from('no sound'),
  })
  const ask = () =>
    daemon.request('POST', '/v1/derivations', { profile: 'canonical_text', subject: { type: 'captioned' } })
  const { text_uri: _, text_sha256: _sha, text_byte_length: _length, ...lie } = text
  of.sound = { ...lie, media_type: 'audio/wav' }
  t.deepEqual(codeOf(await ask()), [400, 'transcription_audio_invalid'])
  of.sound = { ...of.sound, byte_length: 26_214_401 }
  const large = await ask()
  t.deepEqual(codeOf(large), [400, 'transcription_audio_invalid'])
  t.regex(large.body.detail, /26214400 are the most/u)
  t.is(server.asked.length, 0)
  t.deepEqual(await list(daemon), [])
})

test('derivations-19: what may go another time is not recorded, what a server refuses is', async (t) => {
  const { server, daemon } = await start(t, 'idle_timeout_ms = 1500')
  const { asset_id } = await store(daemon)
  const passing = async (): Promise<any> => {
    const answer = await write(daemon, asset_id)
    t.deepEqual(codeOf(answer), [503, 'transcription_unready'], answer.text)
    t.false(answer.text.includes(key))
    return answer
  }
  const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
    server.answer((_, response) => void response.writeHead(status, headers).end(body))
  server.answer(() => {})
  await passing()
  while (server.left.count === 0) await clock.sleep(10)
  answering(429, '{"error":{"message":"slow down"}}', { 'retry-after': '17' })
  t.is(new Headers((await passing()).headers).get('retry-after'), '17')
  answering(500, 'oops')
  await passing()
  for (const garbage of ['<html>', '{}', '[]', '{"text":7}', '', 'null']) {
    answering(200, garbage)
    await passing()
  }
  server.answer((_, response) => void response.destroy())
  await passing()
  t.deepEqual(await list(daemon), [])
  const warned = daemon.daemon.view.warnings().find(({ code }) => code === 'transcription_failing')
  t.regex(warned?.message ?? '', /^Speech was not written down, 10 sounds since it last was\. /u)
  for (const [status, body] of [
    [401, `{"error":{"message":"Incorrect API key provided: ${key}"}}`],
    [400, '{"error":{"message":"the file is corrupt"}}'],
    [302, ''],
    [200, JSON.stringify({ text: 'x'.repeat(5 * 1024 * 1024) })],
  ] as const) {
    answering(status, body)
    const lasting = await write(daemon, asset_id, undefined, '?retry_failed=true')
    t.deepEqual(codeOf(lasting), [502, 'transcription_failed'], lasting.text)
    const hit = await write(daemon, asset_id)
    t.like(hit.body, { status: 'failed', cache_status: 'hit', derivation_id: lasting.body.derivation_id })
    t.false(`${lasting.text}${hit.text}`.includes(key))
  }
  server.answer(saying('At last'))
  t.like((await write(daemon, asset_id, undefined, '?retry_failed=true')).body, { status: 'completed' })
  t.false(daemon.daemon.view.warnings().some(({ code }) => code === 'transcription_failing'))
  t.is((await list(daemon)).filter(({ status }) => status === 'failed').length, 4)
})

test('derivations-19: sound without speech is told as such, and no route is blamed', async (t) => {
  const { server, daemon } = await start(t)
  const { asset_id } = await store(daemon)
  server.answer((_, response) => void response.writeHead(200).end('{"text":"  "}'))
  const { body, ...answer } = await write(daemon, asset_id)
  t.deepEqual(codeOf({ body, ...answer }), [400, 'transcription_silent'])
  t.notRegex(JSON.stringify(body), /route/u)
  const hit = await write(daemon, asset_id)
  t.like(hit.body, { status: 'failed', cache_status: 'hit', derivation_id: body.derivation_id })
})

test('derivations-20: a stop ends what is under way, and the same request asks again', async (t) => {
  const { server, root, daemon } = await start(t)
  const { asset_id } = await store(daemon)
  const latch = createLatch()
  server.answer(() => void latch.wait())
  const under = write(daemon, asset_id).catch(() => undefined)
  await latch.reached
  await daemon.stop()
  await under
  while (server.left.count === 0) await clock.sleep(10)
  server.answer(saying('Again'))
  const second = await startTestDaemon(t, { root })
  t.deepEqual(await list(second), [])
  t.like((await write(second, asset_id)).body, { status: 'completed', cache_status: 'miss' })
})

test('derivations-22: nobody is asked to write down what there is no room for', async (t) => {
  const root = await freshRoot()
  const full = await start(t, '', { root, config: { assets: { max_count: 1 } } })
  const { asset_id } = await store(full.daemon)
  for (const transcription of [undefined, { language: 'en' }]) {
    const refused = await write(full.daemon, asset_id, transcription)
    t.deepEqual(codeOf(refused), [507, 'asset_store_full'])
    t.regex(refused.body.detail, /max_count = 1/u)
  }
  t.is(full.server.asked.length, 0)
  t.deepEqual(await list(full.daemon), [])
  await full.daemon.stop()
  const { server, daemon } = await start(t, '', { root })
  t.is((await write(daemon, asset_id)).status, 200)
  t.is(server.asked.length, 1)
})
