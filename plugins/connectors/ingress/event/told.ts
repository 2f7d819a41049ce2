/** What senders of events are told of problems of the daemon: no ids, names or reasons of it (ingress-7). */
import { Problem } from '../../../../core/plugin.js'
import { ingressDomain, ingressErrors } from './errors.js'

/** Domains whose sentences speak of the request and of nothing else. */
const aboutRequests: ReadonlySet<string | undefined> = new Set(['runs', 'assets', 'boards', 'deliveries'])

const withoutPeriod = (sentence: string): string => sentence.replace(/\.$/u, '')

const refused = (problem: Problem): Problem => {
  const { code, spec, message, occurrence } = problem
  if (code === 'persona_not_found' || code === 'persona_unbindable')
    return ingressErrors.bad_request({
      details: { what: 'the persona that its sessions are bound to is not there' },
      members: { reason: 'persona_missing' },
      cause: problem,
    })
  if (code === 'invalid_session_id' || aboutRequests.has(spec.domain))
    return ingressErrors.bad_request({
      details: { what: withoutPeriod(message) },
      members: { reason: code },
      ...(occurrence.errors !== undefined && { errors: occurrence.errors }),
    })
  return ingressErrors.bad_request({
    details: { what: 'the daemon is not set up for it' },
    members: { reason: 'not_set_up' },
    cause: problem,
  })
}

const conflicts: Readonly<Record<string, { readonly what: string; readonly reason: string }>> = {
  session_conflict: { what: 'its session is bound otherwise than the connector says', reason: 'session_policy' },
  binding_conflict: { what: 'a key of it belongs to another session', reason: 'session_bound' },
  session_ended: { what: 'its session is not there', reason: 'session_missing' },
}
const otherConflict = { what: 'the daemon cannot take it as it is', reason: 'not_possible' }

/** Seconds until a session that has very many messages to work on is asked again. */
const queueWait = 30

/** The problem as a sender is told of it. */
export const toldOutside = (error: unknown): unknown => {
  if (!(error instanceof Problem) || error.spec.domain === ingressDomain) return error
  const { code, spec, occurrence } = error
  switch (spec.status) {
    case 404:
    case 400:
    case 413:
      return refused(error)
    case 403:
      return ingressErrors.forbidden({ cause: error })
    case 409: {
      const { what, reason } = conflicts[code] ?? otherConflict
      return ingressErrors.conflict({ details: { what }, members: { reason }, cause: error })
    }
    case 429:
      return ingressErrors.rate_limited({ retryAfter: occurrence.retryAfter ?? queueWait, cause: error })
    case 503:
    case 507:
      return ingressErrors.service_unavailable({ retryAfter: occurrence.retryAfter ?? queueWait, cause: error })
    default:
      return error
  }
}
