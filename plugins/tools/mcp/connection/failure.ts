/** What a failure of the package means for a call. */
import { outboundCodes, Problem, redactedTo, visibleLine, withoutSecrets, messageOf } from '../../../../core/plugin.js'
import { mcpErrors } from '../config/errors.js'
import type { Kit } from './kit.js'

/**
 * `refused`: the server answered that it does not make the call. `unsent`: it never had the call. `lost`: it may have
 * made the call, and nobody can tell.
 */
export interface Failure {
  readonly type: 'refused' | 'unsent' | 'lost'
  /** Made visible, without a full stop; as long as it is. */
  readonly reason: string
}

const mostReason = 500
const shown = (text: string): string => visibleLine(text.trim()).replace(/\.$/u, '')

/** A reason for people: cut when it is redacted, and not before. */
export const shownReason = (reason: string, redact: (text: string) => string): string =>
  redactedTo(reason, mostReason, withoutSecrets(redact))

/**
 * Statuses that a server of the protocol, or what stands before it, answers instead of reading the call: without leave
 * (401, 403), with a session that it does not know (404), or of a form that it does not take. A redirect, a 408 or a
 * 409 says nothing of what has become of the call.
 */
const unread: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 406, 413, 415, 429])

/** Failures of the outbound client before anything was sent. */
const early = new Set<string>(outboundCodes.filter((code) => /invalid|refused|not_found|connection_failed/u.test(code)))

const typeOf = (kit: Kit, error: unknown): Failure['type'] => {
  if (error instanceof Problem) {
    const code = error.occurrence.details?.['code']
    return error.code !== 'outbound_failed' || early.has(String(code)) ? 'unsent' : 'lost'
  }
  if (error instanceof kit.ProtocolError) return 'refused'
  if (error instanceof kit.SdkHttpError) return unread.has(error.status ?? 0) ? 'unsent' : 'lost'
  if (error instanceof kit.UnauthorizedError) return 'unsent'
  if (error instanceof kit.SdkError) return error.code === kit.SdkErrorCode.NotConnected ? 'unsent' : 'lost'
  return error instanceof Error && error.message === 'Not connected' ? 'unsent' : 'lost'
}

/** The package says before it what it did itself. */
const bodyOf = ({ message }: Error): string => message.replace(/^Error POSTing to endpoint:/u, '').trim()

/** A sentence of a problem has its details cut; the package tells of an answer its body and not its status. */
const reasonOf = (kit: Kit, error: unknown): string => {
  if (error instanceof Problem && error.code === mcpErrors.mcp_connection_failed.code)
    return String(error.occurrence.details?.['reason'])
  if (error instanceof kit.SdkHttpError && error.status !== undefined)
    return [`it answered with status ${error.status}`, bodyOf(error)].filter((part) => part !== '').join(': ')
  return messageOf(error)
}

export const failureOf = (kit: Kit, error: unknown): Failure => ({
  type: typeOf(kit, error),
  reason: shown(reasonOf(kit, error)),
})
