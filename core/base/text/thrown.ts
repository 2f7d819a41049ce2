/**
 * What was thrown, as it is told. It may be anything, of any length, and may throw again when it is looked at: nothing
 * here throws.
 */
import { wellFormed } from './well-formed.js'

/** Rewrites the places in the text of a stack. */
export type TellPlaces = (stack: string) => string

let tell: TellPlaces = (stack) => stack
export const tellPlacesBy = (given: TellPlaces): void => {
  tell = given
}

const attempt = <T>(look: () => T, otherwise: T): T => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)
const unsayable = 'something that cannot be made text'

/** Whether it is an error, which says so of itself: what it has may be of any kind. */
export const isError = (thrown: unknown): thrown is Error => attempt(() => thrown instanceof Error, false)

/** What `String` makes of it: of an error its name and its message. Well-formed, as each text of these. */
export const thrownText = (thrown: unknown): string => attempt(() => wellFormed(String(thrown)), unsayable)

/** The message of an error; anything else as text. */
export const messageOf = (thrown: unknown): string =>
  isError(thrown) ? thrownText(attempt((): unknown => thrown.message, unsayable)) : thrownText(thrown)

/** The name of an error; empty if it has none, or is none. */
export const nameOf = (thrown: unknown): string =>
  attempt(() => (isError(thrown) ? textOr(thrown.name, '') : ''), '').slice(0, 200)

/** The code of a system error, such as `ENOSPC`. */
export const codeOf = (thrown: unknown): string | undefined =>
  attempt(
    () => (isError(thrown) && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined),
    undefined,
  )

/** What an error names as its cause. */
export const causeOf = (thrown: unknown): unknown =>
  isError(thrown) ? attempt((): unknown => thrown.cause, undefined) : undefined

/** Characters of a stack that are looked at: more than is told, so that what a secret is can be seen. */
const longestStack = 512 * 1024
const mostPlaces = 8 * 1024

/** The last lines of a stack, which name places; cut from above. */
export const placesOf = (stack: string, most: number): string => {
  const [, ...lines] = stack.slice(-most).split('\n')
  return lines.slice(lines.findLastIndex((line) => !line.startsWith('    at ')) + 1).join('\n')
}

/** The stack of an error, if it has one. Asked by who prints or judges it alone: other errors cost nothing. */
export const stackOf = (thrown: unknown): string | undefined => {
  const stack = isError(thrown) ? attempt((): unknown => thrown.stack, undefined) : undefined
  if (typeof stack !== 'string' || stack === '') return undefined
  return tell(
    wellFormed(
      stack.length <= longestStack ? stack : `${stack.slice(0, longestStack)}…\n${placesOf(stack, mostPlaces)}`,
    ),
  )
}
