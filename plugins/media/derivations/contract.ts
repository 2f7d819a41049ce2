/** What is derived of files and of what runs were told. Rules: docs/rules/derivations.md. */
import {
  array,
  awaitedByCaller,
  boolean,
  definePoint,
  doc,
  enums,
  fault,
  hasMembers,
  integer,
  literal,
  named,
  object,
  optional,
  plainObject,
  Problem,
  refusing,
  string,
  taken,
  timestamp,
  unsafeCast,
  withAnswers,
  type Infer,
  type Point,
} from '../../../core/plugin.js'
import type { Usage } from '../../execution/models/contract.js'
import type { Asset } from '../assets/contract.js'
import { DerivationSubject, type Material, type SubjectKind } from './subject.js'

/** Problems of derivations. */
export { derivationErrors } from './errors.js'
/** Checks a kind of subjects. */
export { defineSubject, DerivationSubject } from './subject.js'
/** What it is made of, and what it makes. */
export type { CanonicalText, Material, Subject, SubjectKind } from './subject.js'

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

/** Who wrote speech down. */
export const DerivationBackend = named(
  'DerivationBackend',
  object({
    kind: literal('transcription'),
    route_id: string(),
    provider: string(),
    model: string(),
    pipeline_version: literal(1),
    stitching_strategy: literal('single_part'),
    part_count: literal(1),
    timestamp_asset_id: optional(doc(string(), 'The JSON asset with the times of words or parts.')),
  }),
)
/** The value form of `DerivationBackend`. */
export type DerivationBackend = Infer<typeof DerivationBackend>

/** Something derived, or why it could not be (derivations-1). */
export const DerivationView = named(
  'DerivationView',
  object({
    derivation_id: string(),
    profile: doc(string(), 'What was made, such as `canonical_text`.'),
    profile_version: integer({ min: 1 }),
    subject: DerivationSubject,
    source_fingerprint: doc(string(), 'What the subject was: another one is derived of anew.'),
    status: enums(['completed', 'failed']),
    result_asset_id: doc(string(), 'The asset that was made; empty if it failed.'),
    reused_subject_asset: doc(boolean(), 'True if the result is the asset that it was to be made of.'),
    created_at_ms: timestamp(),
    error: optional(doc(string(), 'Why it failed.')),
    backend: optional(DerivationBackend),
    cache_status: optional(doc(enums(['hit', 'miss']), 'Of an answer to a request: whether it was there already.')),
  }),
)
/** The value form of `DerivationView`. */
export type DerivationView = Infer<typeof DerivationView>

/** Kinds of subjects, by type. */
export const DerivationSubjects: Point<SubjectKind> = definePoint<SubjectKind>(
  'derivation-subjects@1',
  ({ type }) => type,
  hasMembers('a kind of subjects', { type: 'id', struct: 'object', key: 'function', resolve: 'function' }),
)

/** What a profile is asked for. */
export interface DerivationWish {
  readonly material: Material
  /** Undefined where nobody wishes anything: then blank ones are left out already. */
  readonly options: TranscriptionOptions | undefined
  /** True to make it anew where it could be taken from what is there. */
  readonly force: boolean
}
/** What came of it. */
export type Derived =
  | {
      readonly type: 'completed'
      /** It may be the asset of the material. */
      readonly result: Asset
      readonly timestamps?: Asset
      readonly backend?: Omit<DerivationBackend, 'timestamp_asset_id'>
      /** The result becomes the canonical text of the subject. */
      readonly attach?: true
    }
  /** It is recorded, and answers the same request from then on. */
  | { readonly type: 'failed'; readonly problem: Problem }

/** A way to derive something. */
export interface DerivationProfile {
  /** Wire name, such as `canonical_text`. */
  readonly profile: string
  /** From 1; another one derives everything anew. */
  readonly version: number
  /** Throws the problem of a wish that cannot be fulfilled: no record is made. Must do no I/O. */
  check?(wish: DerivationWish): void
  /** What the result depends on beside profile and subject; the material with its canonical text when absent. */
  fingerprint?(wish: Pick<DerivationWish, 'material' | 'options'>): string
  /** Rejects with the problem of a failure that may pass: no record is made. Ends soon after the signal aborts. */
  derive(wish: DerivationWish, signal: AbortSignal): Promise<Derived>
}
/** Bytes of what is told of a result, as JSON; its files are told by their ids. */
const mostDerivedBytes = 64 * 1024

/** A profile in a plugin that no compiler has checked may return anything. */
const takenDerived = (answer: unknown): Derived => {
  const derived = unsafeCast<Derived | undefined>(answer)
  if (derived?.type === 'failed' && derived.problem instanceof Problem)
    return { type: 'failed', problem: derived.problem }
  if (derived?.type === 'completed' && typeof derived.result?.asset_id === 'string')
    return unsafeCast<Derived>(plainObject(derived, mostDerivedBytes))
  throw fault('what it returned does not say what came of the derivation')
}

/** Ways to derive something, by name. */
export const DerivationProfiles: Point<DerivationProfile> = withAnswers(
  definePoint<DerivationProfile>(
    'derivation-profiles@1',
    ({ profile }) => profile,
    hasMembers('a derivation profile', { profile: 'id', derive: 'function' }),
  ),
  {
    check: refusing(() => undefined),
    fingerprint: refusing((answer) => taken(string(), answer)),
    derive: awaitedByCaller(refusing(takenDerived)),
  },
)

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
/** What was said, or why nobody knows: a sentence that is safe to show, without secrets. */
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
  /** Whom it would ask now, or in words that can end a sentence why nobody. Must be fast and must not throw. */
  plan(): TranscriptionPlan | string
  /** Must not throw and must not retry. Must end in bounded time, and soon after the signal aborts. */
  transcribe(plan: TranscriptionPlan, sound: Sound, signal: AbortSignal): Promise<Transcript>
}
/** Everybody who writes speech down; the first that has a plan is asked. */
export const Transcribers: Point<Transcriber> = definePoint<Transcriber>(
  'transcribers@1',
  ({ id }) => id,
  hasMembers('a transcriber', { id: 'id', media_types: 'object', plan: 'function', transcribe: 'function' }),
)
