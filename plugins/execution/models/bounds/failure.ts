/** A failed call, as it is taken of a provider. */
import { toldLine } from '../../../../core/plugin.js'
import type { FailureClass } from './failure-class.js'

/** A failed model call. */
export interface ModelFailure {
  readonly class: FailureClass
  readonly retryable: boolean
  /** From `Retry-After` and the like, milliseconds from 0; a route makes `longestHintMs` of more. */
  readonly retry_after_ms?: number
  /**
   * What happened, whom was asked for which model, and what it said. A route makes one line of it, 1,000 characters at
   * most, without secrets.
   */
  readonly message: string
  readonly status?: number
}

/** Characters of what a provider says at once. It stands in runs, their events, the status and the log. */
const mostWords = 1_000

/** Words of a provider, as one line of them is told to people. */
export const takenWords = (words: string, redact: (text: string) => string): string =>
  toldLine(words, mostWords, redact)

export const takenFailure = (failure: ModelFailure, redact: (text: string) => string): ModelFailure => {
  const { class: cls, retryable, message, retry_after_ms, status } = failure
  return {
    class: cls,
    retryable,
    message: takenWords(message, redact),
    ...(retry_after_ms !== undefined && { retry_after_ms }),
    ...(status !== undefined && { status }),
  }
}
