/** Writes down the speech of an asset, by whoever does that here. */
import { Problem } from '../../../core/plugin.js'
import type { Asset, AssetNormaliser, Assets } from '../assets/contract.js'
import type { Derived, Transcriber, TranscriptionOptions, TranscriptionPlan } from './contract.js'
import { createSlots } from './lane.js'
import { derivationErrors } from './errors.js'
import { keepTranscript, unready } from './transcript.js'

/** Bytes of sound that are sent. */
export const mostSoundBytes = 25 * 1024 * 1024
/** Sounds that are sent at a time: each is in memory twice. */
const mostAtOnce = 4

export interface SpeechParts {
  readonly assets: Assets
  readonly normalisers: () => readonly AssetNormaliser[]
  readonly transcribers: () => readonly Transcriber[]
  /** Is told how each one ended, with a sentence if it failed. */
  readonly heard: (failure: string | undefined) => void
}

export interface Speech {
  /** Who would be asked now, or why nobody. */
  plan(): TranscriptionPlan | string
  /** Rejects with `transcription_audio_invalid`, and with `transcription_unready` where it may pass. */
  written(asset: Asset, options: TranscriptionOptions | undefined, signal: AbortSignal): Promise<Derived>
}

interface Planned {
  readonly transcriber: Transcriber
  readonly plan: TranscriptionPlan
}

const invalid = ({ asset_id }: Asset, reason: string): Problem =>
  derivationErrors.transcription_audio_invalid({ details: { asset_id, reason } })

export const createSpeech = ({ assets, normalisers, transcribers, heard }: SpeechParts): Speech => {
  const inSlot = createSlots(mostAtOnce)
  const planned = (): Planned | string => {
    let why = 'no model route has transcription'
    for (const transcriber of transcribers()) {
      const plan = transcriber.plan()
      if (typeof plan !== 'string') return { transcriber, plan }
      why = plan
    }
    return why
  }
  /** Its bytes, which are what they say they are. */
  const checked = async (asset: Asset, { media_types }: Transcriber): Promise<Buffer> => {
    const { asset_id, media_type } = asset
    if (!media_types.includes(media_type)) throw invalid(asset, `${media_type} is not written down here`)
    if (asset.byte_length > mostSoundBytes)
      throw invalid(asset, `it has ${asset.byte_length} bytes, and ${mostSoundBytes} are the most`)
    const bytes = await assets.read(asset_id, 'raw')
    const normaliser = normalisers().find((one) => one.media_types.includes(media_type))
    await normaliser?.normalise({ media_type, bytes }).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.spec.status >= 500) throw error
      throw invalid(asset, String(error.occurrence.details?.['reason'] ?? error.message))
    })
    return bytes
  }
  return {
    plan() {
      const found = planned()
      return typeof found === 'string' ? found : found.plan
    },
    async written(asset, options, signal) {
      const found = planned()
      if (typeof found === 'string')
        return {
          type: 'failed',
          problem: derivationErrors.transcription_unavailable({ details: { reason: found } }),
        }
      const said = await inSlot(async () => {
        if (signal.aborted) throw unready(asset, 'The daemon stops.')
        // Who is asked is paid, and an asset is to come of it.
        assets.checkRoom()
        const bytes = await checked(asset, found.transcriber)
        return found.transcriber.transcribe(found.plan, { bytes, media_type: asset.media_type, options }, signal)
      })
      if (signal.aborted) throw unready(asset, 'The daemon stops.')
      heard(said.type === 'failed' ? said.message : undefined)
      return keepTranscript(assets, said, { asset, options, plan: found.plan })
    },
  }
}
