/** What functions of contributions may return, as their point says it: for plugins that no compiler has checked. */
import { fault } from './assert.js'

/** Minds a function that was returned, as its answer says: once it has failed, it is not called again. */
export type Mind = <R>(given: unknown, answer: Answer<R>) => (...args: readonly unknown[]) => R

/** What one function of a contribution may return. */
export interface Answer<R> {
  /** The same, as it is taken. Throws what is wrong with it. */
  take(answer: unknown, mind: Mind): R
  /** What counts where it throws, or returns what it must not. */
  readonly otherwise: R
  /**
   * True if it may return a promise, which is waited for, ten seconds at most. `by its caller`, who gives it a signal:
   * it is waited for as long as its caller likes, and what is charged is thrown too, for the caller says what it means.
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

/** Those of a contribution, by the name of the function: each of them. Of a list of objects, those of each object. */
export type Answers<T> = {
  readonly [K in keyof T as AnswersTo<NonNullable<T[K]>> extends never ? never : K]-?: AnswersTo<NonNullable<T[K]>>
}

/** Of one function, or of the objects of a list. */
export type PointAnswer = Answer<unknown> | typeof asItIs | PointAnswers
export type PointAnswers = { readonly [name: string]: PointAnswer }

export const isAnswer = (answer: PointAnswer): answer is Answer<unknown> =>
  typeof answer === 'object' && typeof answer['take'] === 'function'

/** The answer of a function that may return a promise. */
export const awaited = <R>(answer: Answer<R>): Answer<R> => ({ ...answer, awaited: true })

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
