/** Why a server is not connected, and why a request was over, in words. */
import { Problem } from '../../../../core/plugin.js'
import { mcpErrors } from '../config/errors.js'
import { failureOf, shownReason, type Failure } from '../connection/failure.js'
import { loadKit } from '../connection/kit.js'

export interface ServerProblem {
  readonly code: string
  readonly message: string
}

export const problemOf = async (error: unknown, redact: (text: string) => string): Promise<ServerProblem> => {
  const { type, reason } = failureOf(await loadKit(), error)
  const code = error instanceof Problem ? error.code : mcpErrors.mcp_connection_failed.code
  return { code, message: shownReason(type === 'refused' ? `it answered with an error: ${reason}` : reason, redact) }
}

/** What a request came to that was not answered. */
export const askedProblem = (server: string, { type, reason }: Failure): Problem => {
  if (type === 'refused') return mcpErrors.mcp_call_refused({ details: { reason } })
  return mcpErrors[type === 'unsent' ? 'mcp_server_unavailable' : 'mcp_outcome_unknown']({
    details: { server, reason },
  })
}

/** Why a request was over before its answer came, if that is its caller's doing. */
export const endedBy = ({ signal }: { readonly signal: AbortSignal }): string | undefined => {
  if (!signal.aborted) return undefined
  const reason: unknown = signal.reason
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? reason.message : 'it was not waited for'
}
