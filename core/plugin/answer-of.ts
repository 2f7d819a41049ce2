/** Answers of contributions as plain data. */
import type { Answer } from '../base/answers.js'
import { fault } from '../base/assert.js'
import { plainCopy } from '../base/foreign/plain.js'
import { parse } from '../base/parse.js'
import { unsafeCast, type AnyStruct, type Infer, type Json } from '../base/schema.js'

interface AnswerBounds {
  /** Most bytes of JSON; 1 MiB when absent. */
  readonly most?: number
  /** Most levels of nesting; 64 when absent. */
  readonly depth?: number
}

interface AnswerRules<N, M> extends AnswerBounds {
  /** What nothing at all means; the same as `otherwise` when absent. */
  readonly nothing?: N
  /** What counts in place of a wrong answer, where that is to name the plugin; `otherwise` when absent. */
  readonly named?: (plugin: string) => M
}

/** A member that is undefined is not there in a plain copy. */
type Plain<T> = [Json] extends [T] ? T : T extends object ? { [K in keyof T]: Plain<Exclude<T[K], undefined>> } : T

/** What was returned, as a plain copy. Throws what of it does not fit the struct. */
export const taken = <S extends AnyStruct>(
  struct: S,
  answer: unknown,
  { most, depth }: AnswerBounds = {},
): Plain<Infer<S>> => {
  const parsed = parse(struct, plainCopy(answer, most, depth))
  if (parsed.ok) return unsafeCast(parsed.value)
  const [issue] = parsed.issues
  throw fault(`what it returned is wrong: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
}

/** What fits the struct, as a plain copy. */
export const answerOf = <S extends AnyStruct, const R, const N = R, M = R>(
  struct: S,
  otherwise: R,
  rules: AnswerRules<N, M> = {},
): Answer<Plain<Infer<S>> | R | N | M> => ({
  take(answer) {
    if (answer === undefined || answer === null) return 'nothing' in rules ? unsafeCast<N>(rules.nothing) : otherwise
    return taken(struct, answer, rules)
  },
  otherwise,
  ...(rules.named !== undefined && { named: rules.named }),
})
