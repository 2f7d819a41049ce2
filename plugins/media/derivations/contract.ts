/** What is derived of files and of what runs were told. Rules: docs/rules/derivations.md. */
import {
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
  open,
  optional,
  Problem,
  refusing,
  refusingByThrow,
  string,
  taken,
  timestamp,
  unsafeCast,
  withAnswers,
  type Infer,
  type Point,
} from '../../../core/plugin.js'
import type { Asset } from '../assets/contract.js'
import { mostDerivedBytes, mostFingerprint } from './bounds.js'
import { DerivationSubject, type Material } from './subject.js'
import type { TranscriptionOptions } from './transcriber.js'

/** Problems of derivations. */
export { derivationErrors } from './errors.js'
/** Kinds of subjects, by type, and what checks one. */
export { defineSubject, DerivationSubject, DerivationSubjects } from './subject.js'
/** What it is made of, and what it makes. */
export type { CanonicalText, Material, Subject, SubjectKind } from './subject.js'
/** Everybody who writes speech down, and how it is to be written. */
export { granularities, Transcribers, TranscriptionOptions } from './transcriber.js'
/** Who writes speech down, what they are given, and what was said. */
export type { Sound, TimedText, Transcriber, Transcript, TranscriptionPlan } from './transcriber.js'

const writer = {
  kind: literal('transcription'),
  route_id: string(),
  provider: string(),
  model: string(),
  pipeline_version: literal(1),
  stitching_strategy: literal('single_part'),
  part_count: literal(1),
}
/** Who wrote speech down. */
export const DerivationBackend = named(
  'DerivationBackend',
  object({
    ...writer,
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
  /**
   * Throws the problem of a wish that cannot be fulfilled, and returns nothing: no record is made then. Must do no I/O.
   */
  check?(wish: DerivationWish): undefined
  /** What the result depends on beside profile and subject; the material with its canonical text when absent. */
  fingerprint?(wish: Pick<DerivationWish, 'material' | 'options'>): string
  /** Rejects with the problem of a failure that may pass: no record is made. Ends soon after the signal aborts. */
  derive(wish: DerivationWish, signal: AbortSignal): Promise<Derived>
}

const file = open({ asset_id: string({ min: 1, max: 200 }) })
const Completed = open({
  type: literal('completed'),
  result: file,
  timestamps: optional(file),
  backend: optional(object(writer)),
  attach: optional(boolean()),
})

/** A profile in a plugin that no compiler has checked may return anything. */
const takenDerived = (answer: unknown): Derived => {
  // What is looked at is what is given on: each is asked for once.
  const { type, problem } = unsafeCast<{ type?: unknown; problem?: unknown }>(Object(answer))
  if (type === 'failed' && problem instanceof Problem) return { type, problem }
  if (type === 'completed') return unsafeCast<Derived>(taken(Completed, answer, { most: mostDerivedBytes }))
  throw fault('what it returned does not say what came of the derivation')
}

const isProfile = hasMembers<DerivationProfile>('a derivation profile', {
  profile: 'id',
  version: 'number',
  check: 'function?',
  fingerprint: 'function?',
  derive: 'function',
})
const wrongProfile = (profile: DerivationProfile): string | undefined =>
  isProfile(profile) ??
  (Number.isSafeInteger(profile.version) && profile.version >= 1
    ? undefined
    : 'the version of a derivation profile must be a whole number from 1')

/** Ways to derive something, by name. */
export const DerivationProfiles: Point<DerivationProfile> = withAnswers(
  definePoint<DerivationProfile>('derivation-profiles@1', ({ profile }) => profile, wrongProfile),
  {
    check: refusingByThrow,
    fingerprint: refusing((answer) => taken(string({ min: 1, max: mostFingerprint }), answer)),
    derive: awaitedByCaller(refusing(takenDerived)),
  },
)
