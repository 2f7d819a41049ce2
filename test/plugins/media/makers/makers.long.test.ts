/** Pictures and speech of model routes, over real sockets; docs/rules/makers.md. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import {
  freshRoot,
  spawnDaemon,
  startTestDaemon,
  type Reachable,
  type TestDaemonOptions,
} from '../../../support/daemon.js'
import { bytesOf, calling, saying, startOpenAiServer } from '../../../support/openai-server.js'
import { openSession, until } from '../../../support/runs.js'
import { sounds } from '../../../support/sounds.js'
import { sends, startWebServer, type Page } from '../../../support/web-server.js'

const picture = (background = 'red'): Promise<Buffer> =>
  sharp({ create: { width: 40, height: 30, channels: 3, background } })
    .png()
    .toBuffer()

/** A picture that nothing makes small: megabytes of it. */
const noise = (bytes: number): Buffer => Buffer.alloc(bytes, 'noise')

const json = (value: unknown, headers: Record<string, string> = {}): Page =>
  sends('application/json', JSON.stringify(value), headers)
const refusing =
  (status: number, body: unknown, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const given = async (...pictures: Buffer[]): Promise<Page> =>
  json({
    data: pictures.map((bytes) => ({ b64_json: bytes.toString('base64'), revised_prompt: 'A red field at dawn' })),
    usage: { input_tokens: 50, output_tokens: 4_000, total_tokens: 4_050 },
  })

const all = 'image_generation = true\nimage_edit = true\naudio_generation = true\n'
const routeTo = (origin: string, more = all): string => `default_route = "demo"

[routes.demo]
driver = "demo"

[routes.studio]
driver = "openai_compatible"
base_url = "${origin}/v1"
default_model = "brush"
audio_model = "voice-1"
api_key = "k3y-of-the-studio"
${more}`

const rootWith = async (t: ExecutionContext<any>, file: string): Promise<string> => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'routes.toml'), file)
  return root
}

/** What the server was sent, by path. */
const recorded =
  (pages: { readonly bodies: Map<string, { headers: IncomingMessage['headers']; body: Buffer }> }, page: Page): Page =>
  (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      pages.bodies.set(request.url ?? '', { headers: request.headers, body: Buffer.concat(pieces) })
      page(request, response)
    })
  }

const studio = async (
  t: ExecutionContext<any>,
  { file = routeTo, config = {} }: { file?: (origin: string) => string; config?: TestDaemonOptions['config'] } = {},
) => {
  const server = await startWebServer(t)
  const bodies = new Map<string, { headers: IncomingMessage['headers']; body: Buffer }>()
  const on = (path: string, page: Page): void => server.on(path, recorded({ bodies }, page))
  const root = await rootWith(t, file(server.origin))
  const daemon = await startTestDaemon(t, {
    root,
    config: { tools: { permission_mode: 'bypassPermissions' }, ...config },
  })
  await openSession(daemon)
  const called = (name: string, input: object, more: object = {}) => call(daemon, name, input, more)
  return { server, on, daemon, called, sent: (path: string) => bodies.get(path) }
}

const outcomesOf = async ({ request }: Pick<Reachable, 'request'>, run_id: string, session = 's1'): Promise<any[]> => {
  const { body } = await request('GET', `/v1/sessions/${session}/events`)
  return body.session.journal
    .filter((entry: any) => entry.run_id === run_id && entry.type === 'outcome')
    .map(({ entry }: any) => entry)
}

/** What the one call of a run gave: its state and output. */
const call = async (
  daemon: Pick<Reachable, 'request'>,
  name: string,
  input: object,
  more: object = {},
): Promise<any> => {
  const content = `/tool ${name} ${JSON.stringify(input)}`
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content, ...more })
  const run = await until(daemon, body.run_id, 'completed')
  const [outcome] = await outcomesOf(daemon, run.run_id)
  return outcome
}

