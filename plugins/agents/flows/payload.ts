/** Flows that a schedule starts (flows-15). */
import { digest, fault, parse, Problem, type JsonObject } from '../../../core/plugin.js'
import { scheduleErrors, type PayloadFire, type SchedulePayload } from '../../execution/schedules/contract.js'
import { primitiveKinds } from '../playbooks/contract.js'
import { ScheduledFlow, type StartFlowRequest } from './contract.js'
import { flowErrors } from './errors.js'
import { checkMetadata, placed, startedBefore, startFlow, type StartParts } from './start.js'

const refused = (path: string, rule: string): Error => {
  const field = ['flow_start', path].filter((part) => part !== '').join('.')
  return scheduleErrors.invalid_schedule({ details: { field, rule }, errors: [{ path: `body.${field}`, rule }] })
}

const read = (payload: JsonObject): Omit<StartFlowRequest, 'session_id'> & { session_id?: string | undefined } => {
  const parsed = parse(ScheduledFlow, payload)
  if (parsed.ok) return parsed.value
  const [{ path, rule } = { path: '', rule: 'is not valid' }] = parsed.issues
  throw refused(path, rule)
}

const isPrimitive: ReadonlySet<string> = new Set(primitiveKinds)

/** Each fire is a flow of its own: what would name it is not for all of them. */
const checkNames = ({ flow_id, idempotency_key }: Pick<StartFlowRequest, 'flow_id' | 'idempotency_key'>): void => {
  const given = flow_id !== undefined ? 'flow_id' : idempotency_key !== undefined ? 'idempotency_key' : undefined
  if (given !== undefined) throw refused(given, 'must be absent where the schedule fires more than once')
}

/** Nothing of the daemon belongs to a flow before it is started, but the flow itself. */
const checkEvidence = ({ evidence_refs, flow_id }: Pick<StartFlowRequest, 'evidence_refs' | 'flow_id'>): void => {
  const at = evidence_refs.findIndex(({ kind, id }) => isPrimitive.has(kind) && !(kind === 'flow' && id === flow_id))
  if (at >= 0) throw refused(`evidence_refs.${at}.id`, 'must belong to the flow')
}

/** A draft may be published until it fires; what is not there, was revoked or has another digest starts none. */
const checkPlaybook = ({ playbooks }: StartParts, { playbook_ref }: Pick<StartFlowRequest, 'playbook_ref'>): void => {
  try {
    playbooks.startable(playbook_ref)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const status = error.occurrence.details?.['status']
    if (status === 'draft') return
    const rule = 'must name a version of a playbook, by its digest'
    throw refused('playbook_ref', status === undefined ? rule : 'must name a version that was not revoked')
  }
}

/** Names of another flow stay those of that one. */
const checkUnused = (parts: StartParts, request: StartFlowRequest): void => {
  try {
    startedBefore(parts, { request, digest: digest(request) })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const field = error.code === flowErrors.flow_conflict.code ? 'flow_id' : 'idempotency_key'
    throw refused(field, 'must not be that of another flow')
  }
}

/** Both names of a flow of a fire where its payload has none; what it has stays alone. */
const namesOf = (
  { flow_id, idempotency_key }: Pick<StartFlowRequest, 'flow_id' | 'idempotency_key'>,
  { schedule_id, fire_at_ms }: PayloadFire,
): Partial<StartFlowRequest> =>
  flow_id !== undefined || idempotency_key !== undefined
    ? { flow_id, idempotency_key }
    : {
        flow_id: `flow_${digest([schedule_id, fire_at_ms]).slice(0, 26)}`,
        idempotency_key: `schedule:${schedule_id}:${fire_at_ms}`,
      }

export const flowPayload = (parts: StartParts): SchedulePayload => ({
  kind: 'flow_start',
  check(payload, { target_session_id, recurring }) {
    const wish = read(payload)
    if (wish.session_id !== undefined && wish.session_id !== target_session_id)
      throw refused('session_id', 'must be the target session of the schedule')
    if (recurring) checkNames(wish)
    placed(
      () => checkMetadata(wish.metadata),
      (path) => path.replace(/^body(?=\.)/u, 'body.flow_start'),
    )
    checkEvidence(wish)
    checkPlaybook(parts, wish)
    const request = { ...wish, session_id: target_session_id }
    checkUnused(parts, request)
    return request
  },
  async dispatch(payload, fire) {
    const parsed = parse(ScheduledFlow, payload)
    if (!parsed.ok) throw fault('a payload was kept that was never checked')
    const { schedule_id, receipt, target_session_id } = fire
    const wish = { ...parsed.value, session_id: target_session_id }
    const request: StartFlowRequest = { ...wish, ...namesOf(wish, fire) }
    const {
      flow: { run_id },
    } = await startFlow(parts, { request, digest: digest(request), fire: { schedule_id, receipt } })
    return parts.runs.get(run_id)
  },
})
