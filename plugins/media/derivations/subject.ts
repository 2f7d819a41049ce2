/** Reads what a request names as the subject of a derivation. */
import { doc, open, parse, string, type AnyStruct, type Infer, type StructOf, type Tx } from '../../../core/plugin.js'
import type { Asset } from '../assets/contract.js'
import { derivationErrors } from './errors.js'

/** What something is derived of: `type` says of what kind it is, the other members which one. */
export const DerivationSubject = open({ type: doc(string({ min: 1, max: 64 }), 'Its kind, such as `asset`.') })
/** The value form of `DerivationSubject`. */
export type DerivationSubject = Infer<typeof DerivationSubject>

/** What a subject is now. */
export interface Material {
  /** Changes when something else would be derived. Without the words that came with it. */
  readonly fingerprint: string
  /** Its file: it is held as long as something is derived of it. */
  readonly asset?: Asset
  /** What it says, where it is words and no file. */
  readonly words?: string
  /** Its canonical text, where it has one already. */
  readonly canonical?: CanonicalText
}
/** Words that stand for a subject. */
export interface CanonicalText {
  readonly media_type: string
  readonly sha256: string
  /** An asset of its own; absent where it is the text of the file. */
  readonly asset?: Asset
  /** Whoever brought the subject brought it too: it is never made anew. */
  readonly given?: true
}

/** One subject, as its kind has read it. */
export interface Subject {
  /** Stable: the same for the same thing, such as `asset:asset_1`. */
  readonly key: string
  /** As records and answers show it. */
  readonly value: DerivationSubject
  /**
   * What it is now. Throws or rejects with the problem that answers the request, of which no record is made: there is
   * no such thing (`derivation_subject_not_found`), or nothing may be derived of it (`derivation_subject_refused`).
   */
  resolve(): Material | Promise<Material>
  /**
   * Called in the commit that records the words of its sound, made without wishes of one's own: from now on they are
   * its canonical text. May be called again, with other words. Throws the problem if it is gone.
   */
  attach?(tx: Tx, words: Asset): void
}
/** A kind of subjects: `defineSubject` makes one. */
export interface SubjectKind {
  /** The `type` of its subjects. */
  readonly type: string
  /** Throws `derivation_invalid` with the paths of what is wrong. Must do no I/O. */
  read(value: DerivationSubject): Subject
}

/** A kind of subjects, of a struct with their `type`; see `Subject` for the functions. */
export interface SubjectSpec<S extends DerivationSubject> {
  readonly type: S['type']
  readonly struct: StructOf<S>
  key(subject: S): string
  resolve(subject: S): Material | Promise<Material>
  attach?(tx: Tx, subject: S, words: Asset): void
}

/** Throws `derivation_invalid` with the paths of what does not fit. */
const readAs = <S extends AnyStruct>(struct: S, value: DerivationSubject): Infer<S> => {
  const read = parse(struct, value)
  if (read.ok) return read.value
  const errors = read.issues.map(({ path, rule }) => ({ path: `body.subject.${path}`, rule }))
  throw derivationErrors.derivation_invalid({ details: { reason: 'its subject does not fit its type' }, errors })
}

/** Makes a kind of subjects. */
export const defineSubject = <S extends DerivationSubject>(spec: SubjectSpec<S>): SubjectKind => ({
  type: spec.type,
  read(value): Subject {
    const subject = readAs(spec.struct, value)
    return {
      key: spec.key(subject),
      value: subject,
      resolve: () => spec.resolve(subject),
      ...(spec.attach && { attach: (tx, words) => spec.attach?.(tx, subject, words) }),
    }
  },
})
