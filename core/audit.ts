/** Keeps refusals of the control plane, for the operator. Reference 1 §3.8. */
import type { AuthRecord } from './http/auth.js'
import type { Log } from './log.js'
import type { State, StreamSpec } from './state/contract.js'

const spec: StreamSpec<{ [K in keyof AuthRecord]: AuthRecord[K] }> = { name: 'control_plane_auth', version: 1 }
const owner = 'audit'

/** Declares the stream; call it before the state is loaded. A refusal that cannot be kept is only logged. */
export const createAudit = (state: State, log: Log): ((record: AuthRecord) => void) => {
  const stream = state.stream(spec)
  return (record) => {
    state
      .commit((tx) => tx.append(stream, owner, { ...record }))
      .catch((error: unknown) => log.warn('an audit record was not kept', { error }))
  }
}
