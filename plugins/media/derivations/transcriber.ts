/** Who writes speech down, what they are given, and what they may answer. */
import {
  array,
  awaitedByCaller,
  boolean,
  definePoint,
  doc,
  enums,
  hasMembers,
  integer,
  object,
  open,
  optional,
  refusing,
  rule,
  string,
  tagged,
  taken,
  unsafeCast,
  withAnswers,
  type Infer,
  type Point,
} from '../../../core/plugin.js'
import { TakenUsage, type Usage } from '../../execution/models/contract.js'
import { wrongMediaTypes } from '../assets/contract.js'

/** What times of a transcript are told: of its words, of its parts. */
export const granularities = ['word', 'segment'] as const
/** How speech is to be written down. */
export const TranscriptionOptions = object({
  prompt: optional(
    doc(string({ max: 4_000 }), 'What it is about and how names are spelled; 2,000 characters at most.'),
  ),
  language: optional(doc(string({ max: 64 }), 'Such as `en` or `pt-BR`; 32 ASCII characters at most.')),
  timestamp_granularities: optional(
    doc(array(enums(granularities), { max: 2 }), 'Keeps the times of words, of parts, or of both as a JSON asset.'),
  ),
})
/** The value form of `TranscriptionOptions`. */
export type TranscriptionOptions = Infer<typeof TranscriptionOptions>

/** Who would be asked to write speech down now. */
export interface TranscriptionPlan {
  readonly route_id: string
  readonly provider: string
  readonly model: string
  /** True if it can tell the times of words and parts. */
  readonly tellsTimes: boolean
  /** False if its server would pass over a prompt. */
  readonly takesPrompt: boolean
}
/** Sound to be written down: its container was looked at. */
export interface Sound {
  readonly bytes: Uint8Array
  readonly media_type: string
  readonly options: TranscriptionOptions | undefined
}
/** When something was said. Milliseconds from the beginning of the sound. */
export interface TimedText {
  readonly text: string
  readonly start_ms: number
  readonly end_ms: number
}
/** What was said, or why nobody knows: a sentence that is safe to show, without secrets. 8 MiB of JSON at most. */
export type Transcript =
  | {
      readonly type: 'transcript'
      readonly text: string
      readonly language?: string
      readonly duration_ms?: number
      readonly words?: readonly TimedText[]
      readonly segments?: readonly TimedText[]
      /** Tokens, where the server told. */
      readonly usage?: Usage
    }
  | {
      readonly type: 'failed'
      /** True if it may be asked again as it is. */
      readonly retryable: boolean
      readonly message: string
      /** As the server wishes it, milliseconds. */
      readonly retry_after_ms?: number
    }
/** Writes speech down. */
export interface Transcriber {
  readonly id: string
  /** Of sound that it takes. */
  readonly media_types: readonly string[]
  /**
   * Whom it would ask now, or in words that can end a sentence why nobody. Must be fast and must not throw: one that
   * fails is passed over.
   */
  plan(): TranscriptionPlan | string
  /** Must not throw and must not retry. Must end within half an hour, and soon after the signal aborts. */
  transcribe(plan: TranscriptionPlan, sound: Sound, signal: AbortSignal): Promise<Transcript>
}

const name = string({ min: 1, max: 200 })
const words = string({ min: 1, max: 4_000 })
const Plan = open({ route_id: name, provider: name, model: name, tellsTimes: boolean(), takesPrompt: boolean() })
/** Milliseconds: of a sound, and of a wish to be asked later. */
const ms = integer({ min: 0, max: 24 * 60 * 60 * 1000 })
const timed = array(
  rule(
    open({ text: string(), start_ms: ms, end_ms: ms }),
    'must not end before it begins',
    ({ start_ms, end_ms }) => start_ms <= end_ms,
  ),
)
const Said = tagged('type', {
  transcript: open({
    type: string(),
    text: string(),
    language: optional(string({ max: 64 })),
    duration_ms: optional(ms),
    words: optional(timed),
    segments: optional(timed),
    usage: optional(TakenUsage),
  }),
  failed: open({ type: string(), retryable: boolean(), message: words, retry_after_ms: optional(ms) }),
})
const [mostPlan, mostSaid] = [64 * 1024, 8 * 1024 * 1024]

const takenPlan = (answer: unknown): TranscriptionPlan | string =>
  typeof answer === 'string' ? taken(words, answer) : taken(Plan, answer, { most: mostPlan })

const isTranscriber = hasMembers<Transcriber>('a transcriber', {
  id: 'id',
  media_types: 'object',
  plan: 'function',
  transcribe: 'function',
})

/** Everybody who writes speech down; the first that has a plan is asked. */
export const Transcribers: Point<Transcriber> = withAnswers(
  definePoint<Transcriber>(
    'transcribers@1',
    ({ id }) => id,
    (one) => isTranscriber(one) ?? wrongMediaTypes('a transcriber', one.media_types),
  ),
  {
    plan: refusing(takenPlan),
    transcribe: awaitedByCaller(refusing((answer) => unsafeCast<Transcript>(taken(Said, answer, { most: mostSaid })))),
  },
)
