/** Pictures, in the sandbox: decoded, turned upright, made no larger than is needed, and written anew. */
import sharp, { type Sharp } from 'sharp'
import type { JobProgram, Refuse } from '../../../core/plugin.js'

sharp.cache(false)
sharp.concurrency(1)
// A picture is read as what it says it is, and as nothing else that the library can read.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadPng', 'VipsForeignLoadJpeg'] })

const mostEdge = 16_384
const mostPixels = 50_000_000
const mostDecoded = 256 * 1024 * 1024
const mostStored = 4 * 1024 * 1024
/** Pixels of the longer edge: the next one where a picture is too large as a file. */
const edges = [2_048, 1_536, 1_024, 768, 512]

const sampleBytes: Readonly<Record<string, number>> = { uchar: 1, char: 1, ushort: 2, short: 2 }

const formats = { 'image/png': 'png', 'image/jpeg': 'jpeg' } as const
type MediaType = keyof typeof formats
const isKnown = (value: unknown): value is MediaType => typeof value === 'string' && Object.hasOwn(formats, value)

const signatures: Readonly<Record<MediaType, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
}

const opened = (bytes: Uint8Array): Sharp =>
  sharp(bytes, { limitInputPixels: mostPixels, failOn: 'warning', sequentialRead: true })

const check = async (bytes: Uint8Array, media_type: MediaType, refuse: Refuse): Promise<void> => {
  if (!signatures[media_type].every((byte, at) => bytes[at] === byte)) refuse('it does not begin as one')
  const {
    width,
    height,
    channels = 4,
    depth = 'ushort',
    format,
  } = await sharp(bytes, { limitInputPixels: false }).metadata()
  if (format !== formats[media_type]) refuse('it is another kind of picture')
  if (Math.max(width, height) > mostEdge) refuse(`an edge has more than ${mostEdge} pixels`)
  if (width * height > mostPixels) refuse(`it has more than ${mostPixels} pixels`)
  if (width * height * channels * (sampleBytes[depth] ?? 4) > mostDecoded)
    refuse('it takes more than 256 MiB when it is decoded')
}

const written = (bytes: Uint8Array, media_type: MediaType, edge: number): Promise<Uint8Array> => {
  const upright = opened(bytes).rotate().resize(edge, edge, { fit: 'inside', withoutEnlargement: true })
  return media_type === 'image/png'
    ? upright.png({ compressionLevel: 8 }).toBuffer()
    : upright.jpeg({ quality: 88 }).toBuffer()
}

export const work: JobProgram = async ({ bytes, options: media_type }, refuse) => {
  if (!isKnown(media_type)) return refuse('it is no picture')
  await check(bytes, media_type, refuse)
  for (const edge of edges) {
    const raw = await written(bytes, media_type, edge)
    if (raw.length <= mostStored) return { answer: {}, files: { raw } }
  }
  return refuse('it has more than 4 MiB at every size')
}
