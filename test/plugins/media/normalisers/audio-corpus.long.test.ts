/** Three hundred sounds that another program packed, and as many that a third one damaged; docs/rules/normalisers.md. */
import test from 'ava'
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { spawnTestDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { judgedBy } from '../../../support/judges.js'
import { makeSounds, type SoundFile } from '../../../support/sound-corpus.js'
import { partOf } from '../../../support/volume.js'

interface Probed {
  readonly streams?: readonly {
    readonly codec_type: string
    readonly codec_name?: string
    readonly sample_rate?: string
    readonly channels?: number
    readonly disposition: { readonly attached_pic: number }
  }[]
  readonly format?: { readonly format_name: string; readonly duration?: string }
}

/** What ffprobe calls each container, and the sounds that are taken in it. */
const packed: Readonly<Record<string, readonly [string, RegExp]>> = {
  'audio/wav': ['wav', /^pcm_(?:u8|s16le|s24le|s32le|f32le|f64le)$/u],
  'audio/webm': ['matroska,webm', /^(?:opus|vorbis)$/u],
  'audio/mpeg': ['mp3', /^mp3$/u],
  'audio/mpga': ['mp3', /^mp3$/u],
  'audio/opus': ['ogg', /^opus$/u],
  'audio/aac': ['aac', /^aac$/u],
  'audio/flac': ['flac', /^flac$/u],
  'audio/mp4': ['mov,mp4,m4a,3gp,3g2,mj2', /./u],
  'audio/m4a': ['mov,mp4,m4a,3gp,3g2,mj2', /./u],
}
/** Bytes of a sample of those that are nothing else. */
const raw: Readonly<Record<string, number>> = { 'audio/pcm': 2, 'audio/l16': 2, 'audio/l24': 3 }

const run = promisify(execFile)
const shown = 'stream=codec_type,codec_name,sample_rate,channels:stream_disposition=attached_pic'
const probe = async (file: string): Promise<{ found: Probed; said: string }> => {
  const wish = ['-v', 'error', '-show_entries', `${shown}:format=format_name,duration`, '-of', 'json', file]
  const { stdout, stderr } = await run('ffprobe', wish).catch(({ stderr }) => ({ stdout: '{}', stderr }))
  return { found: JSON.parse(stdout), said: stderr }
}

const within = (value: number, least: number, most: number): boolean => value >= least && value <= most

/** Whether what ffprobe finds is a sound that is taken as what it is said to be. */
const isSound = ({ streams = [], format }: Probed, media_type: string): boolean => {
  const [container, codec = /./u] = packed[media_type] ?? []
  const moves = streams.some(({ codec_type, disposition }) => codec_type === 'video' && disposition.attached_pic === 0)
  const sound = streams.find(({ codec_type }) => codec_type === 'audio')
  return (
    format?.format_name === container &&
    !moves &&
    codec.test(sound?.codec_name ?? '') &&
    within(Number(sound?.sample_rate), 8_000, 192_000) &&
    within(sound?.channels ?? 0, 1, 8) &&
    Number(format?.duration ?? 0) <= 1_800
  )
}

const judge = async ({ file, media_type }: SoundFile): Promise<{ isTaken: boolean; said: string }> => {
  const [bytes, width] = [readFileSync(file), raw[media_type]]
  if (width !== undefined) return { isTaken: bytes.length % width === 0, said: '' }
  // Matroska is to ffprobe what WebM is.
  if (media_type === 'audio/webm' && !bytes.subarray(0, 64).includes('webm')) return { isTaken: false, said: '' }
  const { found, said } = await probe(file)
  return { isTaken: isSound(found, media_type), said: `${JSON.stringify(found.streams)} ${said}` }
}

const store = async (
  { url }: SpawnedDaemon,
  { file, media_type }: SoundFile,
): Promise<{ isTaken: boolean; reason: string; ms: number }> => {
  const begin = performance.now()
  const query = new URLSearchParams({ file_name: path.basename(file), media_type })
  const answer = await fetch(`${url}/v1/assets/raw?${query.toString()}`, { method: 'POST', body: readFileSync(file) })
  const { code = '', detail = '' }: any = await answer.json()
  if (answer.status !== 201 && code !== 'asset_invalid')
    throw new TypeError(`${file}: ${answer.status} ${code} ${detail}`)
  return { isTaken: answer.status === 201, reason: detail, ms: performance.now() - begin }
}

/** Stores each of them and has it judged, two at a time; names those on which the two differ. */
const compare = async (daemon: SpawnedDaemon, sounds: readonly SoundFile[]) => {
  const [stricter, looser]: [string[], string[]] = [[], []]
  const [left, tally] = [[...sounds], { taken: 0, slowest: 0 }]
  const work = async (): Promise<void> => {
    for (let sound = left.shift(); sound !== undefined; sound = left.shift()) {
      const [ours, theirs] = await Promise.all([store(daemon, sound), judge(sound)])
      const name = path.basename(sound.file)
      tally.slowest = Math.max(tally.slowest, ours.ms)
      if (ours.isTaken) tally.taken += 1
      if (theirs.isTaken && !ours.isTaken) stricter.push(`${name}: ${ours.reason}`)
      if (ours.isTaken && !theirs.isTaken) looser.push(`${name}: ${theirs.said.split('\n', 2).join(' ')}`)
    }
  }
  await Promise.all([work(), work()])
  return { stricter, looser, ...tally }
}

const ratios = ['0.01', '0.001', '0.0002'] as const

/** As it comes from a bad disk: a few bits are others, of all of it or of its head. */
const damaged = ({ file, media_type }: SoundFile, seed: number): SoundFile => {
  const where = seed % 2 === 0 ? [] : ['-b', '0-199']
  const bytes = execFileSync('zzuf', ['-s', `${seed}`, '-r', ratios[seed % 3] ?? '', ...where], {
    input: readFileSync(file),
    maxBuffer: 64 * 1024 * 1024,
  })
  const made = path.join(path.dirname(file), `damaged-${path.basename(file)}`)
  writeFileSync(made, bytes)
  return { file: made, media_type }
}

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const judged = judgedBy(test, 'ffmpeg', 'ffprobe', 'zzuf')

judged(
  'normalisers-6, normalisers-7: of sounds and damaged ones those are taken that ffprobe calls sounds',
  async (t) => {
    const all = makeSounds(freshFolder())
    t.is(all.length, 300)
    const sounds = all.filter((_, at) => at % partOf(10, 1) === 0)
    const daemon = await spawnTestDaemon(t)
    await compare(daemon, sounds.slice(0, 30))
    const before = residentMiB(daemon.pid)
    const whole = await compare(daemon, sounds)
    t.log(whole)
    const broken = await compare(daemon, sounds.map(damaged))
    t.log(broken)
    const grown = residentMiB(daemon.pid) - before
    t.log(`${grown} MiB more`)
    t.deepEqual([whole.stricter, whole.looser], [[], []])
    // What is coded in a container is not looked at, and what ffprobe guesses is not guessed.
    t.true(broken.looser.length <= 6 && broken.stricter.length <= 30)
    t.true(whole.slowest < 120_000 && broken.slowest < 120_000)
    t.true(grown < 64, `${grown} MiB`)
    t.is((await daemon.request('GET', '/v1/status')).status, 200)
  },
)
