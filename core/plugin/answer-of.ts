/** Answers of contributions as plain data. */
import type { Answer } from '../base/answers.js'
import { fault } from '../base/assert.js'
import { parse } from '../base/parse.js'
import { unsafeCast, type AnyStruct, type Infer, type Json } from '../base/schema.js'
import { isModest, maxDepth } from '../base/text/nesting.js'

/** Most bytes of JSON in one answer, where its point says nothing else. */
const mostAnswerBytes = 1024 * 1024

interface AnswerBounds {
  /** Most bytes of JSON; 1 MiB when absent. */
  readonly most?: number
  /** Most levels of nesting; 64 when absent. */
  readonly depth?: number
}

/**
 * What was returned as plain data, made once: nothing of it is code of whoever returned it. Throws for what JSON cannot
 * say, and beyond the bounds.
 */
export const plainCopy = (
  answer: unknown,
  { most = mostAnswerBytes, depth = maxDepth }: AnswerBounds = {},
): unknown => {
  const text: string | undefined = JSON.stringify(answer)
  if (text === undefined) throw fault('what it returned is no JSON')
  if (Buffer.byteLength(text) > most) throw fault(`what it returned is longer than ${most} bytes of JSON`)
  if (!isModest(text, { depth, most })) throw fault(`what it returned is nested more than ${depth} levels deep`)
  return JSON.parse(text)
}

interface AnswerRules<N> extends AnswerBounds {
  /** What nothing at all means; the same as `otherwise` when absent. */
  readonly nothing?: N
}

/** A member that is undefined is not there in a plain copy. */
type Plain<T> = [Json] extends [T] ? T : T extends object ? { [K in keyof T]: Plain<Exclude<T[K], undefined>> } : T

/** What fits the struct, as a plain copy. */
export const answerOf = <S extends AnyStruct, const R, const N = R>(
  struct: S,
  otherwise: R,
  rules: AnswerRules<N> = {},
): Answer<Plain<Infer<S>> | R | N> => ({
  take(answer) {
    if (answer === undefined || answer === null) return 'nothing' in rules ? unsafeCast<N>(rules.nothing) : otherwise
    const parsed = parse(struct, plainCopy(answer, rules))
    if (parsed.ok) return unsafeCast(parsed.value)
    const [issue] = parsed.issues
    throw fault(`what it returned is wrong: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
  },
  otherwise,
})
