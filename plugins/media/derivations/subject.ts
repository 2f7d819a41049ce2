/** Reads what a request names as the subject of a derivation. */
import {
  awaited,
  boolean,
  definePoint,
  doc,
  fault,
  hasMembers,
  isStruct,
  open,
  optional,
  parse,
  refusing,
  string,
  taken,
  unsafeCast,
  withAnswers,
  type AnyStruct,
  type Infer,
  type Point,
  type Tx,
} from '../../../core/plugin.js'
import { Asset, mostAssetBytes } from '../assets/contract.js'
import { mostSubjectKey } from './bounds.js'
import { derivationErrors } from './errors.js'

/** What something is derived of: `type` says of what kind it is, the other members which one. */
export const DerivationSubject = open({ type: doc(string({ min: 1, max: 64 }), 'Its kind, such as `asset`.') })
/** The value form of `DerivationSubject`. */
export type DerivationSubject = Infer<typeof DerivationSubject>

/** What a subject is now. */
export interface Material {
  /** Changes when something else would be derived; 1,024 characters at most. Without the words that came with it. */
  readonly fingerprint: string
  /** Its file: it is held as long as something is derived of it. */
  readonly asset?: Asset
  /** What it says, where it is words and no file; 12 MiB at most. */
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
   * no such thing, or nothing may be derived of it; a row of a table of its plugin will do.
   */
  resolve(): Material | Promise<Material>
  /**
   * Called in the commit that records the words of its sound, made without wishes of one's own: from now on they are
   * its canonical text. May be called again, with other words. Throws the problem if it is gone.
   */
  attach?(tx: Tx, words: Asset): void
}
/** A kind of subjects, of a struct with their `type`; see `Subject` for the functions. */
export interface SubjectKind<S extends AnyStruct = AnyStruct> {
  /** The `type` of its subjects. */
  readonly type: string
  readonly struct: S
  /** Begins with the type and a colon, such as `card:7`; 512 characters at most. Must do no I/O. */
  key(subject: Infer<S>): string
  /** Must end within ten seconds. */
  resolve(subject: Infer<S>): Material | Promise<Material>
  attach?(tx: Tx, subject: Infer<S>, words: Asset): void
}
/** Checks the types of a kind of subjects and returns it. */
export const defineSubject = <S extends AnyStruct>(kind: SubjectKind<S>): SubjectKind => kind

const Taken = open({
  fingerprint: string({ min: 1, max: 1_024 }),
  asset: optional(Asset),
  words: optional(string()),
  canonical: optional(
    open({
      media_type: string({ min: 1, max: 255 }),
      sha256: string({ min: 1, max: 128 }),
      asset: optional(Asset),
      given: optional(boolean()),
    }),
  ),
})
/** Bytes of it as JSON: words may take twice their room there. */
const mostTaken = 2 * mostAssetBytes

const takenMaterial = (answer: unknown): Material => {
  const material = taken(Taken, answer, { most: mostTaken })
  if (material.asset === undefined && material.words === undefined)
    throw fault('what it returned has neither words nor an asset')
  return unsafeCast<Material>(material)
}

const takenKey = (answer: unknown, kind: unknown): string => {
  const key = taken(string({ max: mostSubjectKey }), answer)
  const begin = `${unsafeCast<SubjectKind>(kind).type}:`
  if (!key.startsWith(begin)) throw fault(`what it returned does not begin with ${begin}`)
  return key
}

const isKind = hasMembers<SubjectKind>('a kind of subjects', {
  type: 'id',
  struct: 'object',
  key: 'function',
  resolve: 'function',
  attach: 'function?',
})

/** Kinds of subjects, by type. */
export const DerivationSubjects: Point<SubjectKind> = withAnswers(
  definePoint<SubjectKind>(
    'derivation-subjects@1',
    ({ type }) => type,
    (kind) => isKind(kind) ?? (isStruct(kind.struct) ? undefined : 'the struct of a kind of subjects must be a struct'),
  ),
  {
    key: refusing((answer, _, kind) => takenKey(answer, kind)),
    resolve: awaited(refusing(takenMaterial)),
    attach: refusing(() => undefined),
  },
)

/** Throws `derivation_invalid` with the paths of what does not fit. */
export const readSubject = (kind: SubjectKind, given: DerivationSubject): Subject => {
  const read = parse(kind.struct, given)
  if (!read.ok) {
    const errors = read.issues.map(({ path, rule }) => ({ path: `body.subject.${path}`, rule }))
    throw derivationErrors.derivation_invalid({ details: { reason: 'its subject does not fit its type' }, errors })
  }
  const subject = read.value
  return {
    key: kind.key(subject),
    value: subject,
    resolve: () => kind.resolve(subject),
    ...(kind.attach && { attach: (tx: Tx, words: Asset) => kind.attach?.(tx, subject, words) }),
  }
}
