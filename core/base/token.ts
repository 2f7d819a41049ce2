/** Typed names: how plugins find each other without a lookup by string. */
import type { Answers, PointAnswers } from './answers.js'
import { unsafeCast } from './schema.js'

/** A typed name for a service that one plugin provides and others need. The major is in the id: `sessions@1`. */
export interface Token<T> {
  readonly token: string
  readonly type?: T
}
/** Names a service. Two tokens with one id are the same token. */
export const defineToken = <T>(id: string): Token<T> => Object.freeze({ token: id })

/** A typed list that any plugin may contribute to. Exported by the plugin that owns the idea. */
export interface Point<T> {
  readonly point: string
  readonly type?: T
  key?(value: T): string
  check?(value: T): string | undefined
  /** What its functions may return, by their name. */
  readonly answers?: PointAnswers
}
/**
 * `key` makes contributions unique: a second one with the same key is refused and charged to its plugin. `check` says
 * what is wrong with a contribution, which is refused then; its author may have had no compiler.
 */
export const definePoint = <T>(
  id: string,
  key?: (value: T) => string,
  check?: (value: T) => string | undefined,
): Point<T> => Object.freeze({ point: id, ...(key !== undefined && { key }), ...(check !== undefined && { check }) })

/**
 * The point with what the functions of its contributions may return. Of one that a third-party plugin contributes, who
 * views the point gets what is taken: a throw, a wrong answer and one that takes too long are charged to that plugin.
 */
export const withAnswers = <T>(point: Point<T>, answers: Answers<T>): Point<T> =>
  Object.freeze({ ...point, answers: unsafeCast<PointAnswers>(answers) })

const half = /\p{Surrogate}/u
const isText = (found: unknown): found is string => typeof found === 'string' && found !== '' && !half.test(found)

/** They become members of answers, words of command lines and parts of addresses. */
const id = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/u
const longestId = 64
const isOdd = (found: unknown): boolean => isText(found) && !(id.test(found) && found.length <= longestId)
const idRule =
  `must be of small letters and digits, with single underscores or hyphens between words, ${longestId} at most, ` +
  'and begin with a letter'

type MemberKind = 'text' | 'number' | 'function' | 'object'

/** What a contribution must have, and with a question mark what it may have. */
type Members = Readonly<Record<string, 'id' | MemberKind | `${MemberKind}?`>>

const isOf = (found: unknown, kind: string): boolean =>
  kind === 'text' ? isText(found) : typeof found === kind && found !== null

/**
 * A `check` for contributions that must have these members, each of its kind; one with a question mark, such as
 * `function?`, may be absent. Texts must not be empty, nor have half of a character, with which strict readers take
 * nothing of an answer; an `id` is a text of lower case words, such as `run_memory` or `mcp-oauth`, 64 characters at
 * most: what the point has as its key.
 */
export const hasMembers =
  <T>(what: string, members: Members): ((value: T) => string | undefined) =>
  (value) => {
    if (typeof value !== 'object' || value === null) return `${what} must be an object`
    const found = (member: string): unknown => Reflect.get(value, member)
    const odd = Object.keys(members).find((member) => members[member] === 'id' && isOdd(found(member)))
    if (odd !== undefined) return `the ${odd} ${JSON.stringify(found(odd))} of ${what} ${idRule}`
    const wrong = Object.entries(members).flatMap(([member, told]) => {
      const kind = told === 'id' ? 'text' : told.replace('?', '')
      if (isOf(found(member), kind) || (told.endsWith('?') && found(member) === undefined)) return []
      return [`the ${kind} ${member}${told.endsWith('?') ? ' or none' : ''}`]
    })
    return wrong.length === 0 ? undefined : `${what} must have ${wrong.join(', ')}`
  }
