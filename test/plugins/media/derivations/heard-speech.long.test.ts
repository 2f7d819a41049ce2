/** Speech that a program says and another one hears; docs/rules/derivations.md. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { freshRoot, spawnTestDaemon, type Reachable } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy } from '../../../support/judges.js'
import { listeners, startListeningServer } from '../../../support/listening-server.js'
import { codeOf } from '../../../support/runs.js'

const sentence = 'i think that the people of this country want to know what is going on'

/** Each media type of sound, with how ffmpeg makes it. */
const packed: readonly (readonly [string, string, ...string[]])[] = [
  ['audio/wav', 'a.wav', '-c:a', 'pcm_s16le'],
  ['audio/webm', 'a.webm', '-c:a', 'libopus', '-b:a', '64k'],
  ['audio/mpeg', 'a.mp3', '-c:a', 'libmp3lame', '-b:a', '96k'],
  ['audio/mpga', 'a.mpga', '-c:a', 'libmp3lame', '-q:a', '2', '-f', 'mp3'],
  ['audio/opus', 'a.opus', '-c:a', 'libopus', '-b:a', '64k'],
  ['audio/aac', 'a.aac', '-c:a', 'aac', '-b:a', '96k', '-f', 'adts'],
  ['audio/flac', 'a.flac', '-c:a', 'flac'],
  ['audio/mp4', 'a.mp4', '-c:a', 'aac', '-b:a', '96k', '-movflags', 'frag_keyframe+empty_moov'],
  ['audio/m4a', 'a.m4a', '-c:a', 'aac', '-b:a', '96k'],
]
/** Samples alone, of which nobody can tell how fast they are. */
const raw: typeof packed = [
  ['audio/pcm', 'a.pcm', '-f', 's16le'],
  ['audio/l16', 'a.l16', '-f', 's16be'],
  ['audio/l24', 'a.l24', '-f', 's24be'],
]

const routes = (base_url: string): string => `default_route = "ears"

[routes.ears]
driver = "openai_compatible"
base_url = "${base_url}"
default_model = "en-us"
transcription = true
idle_timeout_ms = 60000
`

/** A daemon with a server that hears, and the sentence as it is said. */
const start = async (t: ExecutionContext): Promise<{ daemon: Reachable; spoken: string }> => {
  const server = await startListeningServer(t)
  const root = await freshRoot()
  mkdirSync(path.join(root, 'config'), { recursive: true })
  writeFileSync(path.join(root, 'config/routes.toml'), routes(server.base_url))
  const spoken = path.join(freshFolder(), 'spoken.wav')
  ask('espeak-ng', '-v', 'en-us+f2', '-s', '135', '-w', spoken, sentence)
  return { daemon: await spawnTestDaemon(t, { root }), spoken }
}

const pack = (spoken: string, [, name, ...how]: (typeof packed)[number]): Buffer => {
  const file = path.join(path.dirname(spoken), name)
  ask('ffmpeg', '-nostdin', '-loglevel', 'error', '-i', spoken, '-ar', '48000', ...how, file)
  return readFileSync(file)
}

const store = async (daemon: Reachable, media_type: string, bytes: Uint8Array): Promise<any> => {
  const query = new URLSearchParams({ file_name: 'speech', media_type })
  const answer = await fetch(`${daemon.url}/v1/assets/raw?${query.toString()}`, { method: 'POST', body: bytes })
  return { status: answer.status, ...((await answer.json()) as object) }
}
const write = (daemon: Reachable, asset_id: string) =>
  daemon.request('POST', '/v1/derivations', { profile: 'canonical_text', subject: { type: 'asset', asset_id } })

/** How much of the sentence was heard, of 1. */
const heardOf = (text: string): number => {
  const [said, heard] = [[...new Set(sentence.split(' '))], new Set(text.split(' '))]
  return said.filter((word) => heard.has(word)).length / said.length
}

const heardByOthers = judgedBy(test, 'espeak-ng', ...listeners)

heardByOthers('normalisers-6, derivations-13: speech is heard in every container that is taken', async (t) => {
  const { daemon, spoken } = await start(t)
  for (const one of packed) {
    const [media_type] = one
    const asset = await store(daemon, media_type, pack(spoken, one))
    t.is(asset.status, 201, `${media_type}: ${asset.detail}`)
    const { status, body } = await write(daemon, asset.asset_id)
    t.is(status, 200, `${media_type}: ${body.detail}`)
    const text = await (await fetch(`${daemon.url}/v1/assets/${body.result_asset_id}/raw`)).text()
    t.log(`${media_type}: ${text}`)
    t.true(heardOf(text) > 0.5, `${media_type}: ${text}`)
  }
})

heardByOthers('normalisers-6, derivations-18: raw speech is kept, and not heard', async (t) => {
  const { daemon, spoken } = await start(t)
  for (const one of raw) {
    const [media_type] = one
    const asset = await store(daemon, media_type, pack(spoken, one))
    t.is(asset.status, 201, `${media_type}: ${asset.detail}`)
    t.deepEqual(codeOf(await write(daemon, asset.asset_id)), [400, 'transcription_audio_invalid'], media_type)
  }
})
