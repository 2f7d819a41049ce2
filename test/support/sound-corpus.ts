/** Three hundred short sounds, as ffmpeg packs them: what is taken, and what is near it. */
import path from 'node:path'
import { ask } from './judges.js'

export interface SoundFile {
  readonly file: string
  readonly media_type: string
}

/** A name, a media type, and how ffmpeg makes it. */
type Recipe = readonly [string, string, ...string[]]

const across = (
  codecs: readonly (readonly string[])[],
  rates: readonly number[],
  channels: readonly number[],
): string[][] =>
  codecs.flatMap((codec) =>
    rates.flatMap((rate) => channels.map((count) => ['-ar', `${rate}`, '-ac', `${count}`, '-c:a', ...codec])),
  )

const named = (media_type: string, ending: string, hows: readonly (readonly string[])[]): Recipe[] =>
  hows.map((how, at) => [`${ending}-${at}.${ending}`, media_type, ...how])

const cover = ['-map', '1:v', '-map', '0:a', '-frames:v', '1', '-c:v', 'png', '-disposition:v', 'attached_pic']
const moving = ['-map', '1:v', '-map', '0:a', '-shortest']
const [speech, usual, all] = [
  [8_000, 16_000, 48_000],
  [8_000, 22_050, 44_100, 48_000],
  [8_000, 44_100, 192_000],
] as const
const numbers = ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'pcm_f64le'].map((codec) => [codec])

const taken: readonly Recipe[] = [
  ...named('audio/wav', 'wav', [
    ...across(numbers, all, [1, 2, 6]),
    ...across([['pcm_s16le']], [11_025, 32_000, 96_000], [1, 2, 4, 8]),
    ...across([['pcm_f32le', '-metadata', 'title=A tone']], usual, [1, 2]),
  ]),
  ...named('audio/webm', 'webm', [
    ...across(
      [
        ['libopus', '-live', '1'],
        ['libvorbis', '-cluster_time_limit', '100'],
      ],
      [48_000],
      [1, 2],
    ),
    ...across([['libopus'], ['libopus', '-frame_duration', '60', '-vbr', 'off']], speech, [1, 2, 6]),
    ...across([['libvorbis']], usual, [1, 2]),
  ]),
  ...named('audio/mpeg', 'mp3', [
    ...across([['libmp3lame'], ['libmp3lame', '-q:a', '4', '-id3v2_version', '4']], usual, [1, 2]),
    ...across([['libmp3lame', '-write_xing', '0', '-id3v2_version', '0', '-write_id3v1', '1']], usual, [2]),
    ['-c:a', 'libmp3lame', ...cover],
  ]),
  ...named('audio/mpga', 'mpga', across([['libmp3lame', '-b:a', '24k', '-f', 'mp3']], [11_025, 24_000], [1, 2])),
  ...named('audio/opus', 'opus', [
    ...across([['libopus'], ['libopus', '-frame_duration', '2.5']], speech, [1, 2, 6]),
    ...across([['libopus', '-frame_duration', '10', '-application', 'lowdelay']], [8_000, 12_000, 24_000], [1, 2, 6]),
    ...across([['libopus', '-page_duration', '20000']], speech, [8]),
  ]),
  ...named('audio/aac', 'aac', across([['aac'], ['aac', '-b:a', '32k']], [8_000, 16_000, 44_100, 96_000], [1, 2, 6])),
  ...named('audio/flac', 'flac', [
    ...across([['flac'], ['flac', '-sample_fmt', 's32']], all, [1, 2, 8]),
    ...across([['flac', '-compression_level', '12', '-metadata', 'title=A tone']], usual, [1, 2]),
    ['-c:a', 'flac', ...cover],
  ]),
  ...named('audio/mp4', 'mp4', [
    ...across(
      [
        ['aac', '-movflags', 'frag_keyframe+empty_moov'],
        ['aac', '-movflags', 'faststart'],
      ],
      usual,
      [1, 2],
    ),
    ...across([['flac', '-strict', '-2'], ['libopus'], ['libmp3lame']], [48_000], [1, 2]),
  ]),
  ...named('audio/m4a', 'm4a', [
    ...across([['aac'], ['alac']], [8_000, 44_100, 96_000], [1, 2, 6]),
    ['-c:a', 'aac', ...cover],
  ]),
  ...named('audio/pcm', 'pcm', across([['pcm_s16le', '-f', 's16le']], speech, [1, 2])),
  ...named('audio/l16', 'l16', across([['pcm_s16be', '-f', 's16be']], speech, [1, 2])),
  ...named('audio/l24', 'l24', across([['pcm_s24be', '-f', 's24be']], speech, [1, 2])),
]

