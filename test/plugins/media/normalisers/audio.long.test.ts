/** Which sounds are taken; docs/rules/normalisers.md. */
import test from 'ava'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { work } from '../../../../plugins/media/normalisers/audio-program.js'
import { sniffMp4 } from '../../../../plugins/media/normalisers/audio/mp4.js'
import { sniffOpus } from '../../../../plugins/media/normalisers/audio/opus.js'
import { sniffFlac } from '../../../../plugins/media/normalisers/audio/flac.js'
import { sniffAac } from '../../../../plugins/media/normalisers/audio/aac.js'
import { sniffMp3 } from '../../../../plugins/media/normalisers/audio/mp3.js'
import { sniffWav } from '../../../../plugins/media/normalisers/audio/wav.js'
import { sniffWebm } from '../../../../plugins/media/normalisers/audio/webm.js'
import type { Sniffer } from '../../../../plugins/media/normalisers/audio/facts.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy } from '../../../support/judges.js'
import { sounds } from '../../../support/sounds.js'

const refused = Symbol('refused')
/** Undefined if it is taken, else why not. */
const refusalOf = async (bytes: Uint8Array, media_type: string): Promise<string | undefined> => {
  let why = ''
  try {
    await work({ bytes, options: media_type }, (reason) => {
      why = reason
      throw refused
    })
    return undefined
  } catch (error) {
    if (error !== refused) throw error
    return why
  }
}
const never = (reason: string): never => {
  throw new TypeError(reason)
}

test('normalisers-6: a sound is taken in each container, stays as it came, and is what its media type says', async (t) => {
  const daemon = await startTestDaemon(t)
  for (const [name, { media_type, bytes }] of Object.entries(sounds)) {
    const query = new URLSearchParams({ file_name: name, media_type })
    const answer = await fetch(`${daemon.url}/v1/assets/raw?${query.toString()}`, { method: 'POST', body: bytes })
    const asset: any = await answer.json()
    t.is(answer.status, 201, `${name}: ${asset.detail}`)
    const raw = await fetch(`${daemon.url}/v1/assets/${asset.asset_id}/raw`)
    t.true(Buffer.from(await raw.arrayBuffer()).equals(bytes), name)
    t.false('text_uri' in asset)
    for (const other of ['audio/wav', 'audio/webm', 'audio/mpeg', 'audio/opus', 'audio/aac', 'audio/flac', 'audio/mp4'])
      if (other !== media_type && !(media_type === 'audio/m4a' && other === 'audio/mp4'))
        t.not(await refusalOf(bytes, other), undefined, `${name} as ${other}`)
  }
})

test('normalisers-6: rate, channels and length are read', (t) => {
  const sniffers: Readonly<Record<string, [Sniffer, number, number]>> = {
    wav: [sniffWav, 16_000, 0.001],
    opusWebm: [sniffWebm, 16_000, 0.06],
    mp3: [sniffMp3, 16_000, 0.15],
    opus: [sniffOpus, 48_000, 0.03],
    aac: [sniffAac, 16_000, 0.15],
    flac: [sniffFlac, 8_000, 0.001],
    m4a: [sniffMp4, 16_000, 0.15],
    fragments: [sniffMp4, 16_000, 0.15],
  }
  for (const [name, [sniff, rate, off]] of Object.entries(sniffers)) {
    const facts = sniff({ bytes: sounds[name]?.bytes ?? Buffer.alloc(0), refuse: never })
    // Who writes AAC into MP4 says two channels there, whatever they are.
    t.deepEqual([facts.rate, facts.channels], [rate, sniff === sniffMp4 ? 2 : 1], name)
    t.true(Math.abs((facts.seconds ?? 0) - 0.15) <= off, `${name}: ${facts.seconds} s`)
  }
})

const wav = (
  more: { rate?: number; channels?: number; samples?: number; kind?: number; align?: number } = {},
): Buffer => {
  const { rate = 16_000, channels = 1, samples = 100, kind = 1, align = channels * 2 } = more
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(kind, 20)
  head.writeUInt16LE(channels, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * align, 28)
  head.writeUInt16LE(align, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples * align, 40)
  return Buffer.concat([head, Buffer.alloc(samples * align)])
}

test('normalisers-7: a sound with too many samples, too many channels, too long or of a format of its own is refused', async (t) => {
  t.is(await refusalOf(wav(), 'audio/wav'), undefined)
  t.is(await refusalOf(wav({ rate: 8_000 }), 'audio/wav'), undefined)
  t.is(await refusalOf(wav({ rate: 192_000, channels: 8 }), 'audio/wav'), undefined)
  for (const [more, why] of [
    [{ rate: 7_999 }, /rate/u],
    [{ rate: 192_001 }, /rate/u],
    [{ channels: 9 }, /channels/u],
    [{ channels: 0, align: 0 }, /.*/u],
    [{ kind: 2 }, /format/u],
    [{ align: 3 }, /format/u],
    [{ samples: 0 }, /samples/u],
    [{ rate: 8_000, samples: 8_000 * 1_801 }, /30 minutes/u],
  ] as const)
    t.regex((await refusalOf(wav(more), 'audio/wav')) ?? 'taken', why, JSON.stringify(more))
  t.is(await refusalOf(Buffer.alloc(6), 'audio/pcm'), undefined)
  t.is(await refusalOf(Buffer.alloc(6), 'audio/l24'), undefined)
  t.not(await refusalOf(Buffer.alloc(7), 'audio/l16'), undefined)
  t.not(await refusalOf(Buffer.alloc(7), 'audio/l24'), undefined)
})

