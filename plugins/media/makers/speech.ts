/** The tool that makes speech. */
import { defaulted, doc, enums, number, object, optional, Problem, string } from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool } from '../../execution/tools/contract.js'
import type { Chosen } from './choice.js'
import { soundFormats, type Made, type MediaServer, type SoundFormat } from './wishes.js'
import { makerErrors } from './errors.js'
import { chosenFor, makeMedia, problemOf, type MakingParts } from './making.js'
import { mostMs } from './server.js'

const AudioInput = object({
  input: doc(string({ min: 1, max: 4_096 }), 'What is to be said.'),
  instructions: optional(doc(string({ max: 4_000 }), 'How it is to be said.')),
  voice: optional(
    doc(
      string({ min: 1, max: 64, pattern: '^[\\w.+-]+$', told: 'must be of letters, digits and . _ + - alone' }),
      'Who says it, as the server calls voices.',
    ),
  ),
  format: doc(defaulted(enums(soundFormats), 'mp3'), 'What is stored.'),
  speed: optional(doc(number({ min: 0.25, max: 4 }), 'How fast; 1 is usual.')),
  provider: optional(doc(string({ min: 1, max: 200 }), 'The model route; one that can when absent.')),
  model: optional(doc(string({ min: 1, max: 200, pattern: '^\\S+$' }), 'Its model; that of the route when absent.')),
})

const types: Readonly<Record<SoundFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
}

/** How files of a format begin; the others begin in too many ways. */
const beginnings: readonly (readonly [SoundFormat, string])[] = [
  ['wav', 'RIFF'],
  ['flac', 'fLaC'],
  ['opus', 'OggS'],
  ['mp3', 'ID3'],
]
const formatOf = (bytes: Uint8Array): SoundFormat | undefined => {
  const text = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  return beginnings.find(([, beginning]) => text.startsWith(beginning))?.[0]
}

const otherFormat = (asked: SoundFormat, came: SoundFormat): Problem =>
  makerErrors.media_answer_unusable({
    details: { reason: `${asked} was asked for, and it is ${came}: say format ${came}` },
  })

export const generateAudio = (parts: MakingParts): Tool =>
  defineTool({
    name: 'generate_audio',
    description: 'Says a text and stores the sound as an asset, whose id it answers. Each call costs money.',
    input: AudioInput,
    effect: 'once',
    parallel: false,
    timeout_ms: mostMs,
    sandbox: 'network_enabled',
    refusal: ({ provider }, by) => problemOf(() => chosenFor(parts, { making: 'audio_generation', provider }, by)),
    async run({ provider, model, ...wish }, call) {
      const make = ({ maker: { speech } }: Chosen, server: MediaServer): Promise<Made> => {
        if (speech === undefined) throw makerErrors.media_unavailable({ details: { capability: 'audio_generation' } })
        return speech.make(wish, server)
      }
      const usual = ({ route, maker }: Chosen) => route.own_models?.audio ?? maker.speech?.model
      const fileOf = (bytes: Uint8Array, n: number) => {
        const came = formatOf(bytes)
        if (came !== undefined && came !== wish.format) throw otherFormat(wish.format, came)
        return { media_type: types[wish.format], file_name: `speech-${n}.${wish.format}` }
      }
      try {
        return await makeMedia(parts, { making: 'audio_generation', provider, model, make, usual, fileOf }, call)
      } catch (error) {
        if (error instanceof Problem) return failedCall(error)
        throw error
      }
    },
  })
