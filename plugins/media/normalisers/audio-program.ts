/** Sound, in the sandbox: its container is looked at, and it is stored as it came. */
import type { JobProgram, Refuse } from '../../../core/plugin.js'
import { sniffAac } from './audio/aac.js'
import type { Facts, Sniffer } from './audio/facts.js'
import { sniffFlac } from './audio/flac.js'
import { sniffMp3 } from './audio/mp3.js'
import { sniffMp4 } from './audio/mp4.js'
import { sniffOpus } from './audio/opus.js'
import { samplesOf } from './audio/raw.js'
import { sniffWav } from './audio/wav.js'
import { sniffWebm } from './audio/webm.js'

const sniffers: Readonly<Record<string, Sniffer>> = {
  'audio/wav': sniffWav,
  'audio/webm': sniffWebm,
  'audio/mpeg': sniffMp3,
  'audio/mpga': sniffMp3,
  'audio/opus': sniffOpus,
  'audio/aac': sniffAac,
  'audio/flac': sniffFlac,
  'audio/mp4': sniffMp4,
  'audio/m4a': sniffMp4,
  'audio/pcm': samplesOf(2),
  'audio/l16': samplesOf(2),
  'audio/l24': samplesOf(3),
}

const rates = { least: 8_000, most: 192_000 }
const mostChannels = 8
const mostSeconds = 30 * 60

const check = ({ rate, channels, seconds = 0 }: Facts, refuse: Refuse): void => {
  if (rate !== undefined && !(rate >= rates.least && rate <= rates.most))
    refuse(`its rate is not between ${rates.least} and ${rates.most} Hz`)
  if (channels !== undefined && !(channels >= 1 && channels <= mostChannels))
    refuse(`it does not have 1 to ${mostChannels} channels`)
  if (!(seconds <= mostSeconds)) refuse('it is longer than 30 minutes')
}

export const work: JobProgram = async ({ bytes, options: media_type }, refuse) => {
  const sniff = typeof media_type === 'string' ? sniffers[media_type] : undefined
  if (sniff === undefined) return refuse('it is no sound')
  check(sniff({ bytes: Buffer.from(bytes), refuse }), refuse)
  return { answer: {} }
}
