/** What servers of models answer as a whole, on cassettes; docs/rules/models.md. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { loadCassette } from '../../../../../plugins/providers/streamed/cassette/load.js'
import { partingOf, stepsOf } from '../../../../../plugins/providers/streamed/cassette/replay.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { codeOf, openSession, until } from '../../../../support/runs.js'
import { sounds } from '../../../../support/sounds.js'
import { saying, startTranscriptionServer } from '../../../../support/transcription-server.js'
import { startWebServer, sends } from '../../../../support/web-server.js'

const key = 'very-secret-key-of-nobody-1234'

const folder = async (t: ExecutionContext): Promise<string> => {
  const path = await freshRoot()
  mkdirSync(join(path, 'config'), { recursive: true })
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const start = async (t: ExecutionContext, base_url: string, cassette: Record<string, string>) => {
  const root = await folder(t)
  const can = 'transcription = true\nimage_generation = true\naudio_generation = true'
  writeFileSync(
    join(root, 'config/routes.toml'),
    `default_route = "talk"\n[routes.talk]\ndriver = "demo"\n[routes.able]\ndriver = "openai_compatible"\n` +
      `base_url = "${base_url}"\ndefault_model = "tiny"\napi_key = "${key}"\n${can}\n`,
  )
  const daemon = await startTestDaemon(t, {
    root,
    config: { tools: { permission_mode: 'bypassPermissions' }, 'streamed-models': cassette },
  })
  const heard = async (sound: string, more: object = {}): Promise<any> => {
    const { media_type, bytes } = sounds[sound] ?? { media_type: '', bytes: Buffer.alloc(0) }
    const content_base64 = bytes.toString('base64')
    const { body } = await daemon.request('POST', '/v1/assets', { file_name: 'a.wav', media_type, content_base64 })
    const subject = { type: 'asset', asset_id: body.asset_id }
    return daemon.request('POST', '/v1/derivations', { profile: 'canonical_text', subject, ...more })
  }
  const raw = async (asset_id: string): Promise<Buffer> =>
    Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)).arrayBuffer())
  const call = async (name: string, input: object): Promise<any> => {
    const content = `/tool ${name} ${JSON.stringify(input)}`
    const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content })
    await until(daemon, body.run_id, 'completed')
    const { session } = (await daemon.request('GET', '/v1/sessions/s1/events')).body
    return session.journal.find((one: any) => one.run_id === body.run_id && one.type === 'outcome').entry
  }
  await openSession(daemon)
  return { daemon, heard, raw, call }
}

test('models-47: a transcription is recorded without its sound and without secrets, and plays without its server', async (t) => {
  const file = join(await folder(t), 'heard.cassette')
  const server = await startTranscriptionServer(t)
  server.answer(saying(`Good day, ${key}.`))
  const first = await start(t, server.base_url, { record_cassette: file })
  const transcription = { prompt: `About ${key}` }
  t.is((await first.heard('wav', { transcription })).status, 200)
  t.is((await first.heard('mp3')).status, 200)
  await first.daemon.stop()
  const text = readFileSync(file, 'utf8')
  t.false(text.includes(key))
  t.false(text.includes((sounds['wav']?.bytes ?? Buffer.alloc(0)).toString('base64').slice(0, 40)))
  const [, sent] = text.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)))
  t.is(sent.path, '/v1/audio/transcriptions')
  t.like(sent.request.form[0], { name: 'file', file_name: 'sound.wav', media_type: 'audio/wav' })
  t.regex(sent.request.form[0].sha256, /^[0-9a-f]{64}$/u)
  t.deepEqual(sent.request.form.at(-1), { name: 'prompt', value: 'About [redacted]' })

  const played = await start(t, server.base_url, { play_cassette: file })
  const mp3 = await played.heard('mp3')
  t.is(mp3.status, 200, JSON.stringify(mp3.body))
  t.is((await played.raw(mp3.body.result_asset_id)).toString(), 'Good day, [redacted].')
  const other = await played.heard('wav', { transcription: { prompt: 'About something else' } })
  t.deepEqual(codeOf(other), [503, 'transcription_unready'])
  t.regex(other.body.detail, /not the recorded one of line 2: request\.form\.3\.value/u)
  t.is((await played.heard('wav', { transcription })).status, 200)
  t.regex((await played.heard('flac')).body.detail, /no exchange left: 2 were recorded/u)
  t.is(server.asked.length, 2, 'no socket was opened')
})

test('models-47: pictures and speech that models make are recorded whole, and play without their server', async (t) => {
  const file = join(await folder(t), 'made.cassette')
  const server = await startWebServer(t)
  const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const sound = sounds['mp3']?.bytes ?? Buffer.alloc(0)
  server.on(
    '/v1/images/generations',
    sends('application/json', JSON.stringify({ data: [{ url: `${server.origin}/kept.png?x=1` }] })),
  )
  server.on('/kept.png', sends('image/png', picture))
  server.on('/v1/audio/speech', sends('audio/mpeg', sound))
  const made = async ({ call, raw }: Awaited<ReturnType<typeof start>>) => {
    const drawn = await call('generate_image', { prompt: 'A field' })
    const said = await call('generate_audio', { input: 'Good day' })
    t.deepEqual([drawn.state, said.state], ['done', 'done'], JSON.stringify([drawn.output, said.output]))
    return [await raw(drawn.output.assets[0].asset_id), await raw(said.output.assets[0].asset_id)]
  }
  const first = await start(t, `${server.origin}/v1`, { record_cassette: file })
  const before = await made(first)
  await first.daemon.stop()
  t.is(server.asked.length, 3)
  t.false(readFileSync(file, 'utf8').includes(key))
  const played = await start(t, `${server.origin}/v1`, { play_cassette: file })
  t.deepEqual(await made(played), before)
  const over = await played.call('generate_image', { prompt: 'Another' })
  t.is(over.output.error.code, 'cassette_over')
  t.is(server.asked.length, 3, 'no socket was opened')
})

test('models-51: what is asked once is shown with its fields, and another answer is told', async (t) => {
  const path = await folder(t)
  const line = (words: string): string =>
    JSON.stringify({
      path: '/v1/audio/transcriptions',
      request: {
        form: [
          { name: 'file', file_name: 'sound.wav', media_type: 'audio/wav', byte_length: 9, sha256: 'a' },
          { name: 'model', value: 'tiny' },
        ],
      },
      status: 200,
      answer_headers: {},
      answer: [JSON.stringify({ text: words })],
      end: 'whole',
    })
  const of = (name: string, words: string) => {
    const turn = JSON.stringify({
      path: '/v1/chat/completions',
      request: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
      status: 200,
      answer_headers: {},
      answer: [],
      end: 'whole',
    })
    const again = turn.replace('"Hello"}', '"Hello"},{"role":"user","content":"More"}')
    writeFileSync(join(path, name), `{"cassette":1,"requests":"whole"}\n${turn}\n${line(words)}\n${again}\n`)
    return loadCassette(join(path, name))
  }
  const one = await of('one', 'Good day.')
  const [, heard, more] = stepsOf(one)
  t.like(heard, { model: 'tiny', once: true, said: { text: 'Good day.' } })
  t.deepEqual(heard?.asked, [
    { who: 'file', text: 'sound.wav audio/wav 9 a' },
    { who: 'model', text: 'tiny' },
  ])
  t.deepEqual(more?.asked, [{ who: 'user', text: 'More' }])
  t.is(partingOf(one, await of('same', 'Good day.')), undefined)
  t.like(partingOf(one, await of('two', 'Good night.')), { path: 'answer', line: 3 })
})
