/** Asks the server of a model route to write speech down: `POST {base_url}/audio/transcriptions`. */
import {
  Problem,
  type Clock,
  type Ids,
  type Outbound,
  type OutboundAnswer,
  type OutboundCode,
} from '../../../core/plugin.js'
import { longestHintMs, type ConnectionOptions, type ModelRoute, type Models } from '../../execution/models/contract.js'
import { refused, type Asked } from '../../providers/streamed/contract.js'
import type { ToolUse } from '../../operator/usage/contract.js'
import type { Sound, Transcriber, Transcript, TranscriptionPlan } from '../derivations/contract.js'
import { readAnswer } from './answer.js'
import { formBytes, type FormPart } from './form.js'

/** Providers whose servers have the path. */
export const providers: readonly string[] = ['openai', 'openai_compatible', 'openrouter']

export interface TranscriberParts {
  readonly models: Models
  readonly outbound: Pick<Outbound, 'request'>
  readonly clock: Clock
  readonly ids: Ids
  readonly redact: (text: string) => string
  /** Why nothing more may be asked; undefined if it may. */
  readonly refusal: () => string | undefined
  readonly book: (asked: ToolUse) => Promise<void>
  /** Is told what came of each call that was not ended by a stop. */
  readonly told: (said: Transcript) => void
}

interface Vendor {
  readonly base_url: string
  readonly model: string
  /** It passes no prompt on. */
  readonly promptless?: true
}
const vendors: Readonly<Record<string, Vendor>> = {
  openai: { base_url: 'https://api.openai.com/v1', model: 'whisper-1' },
  openrouter: { base_url: 'https://openrouter.ai/api/v1', model: 'openai/whisper-1', promptless: true },
}
/** What servers go by to know what a sound is. Raw samples tell nobody their rate. */
const endings: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/mpga': 'mp3',
  'audio/opus': 'ogg',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'mp4',
  'audio/m4a': 'm4a',
}
/** Bytes of an answer. */
const mostAnswerBytes = 4 * 1024 * 1024
/** Models of OpenAI that tell words and no times. */
const timeless = /^(?:openai\/)?gpt-.*transcribe/u

const planOf = ({ route_id, provider, model, own_models }: ModelRoute): TranscriptionPlan => {
  const vendor = vendors[provider]
  const named = own_models?.transcription ?? vendor?.model ?? model
  const takesPrompt = vendor?.promptless !== true
  return { route_id, provider, model: named, tellsTimes: !timeless.test(named), takesPrompt }
}

/** The default route before the others, in the order of their file. */
const planned = (models: Models): TranscriptionPlan | string => {
  const able = models.list().filter(({ capabilities }) => capabilities.transcription)
  const sorted = [...able].sort((a, b) => rank(models, a) - rank(models, b))
  const ready = sorted.find(({ connection }) => connection.readiness().state !== 'error')
  if (ready !== undefined) return planOf(ready)
  const [first] = sorted
  return first === undefined
    ? `no model route of ${models.file} has transcription`
    : `route ${first.route_id} is not ready: ${first.connection.readiness().message}`
}
const rank = ({ default_route }: Models, { route_id }: ModelRoute): number => (route_id === default_route ? 0 : 1)

const partsOf = ({ model }: TranscriptionPlan, { bytes, media_type, options = {} }: Sound): FormPart[] => {
  const times = options.timestamp_granularities ?? []
  const field = (name: string, value: string): FormPart => ({ name, value })
  return [
    { name: 'file', value: { file_name: `sound.${endings[media_type] ?? 'bin'}`, media_type, bytes } },
    field('model', model),
    field('response_format', times.length === 0 ? 'json' : 'verbose_json'),
    ...(options.prompt === undefined ? [] : [field('prompt', options.prompt)]),
    ...(options.language === undefined ? [] : [field('language', options.language)]),
    ...times.map((one) => field('timestamp_granularities[]', one)),
  ]
}

