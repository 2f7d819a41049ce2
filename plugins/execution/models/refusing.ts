import type { ModelConnection, Readiness } from './contract.js'

/** Why a route cannot be used. */
export type Unready = Omit<Readiness, 'state'>

/** A connection that asks nobody: its readiness says why. */
export const refusing = (why: Unready): ModelConnection => {
  const readiness: Readiness = { state: 'error', ...why }
  return {
    readiness: () => readiness,
    async *stream() {
      yield {
        type: 'done',
        outcome: 'failed',
        failure: { class: 'bad_request', retryable: false, message: why.message },
      }
    },
  }
}