const rawOf = async ({ url }: Reachable, asset_id: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${url}/v1/assets/${asset_id}/raw`)).arrayBuffer())

test('makers-1: generate_image asks the server of a route that has it, and stores what comes as assets', async (t) => {
  const { on, daemon, called, sent } = await studio(t)
  on('/v1/images/generations', await given(await picture(), await picture('blue')))
  const { state, output } = await called('generate_image', { prompt: 'A field', size: '1024x1024', count: 2 })
  t.is(state, 'done', JSON.stringify(output))
  t.like(output, {
    provider: 'openai_compatible',
    route_id: 'studio',
    model: 'brush',
    revised_prompt: 'A red field at dawn',
  })
  t.deepEqual(
    output.assets.map(({ media_type, file_name }: any) => [media_type, file_name]),
    [
      ['image/png', 'picture-1.png'],
      ['image/png', 'picture-2.png'],
    ],
  )
  const { width } = await sharp(await rawOf(daemon, output.assets[1].asset_id)).metadata()
  t.is(width, 40)
  const { headers, body } = sent('/v1/images/generations') ?? t.fail()
  t.is(headers.authorization, 'Bearer k3y-of-the-studio')
  t.deepEqual(JSON.parse(body.toString()), {
    model: 'brush',
    prompt: 'A field',
    n: 2,
    size: '1024x1024',
    response_format: 'b64_json',
  })
})

/** A model that makes one call of a tool and then has done it. */
const making =
  (name: string, input: object): Page =>
  (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const isOver = Buffer.concat(pieces).toString().includes('"role":"tool"')
      const { chunks } = isOver ? saying('Done.') : calling({ id: 'call_1', name, input: JSON.stringify(input) })
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytesOf(chunks))
    })
  }

test('makers-2: edit_image sends stored pictures, that of the input where it is the only one, and no other', async (t) => {
  const { on, server, daemon, called, sent } = await studio(t)
  on('/v1/images/edits', await given(await picture('green')))
  const content_base64 = (await picture()).toString('base64')
  const one = { file_name: 'a.png', media_type: 'image/png', content_base64 }
  const other = { ...one, file_name: 'b.png', content_base64: (await picture('blue')).toString('base64') }
  let sessions = 0
  const edited = async (input: object, attachments: readonly object[]): Promise<any> => {
    const session = await openSession(daemon, `e${(sessions += 1)}`)
    server.on('/v1/chat/completions', making('edit_image', input))
    const asked = { content: 'Edit', provider: 'studio', attachments }
    const { body } = await daemon.request('POST', `/v1/sessions/${session}/runs`, asked)
    await until(daemon, body.run_id, 'completed')
    return (await outcomesOf(daemon, body.run_id, session))[0]
  }
  const { state, output } = await edited({ prompt: 'Greener' }, [one])
  t.is(state, 'done', JSON.stringify(output))
  const form = await new Response(new Uint8Array(sent('/v1/images/edits')?.body ?? []), {
    headers: { 'content-type': sent('/v1/images/edits')?.headers['content-type'] ?? '' },
  }).formData()
  t.deepEqual([...form.keys()], ['model', 'prompt', 'n', 'response_format', 'image'])
  t.is((form.get('image') as File).type, 'image/png')
  const [green] = output.assets
  const named = await called('edit_image', { prompt: 'x', image_asset_ids: [green.asset_id] })
  t.is(named.state, 'done')
  for (const [input, attachments] of [
    [{ prompt: 'x' }, [one, other]],
    [{ prompt: 'x' }, []],
    [{ prompt: 'x', image_asset_ids: [] }, [one]],
  ] as const)
    t.like(await edited(input, attachments), {
      state: 'failed',
      output: { error: { code: 'media_input_unfit' } },
    })
  t.like(await called('edit_image', { prompt: 'x', image_asset_ids: ['asset_none'] }), {
    output: { error: { code: 'asset_not_found' } },
  })
})

test('assets-16: what a tool made of stored files names them, by what was done with them', async (t) => {
  const { on, daemon, called } = await studio(t)
  const stored = async (background: string): Promise<string> => {
    const content_base64 = (await picture(background)).toString('base64')
    const file = { file_name: `${background}.png`, media_type: 'image/png', content_base64 }
    return (await daemon.request('POST', '/v1/assets', file)).body.asset_id
  }
  const source = await stored('red')
  const namedBy = async (asset_id: string): Promise<any[]> =>
    (await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body.references.filter(
      ({ role }: any) => role === 'provenance_source_asset',
    )
  const edited = async (background: string, image_asset_ids: readonly string[]): Promise<string> => {
    on('/v1/images/edits', await given(await picture(background)))
    return (await called('edit_image', { prompt: 'x', image_asset_ids })).output.assets[0].asset_id
  }
  const made = await edited('green', [source, source])
  const reference = { domain: 'assets', role: 'provenance_source_asset', hard: false, detail_id: 'image_edit' }
  t.deepEqual(await namedBy(source), [{ ...reference, owner_id: made }])
  t.is((await daemon.request('DELETE', `/v1/assets/${source}`)).status, 200, 'a soft reference keeps nothing')
})

test('makers-3: generate_audio stores what was said in the format that was wished', async (t) => {
  const { on, daemon, called, sent } = await studio(t)
  const { bytes } = sounds['wav'] ?? t.fail()
  on('/v1/audio/speech', sends('audio/wav', bytes))
  const input = { input: 'Hello', instructions: 'Slowly', voice: 'amber', format: 'wav', speed: 0.5 }
  const { state, output } = await called('generate_audio', input)
  t.is(state, 'done', JSON.stringify(output))
  t.like(output, { model: 'voice-1', assets: [{ media_type: 'audio/wav', file_name: 'speech-1.wav' }] })
  t.true(bytes.equals(await rawOf(daemon, output.assets[0].asset_id)))
  const { format: response_format, ...rest } = input
  t.deepEqual(JSON.parse(sent('/v1/audio/speech')?.body.toString() ?? ''), {
    model: 'voice-1',
    response_format,
    ...rest,
  })
  const tooLong = { input: 'x'.repeat(4_097) }
  t.like(await called('generate_audio', tooLong), { output: { error: { code: 'call_input_invalid' } } })
  on('/v1/audio/speech', json({ error: 'no' }))
  t.like(await called('generate_audio', { input: 'x' }), { output: { error: { code: 'media_answer_unusable' } } })
})

test('makers-3: sound of another format than was asked for is not stored, and the format is named that came', async (t) => {
  const { on, daemon, called } = await studio(t)
  on('/v1/audio/speech', sends('audio/wav', (sounds['wav'] ?? t.fail()).bytes))
  const { error } = (await called('generate_audio', { input: 'x' })).output
  t.is(error.code, 'media_answer_unusable')
  t.regex(error.message, /mp3 was asked for, and it is wav: say format wav/u)
  t.deepEqual((await daemon.request('GET', '/v1/assets')).body, [])
})

test('makers-4: where no route has it models are not offered the tool, and a call by name is told what is lacking', async (t) => {
  const { daemon, called } = await studio(t, { file: (origin) => routeTo(origin, 'audio_generation = true\n') })
  for (const [name, capability, input] of [
    ['generate_image', 'image_generation', { prompt: 'x' }],
    ['edit_image', 'image_edit', { prompt: 'x' }],
  ] as const) {
    const { state, output } = await called(name, input)
    t.like([state, output.error.code], ['failed', 'media_unavailable'])
    t.regex(output.error.message, new RegExp(capability, 'u'))
  }
  await daemon.request('PUT', '/v1/sessions/s1/credential-scope', { credential_scope: { route_allow: ['demo'] } })
  const { output } = await called('generate_audio', { input: 'x' })
  t.is(output.error.code, 'media_unavailable')
})

/** A route of a provider for which nobody makes anything. */
const boasting = `\n[routes.boaster]\ndriver = "anthropic"\ndefault_model = "claude-x"\napi_key = "k"\n${all}`

for (const [what, more, offered] of [
  ['nothing', '', []],
  ['speech', 'audio_generation = true\n', ['generate_audio']],
  ['pictures', 'image_generation = true\nimage_edit = true\n', ['edit_image', 'generate_image']],
  ['all of it', all, ['edit_image', 'generate_audio', 'generate_image']],
  ['nothing, and another says what nobody does for it,', boasting, []],
] as const)
  test(`makers-4: where a route makes ${what} models see the tools for that and no others`, async (t) => {
    const model = await startOpenAiServer(({ number }) =>
      number === 1 ? calling({ id: 'c1', name: 'generate_image', input: '{"prompt":"x"}' }) : saying('So.'),
    )
    t.teardown(() => model.close())
    const root = await rootWith(t, routeTo(model.url.replace('/v1', ''), more).replace('"demo"', '"studio"'))
    const daemon = await startTestDaemon(t, { root, config: { tools: { permission_mode: 'bypassPermissions' } } })
    await openSession(daemon)
    const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Hello' })
    await until(daemon, body.run_id, 'completed')
    const names = [model.asked[0]?.body['tools'] ?? []].flat().map((tool: any) => tool.function.name)
    t.true(names.includes('read_file'), JSON.stringify(names))
    t.deepEqual(names.filter((name) => /^generate_|^edit_image$/u.test(name)).toSorted(), [...offered])
    if (names.includes('generate_image')) return
    const [outcome] = await outcomesOf(daemon, body.run_id)
    t.like(outcome, { state: 'failed', output: { error: { code: 'media_unavailable' } } })
    t.regex(outcome.output.error.message, /image_generation/u)
  })
test('tools-59: nobody is asked about calls that cannot be made', async (t) => {
  const { called } = await studio(t, { config: { tools: { permission_mode: 'default' } } })
  for (const [name, input, code] of [
    ['generate_image', { prompt: 'x', provider: 'none' }, 'media_route_unable'],
    ['generate_audio', { input: 'x', provider: 'none' }, 'media_route_unable'],
    ['edit_image', { prompt: 'x', provider: 'none', image_asset_ids: [] }, 'media_route_unable'],
    ['edit_image', { prompt: 'x', image_asset_ids: ['none'] }, 'asset_not_found'],
    ['edit_image', { prompt: 'x' }, 'media_input_unfit'],
    ['bash', { command: 'echo \0' }, 'command_invalid'],
    ['bash', { command: 'x'.repeat(100_001) }, 'command_invalid'],
  ] as const) {
    const { state, output } = await called(name, input)
    t.deepEqual([state, output.error.code], ['failed', code], name)
  }
})

test('makers-5: nobody is asked while no file more is taken', async (t) => {
  const { on, called, sent } = await studio(t, { config: { assets: { max_count: 1 } } })
  on('/v1/images/generations', await given(await picture()))
  t.is((await called('generate_image', { prompt: 'A field' })).state, 'done')
  on('/v1/images/generations', (request) => t.fail(`asked ${request.url}`))
  const { output } = await called('generate_image', { prompt: 'Another' })
  t.regex(JSON.stringify(output), /asset_store_full.*A further file is not taken.*max_count = 1 is the limit/u)
  t.regex(String(sent('/v1/images/generations')?.body), /A field/u)
})

test('makers-5: a call costs money, so it is asked about, is not made while a session plans, and is booked with session and day', async (t) => {
  const { on, server, daemon } = await studio(t, { config: {} })
  on('/v1/images/generations', await given(await picture()))
  await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'default' })
  const content = '/tool generate_image {"prompt":"A field"}'
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content })
  const {
    pending_approval_ids: [request_id],
  } = await until(daemon, body.run_id, 'waiting_for_approval')
  t.deepEqual(server.asked, [])
  await daemon.request('POST', `/v1/runs/${body.run_id}/approvals`, {
    resolutions: [{ request_id, behavior: 'allow' }],
  })
  await until(daemon, body.run_id, 'completed')
  const usage = (await daemon.request('GET', '/v1/usage?by=route&session_id=s1')).body
  const rows = (Array.isArray(usage) ? usage : usage.items).filter(({ route }: any) => route === 'studio')
  t.like(rows, [{ calls: 1, input_tokens: 50, output_tokens: 4_000 }], JSON.stringify(usage))
  await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'plan' })
  t.is((await call(daemon, 'generate_image', { prompt: 'x' })).state, 'refused')
  t.is(server.asked.length, 1)
})

const totals = async ({ request }: Pick<Reachable, 'request'>, by: string): Promise<any> => {
  const rows = (await request('GET', `/v1/usage?by=${by}`)).body as any[]
  const sum = (field: string): number => rows.reduce((all_, row) => all_ + (row[field] ?? 0), 0)
  const fields = ['calls', 'input_tokens', 'output_tokens', 'cost_microusd']
  return { rows, sums: Object.fromEntries(fields.map((field) => [field, sum(field)])) }
}
const usedBy = async ({ request }: Pick<Reachable, 'request'>): Promise<any> =>
  (await request('GET', '/v1/runs?limit=1')).body[0].usage

test('usage-13: what a tool asked of a model is in the sums of its run as in those of session, day, route and purpose', async (t) => {
  const prices = [{ route: 'studio', input: 10_000_000, output: 40_000_000 }]
  const { on, daemon, called } = await studio(t, {
    config: { tools: { permission_mode: 'bypassPermissions' }, usage: { prices } },
  })
  on('/v1/images/generations', await given(await picture()))
  await called('generate_image', { prompt: 'A field' })
  const used = await usedBy(daemon)
  t.like(
    used,
    { calls: 3, cost_microusd: 50 * 10 + 4_000 * 40 },
    'two answers of the model of the run, and the picture',
  )
  for (const by of ['day', 'session', 'route', 'purpose']) {
    const { rows, sums } = await totals(daemon, by)
    t.deepEqual(sums, used, by)
    if (by === 'purpose')
      t.deepEqual(
        rows.map(({ purpose }: any) => purpose),
        ['run'],
      )
  }
  on('/v1/images/generations', refusing(500, { error: { message: 'no' } }))
  const { state, used: failed } = await called('generate_image', { prompt: 'A field' })
  t.is(state, 'failed')
  t.like(failed, { route: 'studio', cost_microusd: 0 })
  t.is((await totals(daemon, 'purpose')).sums.calls, 6)
  t.is((await usedBy(daemon)).calls, 3, 'what failed counts too')
})

test('usage-13: a picture is not asked for once the budget of its run is used up', async (t) => {
  const usage = { max_run_output_tokens: 4_000 }
  const { on, server, daemon } = await studio(t, { config: { tools: { permission_mode: 'bypassPermissions' }, usage } })
  on('/v1/images/generations', await given(await picture()))
  const ask = '/tool generate_image {"prompt":"A field"}'
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: `${ask}\n${ask}` })
  const run = await until(daemon, body.run_id, 'failed')
  t.regex(run.error, /^budget_exhausted: the budget of the run is used up/u)
  const [first, second] = await outcomesOf(daemon, body.run_id)
  t.is(first.state, 'done')
  t.is(second.output.error.code, 'media_over_budget')
  t.is(server.asked.length, 1)
})

const broken: readonly (readonly [string, () => Promise<Page> | Page, string, RegExp])[] = [
  ['garbage', () => sends('application/json', '\u0000]]{"data"'), 'media_answer_unusable', /no picture/u],
  ['a web page', () => sends('text/html', '<html>'), 'media_answer_unusable', /no picture/u],
  [
    'an answer of nested lists',
    () => sends('application/json', '['.repeat(2_000_000)),
    'media_answer_unusable',
    /no picture/u,
  ],
  [
    'a picture of 30 MB',
    () => json({ data: [{ b64_json: noise(23_000_000).toString('base64') }] }),
    'media_answer_unusable',
    /neither PNG nor JPEG/u,
  ],
  [
    'more than is read',
    () => json({ data: [{ b64_json: 'A'.repeat(34_000_000) }] }),
    'media_answer_unusable',
    /larger/u,
  ],
  [
    'text for a picture',
    () => json({ data: [{ b64_json: Buffer.from('GIF89a').toString('base64') }] }),
    'media_answer_unusable',
    /neither/u,
  ],
  ['half a picture', async () => given((await picture()).subarray(0, 60)), 'asset_invalid', /./u],
  ['no base64', () => json({ data: [{ b64_json: '***' }] }), 'media_answer_unusable', /base64/u],
  [
    'a limit',
    () => refusing(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
    'media_server_unwilling',
    /again in 7 s/u,
  ],
  [
    'a fault of the request',
    () => refusing(400, { error: { message: 'no such size' } }),
    'media_refused',
    /such size/u,
  ],
  ['a key that it refuses', () => refusing(401, {}), 'media_server_unwilling', /refused the key/u],
  [
    'a failure',
    () => refusing(500, { error: { message: 'k3y-of-the-studio fell' } }),
    'media_server_unwilling',
    /status 500/u,
  ],
  ['a redirect', () => refusing(302, {}, { location: 'http://127.0.0.1:1/' }), 'media_server_unwilling', /redirects/u],
  [
    'an address of this machine',
    () => json({ data: [{ url: 'http://127.0.0.1:1/x.png' }] }),
    'media_answer_unusable',
    /private/u,
  ],
  ['a file', () => json({ data: [{ url: 'file:///etc/passwd' }] }), 'media_answer_unusable', /http/u],
]

test('makers-6: whatever a server answers that is no picture is told in words, without its key, and nothing is stored', async (t) => {
  const { on, daemon, called } = await studio(t)
  for (const [what, page, code, words] of broken) {
    on('/v1/images/generations', await page())
    const { state, output } = await called('generate_image', { prompt: 'x' })
    t.is(state, 'failed', what)
    t.is(output.error.code, code, `${what}: ${JSON.stringify(output)}`)
    t.regex(output.error.message, words, what)
    t.false(JSON.stringify(output).includes('k3y-of'), what)
  }
  t.deepEqual((await daemon.request('GET', '/v1/assets')).body, [])
})

test('makers-6: a picture that the server keeps itself is fetched from there', async (t) => {
  const { on, server, called } = await studio(t)
  server.on('/kept.png', sends('image/png', await picture()))
  on('/v1/images/generations', json({ data: [{ url: `${server.origin}/kept.png` }] }))
  t.is((await called('generate_image', { prompt: 'x' })).state, 'done')
})

test('makers-7: a call that is cancelled closes its socket, and what came of it is unknown', async (t) => {
  const { on, server, daemon } = await studio(t)
  let gone: Promise<void> | undefined
  on('/v1/images/generations', (_, response) => {
    gone = new Promise((resolve) => response.on('close', resolve))
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"data":[')
  })
  const content = '/tool generate_image {"prompt":"A field"}'
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content })
  while (gone === undefined) await new Promise((resolve) => setTimeout(resolve, 5))
  await daemon.request('POST', `/v1/runs/${body.run_id}/cancel`)
  await gone
  const { usage } = await until(daemon, body.run_id, 'cancelled')
  t.is(server.asked.length, 1)
  t.is(usage.calls, 2, 'it may have cost something, and counts for its run')
  t.is((await totals(daemon, 'session')).sums.calls, 2)
})

test('makers-7: a call in whose middle the daemon is killed is unknown, and is never made again', async (t) => {
  const server = await startWebServer(t)
  server.on('/v1/images/generations', () => {})
  const root = await rootWith(t, routeTo(server.origin))
  const flags = ['--permission-mode', 'bypassPermissions']
  const first = await spawnDaemon({ root, flags })
  await openSession(first)
  const content = '/tool generate_image {"prompt":"A field"}'
  const { body } = await first.request('POST', '/v1/sessions/s1/runs', { content })
  while (server.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await first.kill('SIGKILL')
  const second = await spawnDaemon({ root, flags })
  t.teardown(() => second.kill('SIGKILL'))
  await until(second, body.run_id, 'completed')
  t.like(await outcomesOf(second, body.run_id), [
    { state: 'unknown', output: { error: { code: 'call_outcome_unknown' } } },
  ])
  t.is(server.asked.length, 1)
})

test('makers-8: google makes one picture a call, in the shape nearest to the size', async (t) => {
  const file = (origin: string) =>
    routeTo(
      origin,
      `${all}\n[routes.gem]\ndriver = "google"\nbase_url = "${origin}/g"\napi_key = "g"\nimage_generation = true\nimage_edit = true\n`,
    )
  const { on, called, sent } = await studio(t, { file })
  const path = '/g/models/gemini-2.5-flash-image:generateContent'
  const data = (await picture()).toString('base64')
  on(
    path,
    json({ candidates: [{ content: { parts: [{ text: 'Here' }, { inlineData: { mimeType: 'image/png', data } }] } }] }),
  )
  const { state, output } = await called('generate_image', { prompt: 'A field', size: '1536x1024', provider: 'gem' })
  t.is(state, 'done', JSON.stringify(output))
  t.like(output, { provider: 'google', route_id: 'gem', model: 'gemini-2.5-flash-image' })
  t.is(sent(path)?.headers['x-goog-api-key'], 'g')
  t.deepEqual(JSON.parse(sent(path)?.body.toString() ?? ''), {
    contents: [{ role: 'user', parts: [{ text: 'A field' }] }],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '3:2' } },
  })
  const [asset] = output.assets
  t.is(
    (await called('edit_image', { prompt: 'x', provider: 'google', image_asset_ids: [asset.asset_id] })).state,
    'done',
  )
  t.like(JSON.parse(sent(path)?.body.toString() ?? '').contents[0].parts[1], { inlineData: { mimeType: 'image/png' } })
  t.is(
    (await called('generate_image', { prompt: 'x', count: 2, provider: 'gem' })).output.error.code,
    'media_wish_unsupported',
  )
  t.is((await called('generate_audio', { input: 'x', provider: 'gem' })).output.error.code, 'media_route_unable')
  on(path, json({ candidates: [{ finishReason: 'IMAGE_SAFETY' }] }))
  t.regex((await called('generate_image', { prompt: 'x', provider: 'gem' })).output.error.message, /IMAGE_SAFETY/u)
})

test('makers-8: xai is asked in JSON, for the shape nearest to the size, and edits one picture or several', async (t) => {
  const file = (origin: string) =>
    routeTo(
      origin,
      `${all}\n[routes.grok]\ndriver = "xai"\nbase_url = "${origin}/x"\ndefault_model = "grok-4"\napi_key = "x"\n` +
        'image_generation = true\nimage_edit = true\n',
    )
  const { on, called, sent } = await studio(t, { file })
  const asked = (path: string): any => JSON.parse(sent(path)?.body.toString() ?? '')
  on('/x/images/generations', await given(await picture(), await picture('blue')))
  on('/x/images/edits', await given(await picture('green')))
  const { state, output } = await called('generate_image', {
    prompt: 'A field',
    size: '1600x900',
    count: 2,
    provider: 'grok',
  })
  t.is(state, 'done', JSON.stringify(output))
  t.like(output, { provider: 'xai', route_id: 'grok', model: 'grok-imagine-image' })
  t.is(sent('/x/images/generations')?.headers['authorization'], 'Bearer x')
  t.deepEqual(asked('/x/images/generations'), {
    model: 'grok-imagine-image',
    prompt: 'A field',
    n: 2,
    aspect_ratio: '16:9',
    response_format: 'b64_json',
  })
  const ids = output.assets.map(({ asset_id }: any) => asset_id)
  t.is(ids.length, 2)
  t.is((await called('edit_image', { prompt: 'x', provider: 'xai', image_asset_ids: ids.slice(1) })).state, 'done')
  const { image, ...rest } = asked('/x/images/edits')
  t.deepEqual(rest, { model: 'grok-imagine-image', prompt: 'x', n: 1, response_format: 'b64_json' })
  t.regex(image.url, /^data:image\/png;base64,./u)
  t.is((await called('edit_image', { prompt: 'x', provider: 'xai', image_asset_ids: ids })).state, 'done')
  t.deepEqual(
    asked('/x/images/edits').images.map(({ type }: any) => type),
    ['image_url', 'image_url'],
  )
  t.is((await called('generate_audio', { input: 'x', provider: 'grok' })).output.error.code, 'media_route_unable')
})

test('makers-8: openrouter makes one picture a call by a message, edits those that it is given, and says a text', async (t) => {
  const file = (origin: string) =>
    routeTo(
      origin,
      `${all}\n[routes.router]\ndriver = "openrouter"\nbase_url = "${origin}/r"\ndefault_model = "openai/gpt-5.4-mini"\n` +
        `api_key = "r"\n${all}`,
    )
  const { on, called, sent } = await studio(t, { file })
  const path = '/r/chat/completions'
  const asked = (): any => JSON.parse(sent(path)?.body.toString() ?? '')
  const answer = (url: string): Page =>
    json({
      choices: [
        { message: { role: 'assistant', content: 'Here.', images: [{ type: 'image_url', image_url: { url } }] } },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 1290 },
    })
  on(path, answer(`data:image/png;base64,${(await picture()).toString('base64')}`))
  const { state, output } = await called('generate_image', { prompt: 'A field', size: '16:9', provider: 'router' })
  t.is(state, 'done', JSON.stringify(output))
  t.like(output, { provider: 'openrouter', route_id: 'router', model: 'google/gemini-2.5-flash-image' })
  t.is(sent(path)?.headers['authorization'], 'Bearer r')
  t.deepEqual(asked(), {
    model: 'google/gemini-2.5-flash-image',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'A field' }] }],
    modalities: ['image', 'text'],
    image_config: { aspect_ratio: '16:9' },
  })
  const ids = output.assets.map(({ asset_id }: any) => asset_id)
  const model = 'black-forest-labs/flux.2-pro'
  t.is((await called('edit_image', { prompt: 'x', provider: 'router', model, image_asset_ids: ids })).state, 'done')
  t.like(asked(), { model, modalities: ['image'] })
  t.regex(asked().messages[0].content[1].image_url.url, /^data:image\/png;base64,./u)
  const codeOf = async (input: object): Promise<string> =>
    (await called('generate_image', { prompt: 'x', provider: 'router', ...input })).output.error.code
  t.is(await codeOf({ count: 2 }), 'media_wish_unsupported')
  on(path, json({ choices: [{ message: { role: 'assistant', content: 'I cannot.' } }] }))
  t.is(await codeOf({}), 'media_answer_unusable')
  on(path, answer('data:image/png;base64,%%%'))
  t.is(await codeOf({}), 'media_answer_unusable')
  on('/r/audio/speech', sends('audio/mpeg', sounds['mp3']?.bytes ?? ''))
  const said = await called('generate_audio', { input: 'Good morning', provider: 'router' })
  t.is(said.state, 'done', JSON.stringify(said.output))
  const speech = { model: 'openai/gpt-4o-mini-tts-2025-12-15', input: 'Good morning', voice: 'alloy' }
  t.deepEqual(JSON.parse(sent('/r/audio/speech')?.body.toString() ?? ''), { ...speech, response_format: 'mp3' })
})