const headersOf = ({ api_key, vendor }: ConnectionOptions, boundary: string): Record<string, string> => ({
  'content-type': `multipart/form-data; boundary=${boundary}`,
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'holdfast',
  ...(api_key !== undefined && { authorization: `Bearer ${api_key}` }),
  ...(vendor?.organization !== undefined && { 'openai-organization': vendor.organization }),
  ...(vendor?.project !== undefined && { 'openai-project': vendor.project }),
})

type Failure = Transcript & { readonly type: 'failed' }
const failed = (message: string, retryable: boolean): Failure => ({ type: 'failed', retryable, message })
const faults: Readonly<Record<OutboundCode, readonly [string, boolean]>> = {
  outbound_url_invalid: ['The address of the route cannot be used.', false],
  outbound_request_invalid: ['The request cannot be sent.', false],
  outbound_address_refused: ['The address of the provider is not a public one.', false],
  outbound_name_not_found: ['The provider cannot be found.', true],
  outbound_connection_failed: ['The provider cannot be reached.', true],
  outbound_certificate_refused: ['The TLS certificate of the provider cannot be trusted.', false],
  outbound_connection_broken: ['The connection to the provider broke.', true],
  outbound_answer_too_large: ['The answer of the provider is larger than 4 MiB.', false],
  outbound_timed_out: ['The provider took too long.', true],
  outbound_aborted: ['The daemon stops.', true],
}

const heard = (answer: OutboundAnswer, asked: Asked): Transcript => {
  if (answer.type === 'failure') return failed(...faults[answer.code])
  const { status, headers, body } = answer
  if (status >= 400) {
    const { message, retryable, retry_after_ms } = refused(
      { status, headers, body: Buffer.from(body.subarray(0, 100_000)).toString('utf8') },
      asked,
    )
    const wait = retry_after_ms === undefined ? {} : { retry_after_ms: Math.min(retry_after_ms, longestHintMs) }
    return { ...failed(message, retryable), ...wait }
  }
  if (status >= 300)
    return failed(`The provider answered with a redirect (status ${status}), which is not followed.`, false)
  return readAnswer(body) ?? failed('The provider answered with no transcript.', true)
}

export const createTranscriber = (parts: TranscriberParts): Transcriber => {
  const { models, outbound, clock, ids, redact, refusal, book, told } = parts
  const ask = async (plan: TranscriptionPlan, sound: Sound, signal: AbortSignal): Promise<Transcript> => {
    const reach = models.find(plan.route_id)?.reach?.()
    if (reach === undefined) return failed(`There is no route ${plan.route_id} any more.`, true)
    const over = refusal()
    if (over !== undefined) return failed(over, true)
    const base_url = (reach.base_url ?? vendors[plan.provider]?.base_url ?? '').trim().replace(/\/+$/u, '')
    const boundary = `holdfast-${ids.random(16)}`
    const answer = await outbound.request({
      method: 'POST',
      url: `${base_url}/audio/transcriptions`,
      headers: headersOf(reach, boundary),
      body: formBytes(partsOf(plan, sound), boundary),
      timeout_ms: reach.idle_timeout_ms,
      max_answer_bytes: mostAnswerBytes,
      // An operator who names a server of the own network means it.
      allow_private_network: reach.base_url !== undefined,
      signal,
    })
    const { api_key } = reach
    const said = heard(answer, {
      model: plan.model,
      keyed: api_key !== undefined,
      redact: (text) => redact(api_key === undefined ? text : text.replaceAll(api_key, '[redacted]')),
      now: clock.now,
    })
    const usage = said.type === 'failed' ? undefined : said.usage
    await book({ route: plan.route_id, model: plan.model, ...(usage && { usage }) })
    if (said.type !== 'failed') return said
    return { ...said, message: `${said.message} Asked: ${base_url}, model ${plan.model}.` }
  }
  return {
    id: 'openai_audio',
    media_types: Object.keys(endings),
    plan: () => planned(models),
    async transcribe(plan, sound, signal) {
      const said = await ask(plan, sound, signal).catch((error: unknown) => {
        if (error instanceof Problem) return failed(redact(error.message), true)
        throw error
      })
      if (!signal.aborted) told(said)
      return said
    },
  }
}
