/** Writes down the speech of an asset, by whoever does that here. */
import { Problem, within, type Clock } from '../../../core/plugin.js'
import { normaliserOf, takesType, type Asset, type AssetNormaliser, type Assets } from '../assets/contract.js'
import type { Derived, Sound, Transcriber, Transcript, TranscriptionOptions, TranscriptionPlan } from './contract.js'
import { createSlots } from './lane.js'
import { derivationErrors } from './errors.js'
import { keepTranscript, unready } from './transcript.js'

/** Bytes of sound that are sent. */
export const mostSoundBytes = 25 * 1024 * 1024
/** Sounds that are sent at a time: each is in memory twice. */
const mostAtOnce = 4
/** For one sound, milliseconds: one may have half an hour, and servers write faster than people speak. */
export const mostMs = 30 * 60 * 1000

export interface SpeechParts {
  readonly clock: Clock
  readonly assets: Assets
  readonly normalisers: () => readonly AssetNormaliser[]
  readonly transcribers: () => readonly Transcriber[]
  /** Is told how each one ended, with a sentence if it failed. */
  readonly heard: (failure: string | undefined) => void
}

export interface Speech {
  /**
   * Who would be asked now, or why nobody: `transcription_unavailable`, or `plugin_failed` of who could not say, which
   * is charged each time.
   */
  plan(): Planned | Problem
  /**
   * By who was to be asked. Rejects with `transcription_audio_invalid`, with `transcription_unready` where it may pass,
   * and with `plugin_failed`.
   */
  written(by: Planned | Problem, sound: Spoken, signal: AbortSignal): Promise<Derived>
}

interface Spoken {
  readonly asset: Asset
  readonly options: TranscriptionOptions | undefined
}

export interface Planned {
  readonly transcriber: Transcriber
  readonly plan: TranscriptionPlan
}

const invalid = ({ asset_id }: Asset, reason: string): Problem =>
  derivationErrors.transcription_audio_invalid({ details: { asset_id, reason } })

const unavailable = (reason: string): Problem => derivationErrors.transcription_unavailable({ details: { reason } })

/** The first that has a plan; one that fails is passed over, and told of where no other has one. */
const plannedOf = (transcribers: readonly Transcriber[]): Planned | Problem => {
  let why = unavailable('no model route has transcription')
  let failed: Problem | undefined
  for (const transcriber of transcribers)
    try {
      const plan = transcriber.plan()
      if (typeof plan !== 'string') return { transcriber, plan }
      why = unavailable(plan)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      failed = error
    }
  return failed ?? why
}

export const createSpeech = ({ clock, assets, normalisers, transcribers, heard }: SpeechParts): Speech => {
  const inSlot = createSlots(mostAtOnce)
  /** Its bytes, which are what they say they are. */
  const checked = async (asset: Asset, { media_types }: Transcriber): Promise<Buffer> => {
    const { asset_id, media_type } = asset
    if (!takesType(media_types, media_type)) throw invalid(asset, `${media_type} is not written down here`)
    if (asset.byte_length > mostSoundBytes)
      throw invalid(asset, `it has ${asset.byte_length} bytes, and ${mostSoundBytes} are the most`)
    const bytes = await assets.read(asset_id, 'raw')
    try {
      await normaliserOf(normalisers(), media_type)?.normalise({ media_type, bytes })
    } catch (error) {
      if (!(error instanceof Problem) || error.spec.status >= 500) throw error
      throw invalid(asset, String(error.occurrence.details?.['reason'] ?? error.message))
    }
    return bytes
  }
  /** Ends the wait for one that does not end, and tells it to. */
  const heardOf = async (
    { transcriber, plan }: Planned,
    sound: Sound,
    signal: AbortSignal,
  ): Promise<Transcript | undefined> => {
    const late = new AbortController()
    const said = transcriber.transcribe(plan, sound, AbortSignal.any([signal, late.signal]))
    if (await within(clock, mostMs, said)) return said
    late.abort('late')
    return undefined
  }
  return {
    plan: () => plannedOf(transcribers()),
    async written(found, { asset, options }, signal) {
      if (found instanceof Problem) {
        if (found.code !== derivationErrors.transcription_unavailable.code) throw found
        return { type: 'failed', problem: found }
      }
      const said = await inSlot(async () => {
        if (signal.aborted) throw unready(asset, 'The daemon stops.')
        // Who is asked is paid, and an asset is to come of it.
        assets.checkRoom()
        const bytes = await checked(asset, found.transcriber)
        return heardOf(found, { bytes, media_type: asset.media_type, options }, signal)
      })
      if (signal.aborted) throw unready(asset, 'The daemon stops.')
      if (said === undefined)
        throw unready(asset, `The transcriber ${found.transcriber.id} took longer than ${mostMs / 60_000} minutes.`)
      heard(said.type === 'failed' ? said.message : undefined)
      return keepTranscript(assets, said, { asset, options, plan: found.plan })
    },
  }
}
