/** What functions of contributions may return, as their point says it: for plugins that no compiler has checked. */
import { fault } from './assert.js'
import { unsafeCast } from './schema.js'

/** Minds a function that was returned, as its answer says: once it has failed, it is not called again. */
export type Mind = <R>(given: unknown, answer: Answer<R>) => (...args: readonly unknown[]) => R

/** What one function of a contribution may return. */
export interface Answer<R> {
  /** The same, as it is taken of this contribution. Throws what is wrong with it. */
  take(answer: unknown, mind: Mind, contribution: unknown): R
  /** What counts where it throws, or returns what it must not. */
  readonly otherwise: R
  /** The same, with whose contribution it is. */
  named?(plugin: string): R
  /** True if it may refuse, by a Problem, which is passed on; of all else that it throws, `plugin_failed` is thrown. */
  readonly refuses?: true
  /**
   * True if it may return a promise, which is waited for, ten seconds at most. `by its caller`, who gives it a signal:
   * it is waited for as long as its caller likes, and what is charged is thrown too, for the caller says what it means;
   * of one that may refuse, `plugin_failed` is thrown in its place.
   */
  readonly awaited?: true | 'by its caller'
}

/** Says of a function that its callers guard themselves against what it returns and throws. */
export const asItIs = 'as it is'

type AnswersTo<V> = V extends (...args: never[]) => infer R
  ? Answer<Awaited<R>> | typeof asItIs
  : V extends readonly (infer E extends object)[]
    ? Answers<E>
    : never

/** Those of the functions of one object, by their name: each of them. Of a list of objects, those of each object. */
type FunctionAnswers<T> = {
  readonly [K in keyof T as AnswersTo<NonNullable<T[K]>> extends never ? never : K]-?: AnswersTo<NonNullable<T[K]>>
}

type IsInner<V> = V extends ((...args: never[]) => unknown) | readonly unknown[]
  ? false
  : V extends object
    ? true
    : false

/** Those of a contribution; of an object in it, if anybody asks its functions. */
export type Answers<T> = FunctionAnswers<T> & {
  readonly [K in keyof T as IsInner<NonNullable<T[K]>> extends true ? K : never]?: Partial<
    FunctionAnswers<NonNullable<T[K]>>
  >
}

/** Of one function, or of the objects of a list or an object. */
export type PointAnswer = Answer<unknown> | typeof asItIs | PointAnswers
export type PointAnswers = { readonly [name: string]: PointAnswer }

export const isAnswer = (answer: PointAnswer): answer is Answer<unknown> =>
  typeof answer === 'object' && typeof answer['take'] === 'function'

/** The answer of a function that may return a promise. */
export const awaited = <R>(answer: Answer<R>): Answer<R> => ({ ...answer, awaited: true })

/** The answer of a function that may refuse by a Problem: where it fails otherwise, that is a refusal, too. */
export const refusing = <R>(take: Answer<R>['take']): Answer<R> => ({
  take,
  otherwise: unsafeCast<R>(undefined),
  refuses: true,
})

/**
 * The answer of a function that refuses by throwing a Problem, and has nothing to return: what it returns all the same
 * may be meant as a refusal, and must not pass.
 */
export const refusingByThrow: Answer<undefined> = refusing((answer) => {
  if (answer === undefined) return undefined
  throw fault('what it returned must be undefined: what it refuses it refuses by throwing a problem of defineErrors')
})

/** The answer of a function whose caller gives it a signal, waits as long as it likes, and is told of a failure. */
export const awaitedByCaller = <R>(answer: Answer<R>): Answer<R> => ({ ...answer, awaited: 'by its caller' })

/** Yes or no, as JavaScript reads it. */
export const yesOrNo = (otherwise: boolean): Answer<boolean> => ({
  take(answer) {
    if (typeof answer !== 'function' && (typeof answer !== 'object' || answer === null)) return Boolean(answer)
    throw fault('what it returned is neither yes nor no')
  },
  otherwise,
})
