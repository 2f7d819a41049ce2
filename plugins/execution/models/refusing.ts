import type { ModelConnection, Readiness } from './contract.js'

/** Why a route cannot be used. */
export type Unready = Omit<Readiness, 'state'>

/** A connection that asks nobody: its readiness says why, as it is then. */
export const refusing = (why: Unready | (() => Unready)): ModelConnection => {
  const now = typeof why === 'function' ? why : () => why
  return {
    readiness: (): Readiness => ({ state: 'error', ...now() }),
    async *stream() {
      yield {
        type: 'done',
        outcome: 'failed',
        failure: { class: 'bad_request', retryable: false, message: now().message },
      }
    },
  }
}
