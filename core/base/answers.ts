/** What functions of contributions may return, as their point says it: for plugins that no compiler has checked. */
import { fault } from './assert.js'
import { parse } from './parse.js'
import { unsafeCast, type AnyStruct, type Infer } from './schema.js'

/** Minds a function that was returned, as its answer says: once it has failed, it is not called again. */
export type Mind = <R>(given: unknown, answer: Answer<R>) => (...args: readonly unknown[]) => R

/** What one function of a contribution may return. */
export interface Answer<R> {
  /** The same, as it is taken. Throws what is wrong with it. */
  take(answer: unknown, mind: Mind): R
  /** What counts where it throws, or returns what it must not. */
  readonly otherwise: R
  /** True if it may return a promise, which is waited for, ten seconds at most. */
  readonly awaited?: true
}

/** Those of a contribution, by the name of the function. Name all of its functions. */
export type Answers<T> = {
  readonly [K in keyof T]?: NonNullable<T[K]> extends (...args: never[]) => infer R ? Answer<Awaited<R>> : never
}

/** What fits the struct; nothing at all is the same as `otherwise`. */
export const answerOf = <S extends AnyStruct, R extends Infer<S> | readonly never[] | undefined>(
  struct: S,
  otherwise: R,
): Answer<Infer<S> | R> => ({
  take(answer) {
    if (answer === undefined || answer === null) return otherwise
    const parsed = parse(struct, answer)
    if (parsed.ok) return unsafeCast(answer)
    const [issue] = parsed.issues
    throw fault(`what it returned is wrong: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
  },
  otherwise,
})

/** Yes or no, as JavaScript reads it. */
export const yesOrNo = (otherwise: boolean): Answer<boolean> => ({
  take(answer) {
    if (typeof answer !== 'function' && (typeof answer !== 'object' || answer === null)) return Boolean(answer)
    throw fault('what it returned is neither yes nor no')
  },
  otherwise,
})