const boxes = (count: number): Buffer => {
  const empty = Buffer.from('\0\0\0\x08free', 'latin1')
  return Buffer.concat([Buffer.from('\0\0\0\x0cftypM4A ', 'latin1'), ...Array<Buffer>(count).fill(empty)])
}

test('normalisers-7: what is broken, cut off or made to cost much is refused, and costs little', async (t) => {
  const large = 12 * 1024 * 1024
  const hostile = [Buffer.alloc(large, 0xff), Buffer.alloc(large), randomBytes(large), boxes(1_400_000)]
  for (const { media_type, bytes } of Object.values(sounds)) {
    for (const each of hostile) t.not(await refusalOf(each, media_type), undefined, media_type)
    t.not(await refusalOf(bytes.subarray(0, 24), media_type), undefined, `the head of ${media_type}`)
    for (let round = 0; round < 300; round += 1) {
      const broken = Buffer.from(bytes.subarray(0, 1 + Math.floor((bytes.length * (round % 30)) / 29)))
      for (let at = 0; at < round % 7; at += 1)
        broken[(round * 7919 + at * 104_729) % broken.length] = (round * 31 + at) & 255
      await t.notThrowsAsync(refusalOf(broken, media_type))
    }
  }
})

test('normalisers-7: Opus whose head or all of whose sound is not what its checksums say is refused', async (t) => {
  const bytes = sounds['opus']?.bytes ?? Buffer.alloc(0)
  const pages = [...bytes.toString('latin1').matchAll(/OggS/gu)].map(({ index }) => index)
  t.is(pages.length, 3)
  for (const [page, why] of [/begin/u, /head is damaged/u, /no sound/u].entries()) {
    const broken = Buffer.from(bytes)
    const last = (pages[page + 1] ?? bytes.length) - 1
    broken[last] = (broken[last] ?? 0) ^ 1
    t.regex((await refusalOf(broken, 'audio/opus')) ?? 'taken', why)
  }
})

test('normalisers-7: WebM whose elements are longer than what is around them is refused', async (t) => {
  const broken = Buffer.from(sounds['opusWebm']?.bytes ?? Buffer.alloc(0))
  const tracks = broken.lastIndexOf(Buffer.from('1654ae6b', 'hex'))
  // Behind four bytes of a name and one of a length comes the only track: one byte of a name and eight of a length.
  const length = tracks + 4 + 1 + 1 + 7
  broken[length] = (broken[length] ?? 0) + 1
  t.regex((await refusalOf(broken, 'audio/webm')) ?? 'taken', /contradict each other/u)
})

const recordings: readonly (readonly [string, string, ...string[]])[] = [
  ['audio/webm', 'opus.webm', '-c:a', 'libopus'],
  ['audio/webm', 'vorbis.webm', '-c:a', 'libvorbis', '-ac', '2'],
  ['audio/mpeg', 'a.mp3', '-c:a', 'libmp3lame'],
  ['audio/mpeg', 'vbr.mp3', '-c:a', 'libmp3lame', '-q:a', '2', '-ar', '22050'],
  ['audio/ogg', 'a.opus', '-c:a', 'libopus'],
  ['audio/aac', 'a.aac', '-c:a', 'aac', '-f', 'adts'],
  ['audio/flac', 'six.flac', '-c:a', 'flac', '-ac', '6'],
  ['audio/m4a', 'a.m4a', '-c:a', 'aac'],
  ['audio/mp4', 'fragments.mp4', '-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov'],
  ['audio/wav', 'float.wav', '-c:a', 'pcm_f32le'],
  ['audio/wav', 'wide.wav', '-c:a', 'pcm_s24le', '-ac', '2'],
]

judgedBy(
  test,
  'ffmpeg',
  'ffprobe',
)('normalisers-6: what ffmpeg writes is taken, and is as long as ffprobe says', async (t) => {
  const folder = freshFolder()
  const sniffers: Readonly<Record<string, Sniffer>> = {
    'audio/webm': sniffWebm,
    'audio/mpeg': sniffMp3,
    'audio/ogg': sniffOpus,
    'audio/aac': sniffAac,
    'audio/flac': sniffFlac,
    'audio/m4a': sniffMp4,
    'audio/mp4': sniffMp4,
    'audio/wav': sniffWav,
  }
  for (const [media_type, name, ...how] of recordings) {
    const file = path.join(folder, name)
    const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=3.3:sample_rate=48000']
    ask('ffmpeg', '-loglevel', 'error', ...tone, ...how, file)
    const probed = ask(
      'ffprobe',
      '-v',
      'error',
      '-show_entries',
      'stream=channels:format=duration',
      '-of',
      'csv=p=0',
      file,
    )
    const [channels, duration] = probed.trim().split('\n').map(Number)
    const facts = sniffers[media_type]?.({ bytes: readFileSync(file), refuse: never })
    if (sniffers[media_type] !== sniffMp4) t.is(facts?.channels, channels, name)
    t.true(Math.abs((facts?.seconds ?? 0) - (duration ?? 0)) < 0.15, `${name}: ${facts?.seconds} and ${duration}`)
  }
})