const odd = (media_type: string, ending: string, ...hows: readonly (readonly string[])[]): Recipe[] =>
  hows.map((how, at) => [`odd-${ending}-${at}.${ending}`, media_type, ...how])

/** Other codecs, other containers, too slow, too fast, too many channels, and with a picture. */
const refused: readonly Recipe[] = [
  ...odd(
    'audio/wav',
    'wav',
    ['-c:a', 'adpcm_ms'],
    ['-c:a', 'adpcm_ima_wav'],
    ['-c:a', 'pcm_mulaw'],
    ['-c:a', 'pcm_alaw'],
    ['-c:a', 'libgsm_ms', '-ar', '8000', '-ac', '1'],
    ['-c:a', 'libmp3lame'],
    ['-ar', '4000'],
    ['-ar', '384000'],
    ['-ac', '16'],
    ['-f', 'w64'],
    ['-f', 'aiff'],
  ),
  ...odd(
    'audio/webm',
    'webm',
    ['-c:a', 'libopus', '-f', 'matroska'],
    ['-c:a', 'flac', '-f', 'matroska'],
    [...moving, '-c:v', 'libvpx', '-c:a', 'libopus'],
  ),
  ...odd(
    'audio/mpeg',
    'mp3',
    ['-c:a', 'mp2', '-f', 'mp2'],
    ['-c:a', 'ac3', '-f', 'ac3'],
    ['-c:a', 'aac', '-f', 'adts'],
  ),
  ...odd(
    'audio/opus',
    'opus',
    ['-c:a', 'libvorbis', '-f', 'ogg'],
    ['-c:a', 'libopus', '-f', 'webm'],
    ['-c:a', 'flac', '-f', 'ogg'],
    ['-c:a', 'libspeex', '-ar', '8000', '-ac', '1', '-f', 'ogg'],
  ),
  ...odd(
    'audio/aac',
    'aac',
    ['-ar', '7350', '-c:a', 'aac'],
    ['-c:a', 'libmp3lame', '-f', 'mp3'],
    ['-c:a', 'aac', '-f', 'latm'],
  ),
  ...odd('audio/flac', 'flac', ['-ar', '4000'], ['-c:a', 'flac', '-f', 'ogg'], ['-c:a', 'wavpack', '-f', 'wv']),
  ...odd(
    'audio/mp4',
    'mp4',
    [...moving, '-c:v', 'libx264', '-c:a', 'aac'],
    ['-c:a', 'aac', '-f', 'mpegts'],
    ['-c:a', 'aac', '-f', 'matroska'],
  ),
  ...odd('audio/l24', 'l24', ['-c:a', 'pcm_u8', '-ar', '8000', '-ac', '1', '-t', '0.1', '-f', 'u8']),
]

const recipes = [...taken, ...refused]

const sources = [
  'sine=frequency=440:duration=0.2:sample_rate=48000',
  'testsrc=duration=0.2:size=64x64:rate=10',
].flatMap((source) => ['-f', 'lavfi', '-i', source])

/** No names and numbers of its own: the same sounds each time. */
const same = ['-fflags', '+bitexact']

/** Writes them into a folder. */
export const makeSounds = (folder: string): SoundFile[] => {
  const each = recipes.map(([name, media_type, ...how]) => ({ file: path.join(folder, name), media_type, how }))
  // A start of ffmpeg costs more than a sound.
  for (let at = 0; at < each.length; at += 30)
    ask(
      'ffmpeg',
      '-nostdin',
      '-loglevel',
      'error',
      ...sources,
      ...each
        .slice(at, at + 30)
        .flatMap(({ file, how }) => [...(how.includes('1:v') ? [] : ['-map', '0:a']), ...how, ...same, file]),
    )
  return each.map(({ file, media_type }) => ({ file, media_type }))
}
