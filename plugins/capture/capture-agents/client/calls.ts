/** Calls of an agent to its daemon, and what comes of each. */
import { Problem, version, type CommandInput, type Json } from '../../../../core/plugin.js'
import type { AgentFile } from './agent-file.js'
import { clientErrors } from './errors.js'

/** `retry`: later it may go well, after so many milliseconds at least. `refused`: this one never will. */
export type Called =
  | { readonly type: 'done'; readonly answer: Json }
  | { readonly type: 'retry'; readonly reason: string; readonly after_ms: number }
  | { readonly type: 'refused'; readonly reason: string }

export interface CallParts {
  readonly file: AgentFile
  readonly reach: CommandInput['reach']
  readonly signal: AbortSignal
}
interface Call {
  readonly url: string
  readonly token: string
  /** What the token is called in a sentence. */
  readonly tokenName: string
  readonly body: Json
}

/** Of this program, as daemons are told. */
export const agentVersion = `holdfast-capture/${version}`

/** Statuses that pass by themselves. */
const passing: ReadonlySet<number> = new Set([408, 425, 429])
const mayPass = (status: number): boolean => passing.has(status) || status >= 500
/** Milliseconds that a daemon writes into its sentence, where no header says it. */
const waitIn = (message: string): number => Number(/retry_after_ms=(\d{1,10})/u.exec(message)?.[1] ?? 0)
const waitOf = ({ message, occurrence }: Problem): number =>
  occurrence.retryAfter === undefined ? waitIn(message) : occurrence.retryAfter * 1000

/** Nothing but another file or address helps: ends the capture. */
const finalOf = (error: Problem, { url, tokenName }: Call, { file }: CallParts): Problem | undefined => {
  const { status } = error.spec
  const { machine_id } = file.capture_agent
  if (error.code === 'answer_unreadable')
    return mayPass(Number(error.occurrence.members?.['status'] ?? 0))
      ? undefined
      : clientErrors.capture_address_wrong({ details: { url } })
  if (status === 401 || status === 403)
    return clientErrors.capture_token_refused({ details: { url: file.daemon.base_url, token: tokenName, machine_id } })
  return status === 404 || status === 405 ? clientErrors.capture_address_wrong({ details: { url } }) : undefined
}

const systemReason = (cause: unknown): string => {
  const inner = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return inner === undefined || inner === '' ? '' : ` (${inner})`
}

/** Rejects with a problem that only a person can help with. */
export const callDaemon = async (parts: CallParts, call: Call): Promise<Called> => {
  const { file, reach } = parts
  const { pathname, search } = new URL(call.url)
  const headers = { authorization: `Bearer ${call.token}`, 'user-agent': file.daemon.user_agent }
  try {
    const client = reach(new URL(call.url).origin, file.daemon.request_timeout_ms)
    return { type: 'done', answer: await client.send('POST', pathname + search, call.body, headers) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const final = finalOf(error, call, parts)
    if (final !== undefined) throw final
    if (error.code === 'daemon_unreachable')
      return { type: 'retry', reason: `no daemon answers${systemReason(error.cause)}`, after_ms: 0 }
    const reason = `${error.message} (${error.code})`
    if (mayPass(error.spec.status) || error.code === 'answer_unreadable')
      return { type: 'retry', reason, after_ms: waitOf(error) }
    return { type: 'refused', reason }
  }
}
