/**
 * Every error that may leave the daemon is a row of a table: a stable code, a
 * status, one sentence, and what the caller can do (http-6).
 */
import { redactedTo } from './words/redacted-to.js'
import { unsafeCast } from './schema.js'

export interface ProblemSpec {
  /** HTTP status. */
  readonly status: number
  /** The contract's error domain; absent where the contract names none. */
  readonly domain?: string
  /** One sentence. `{name}` is replaced by that detail, cut to 300 characters, visibly. */
  readonly detail: string
  /**
   * What the caller can do about it, one sentence. `{name}` in a path, and as a word of a command line, is replaced by
   * that detail if there is one.
   */
  readonly action?: string
}

/** Facts for one occurrence: values for `{name}` in the sentence, and members of the problem document. */
export interface Occurrence {
  readonly details?: Readonly<Record<string, string | number>>
  /** Offending fields: dotted path (prefixed `body.`, `query.`, `path.` or `header.`) and rule. */
  readonly errors?: readonly { readonly path: string; readonly rule: string }[]
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfter?: number
  /** Further response headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the document, such as `limit_bytes`. */
  readonly members?: Readonly<Record<string, string | number | boolean>>
  /** For the log only; never sent. */
  readonly cause?: unknown
}

/** Tells problems from whatever else is thrown, without looking at what that has. */
const made = new WeakSet<object>()

/** The only error a handler throws on purpose; the HTTP layer writes it as `application/problem+json`. */
export class Problem extends Error {
  readonly code: string
  readonly spec: ProblemSpec
  readonly occurrence: Occurrence
  /** What the caller can do about it, as it is sent. */
  readonly action: string | undefined

  constructor(code: string, spec: ProblemSpec, occurrence: Occurrence) {
    super(fill(spec.detail, occurrence.details ?? {}), { cause: occurrence.cause })
    made.add(this)
    this.name = 'Problem'
    this.code = code
    this.spec = spec
    this.occurrence = occurrence
    this.action = spec.action && fillAction(spec.action, occurrence.details ?? {})
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (typeof value !== 'object' || value === null || !made.has(value)) return false
    return this === Problem || Function.prototype[Symbol.hasInstance].call(this, value)
  }
}

export interface ProblemFactory {
  (occurrence?: Occurrence): Problem
  readonly code: string
  readonly spec: ProblemSpec
}

/** Makes a plugin's error table: `errors.session_not_found({ details: { session_id } })` is a Problem to throw. */
export const defineErrors = <const T extends Record<string, ProblemSpec>>(
  table: T,
): { readonly [C in keyof T]: ProblemFactory } => {
  const factories = Object.entries(table).map(([code, spec]) => {
    const make = (occurrence: Occurrence = {}): Problem => new Problem(code, spec, occurrence)
    return [code, Object.assign(make, { code, spec })] as const
  })
  return unsafeCast(Object.freeze(Object.fromEntries(factories)))
}

type Details = Readonly<Record<string, string | number>>
const asItIs = (text: string): string => text
/** Characters of one detail, which may be the reason of somebody else with what is to be done, and of an id. */
const [mostDetail, mostId] = [300, 200]

/** What is filled in may be a sentence or a question itself, with its own end. */
const fill = (sentence: string, details: Details, redact: (text: string) => string = asItIs): string =>
  sentence.replace(/\{(\w+)\}(\.(?= |$))?/gu, (_, name: string, period = '') => {
    const whole = redactedTo(String(details[name] ?? '?'), mostDetail + 1, redact)
    const text = whole.length > mostDetail ? `${whole.slice(0, mostDetail - 1)}…` : whole
    return /[.?]$/u.test(text) ? text : text + period
  })

/** Of a path: what sentences and command lines find the end of. */
const pathWord = (id: string): string =>
  encodeURIComponent(id).replaceAll(/[^\w%-]|-$/gu, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** An id that a shell and a reader take as it stands. */
const plainId = /^[A-Za-z0-9_.:@][A-Za-z0-9_.:@-]*$/u
/** An absolute path, likewise. */
const plainPath = /^(?:\/[A-Za-z0-9_.:@+-]+)+$/u

/** A long id, an odd one that is no part of a path, and one with a secret in it stay what they are called. */
const fillAction = (action: string, details: Details, redact: (text: string) => string = asItIs): string =>
  action.replaceAll(/(\/?)\{(\w+)\}/gu, (all, slash: string, name: string) => {
    const id = String(details[name] ?? '')
    const isTold = id !== '' && id.length <= mostId && !/\p{Cs}/u.test(id) && redact(id) === id
    if (slash !== '') return isTold ? `/${pathWord(id)}` : all
    return isTold && (plainId.test(id) || plainPath.test(id)) ? id : name.toUpperCase()
  })

/** The sentence of a problem, for those who may read no secret: each detail is redacted before it is cut. */
export const redactedSentence = ({ spec, occurrence }: Problem, redact: (text: string) => string): string =>
  fill(spec.detail, occurrence.details ?? {}, redact)

/** The action, for the same: what is redacted as it stands could not be found as an address has it. */
export const redactedAction = ({ spec, occurrence }: Problem, redact: (text: string) => string): string | undefined =>
  spec.action && fillAction(spec.action, occurrence.details ?? {}, redact)
