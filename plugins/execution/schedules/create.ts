/** Making a schedule: everything that could never work is refused before anything is kept. */
import type { Problem, Tx } from '../../../core/plugin.js'
import { placedBy, runErrors, type SubmitInputRequest } from '../runs/contract.js'
import { fireAfter, type Cadence } from './calendar/cadence.js'
import { cronFault } from './calendar/cron.js'
import type { ScheduleCreateRequest } from './contract.js'
import { scheduleErrors } from './record/errors.js'
import type { ScheduleParts } from './dispatch/parts.js'
import { nameFiles } from './record/schedule-files.js'
import { ownerOf, payloadKinds, type Payload, type PayloadValue, type ScheduleRecord } from './record/store.js'

/** Schedules of one owner that are not over, at most (schedules-9). */
const mostPerOwner = 128

/** Checks a request and gives the record that `keep` stores. */
export const draftSchedule = (parts: ScheduleParts, body: ScheduleCreateRequest): ScheduleRecord => {
  const { cadence, name, max_executions, overlap_policy, misfire_policy } = body
  const now = parts.clock.now()
  checkPeople(parts, body)
  checkLimit(parts, ownerOf(body))
  const payload = payloadOf(parts, body)
  checkCadence(cadence, now)
  const anchor_ms = cadence.type === 'once' ? Math.max(cadence.fire_at_ms, now) : now
  return {
    schedule_id: parts.ids.make('schedule'),
    name,
    target_session_id: body.target_session_id,
    status: 'active',
    cadence,
    anchor_ms,
    payload,
    ...given(body),
    overlap_policy,
    misfire_policy,
    ...(max_executions !== undefined && { max_executions }),
    next_fire_at_ms: cadence.type === 'once' ? anchor_ms : fireAfter({ cadence, anchor_ms }, now),
    execution_count: 0,
    consecutive_failures: 0,
    executions: [],
    reckoned_at_ms: now,
    created_at_ms: now,
    updated_at_ms: now,
  }
}

const checkLimit = ({ store: { schedules } }: ScheduleParts, owner: string): void => {
  if (schedules.count('owner', owner) >= mostPerOwner)
    throw scheduleErrors.schedule_limit_reached({ details: { owner: `Session ${owner}`, limit: mostPerOwner } })
}

/** Stores a draft, unless its owner has too many by now, or whoever is told is gone. */
export const keep = (parts: ScheduleParts, tx: Tx, draft: ScheduleRecord): ScheduleRecord => {
  checkPeople(parts, draft)
  checkLimit(parts, ownerOf(draft))
  const record = { ...draft, created_at_ms: tx.now, updated_at_ms: tx.now }
  tx.insert(parts.store.schedules, record)
  nameFiles(tx, parts, record)
  parts.observers.tell(tx, 'hearing of a new schedule', (observer) => observer.created(tx, record))
  return record
}

const given = ({
  target_agent_id,
  owner_session_id,
  owner_agent_id,
  created_by_run_id,
}: ScheduleCreateRequest): Partial<ScheduleRecord> => ({
  ...(target_agent_id !== undefined && { target_agent_id }),
  ...(owner_session_id !== undefined && { owner_session_id }),
  ...(owner_agent_id !== undefined && { owner_agent_id }),
  ...(created_by_run_id !== undefined && { created_by_run_id }),
})

type People = Pick<
  ScheduleCreateRequest,
  'target_session_id' | 'target_agent_id' | 'owner_session_id' | 'owner_agent_id'
>

/** Whoever is named must exist. A session that has ended can be opened again, but nobody plans for it. */
const checkPeople = ({ sessions }: ScheduleParts, body: People): void => {
  const { target_session_id, target_agent_id, owner_session_id, owner_agent_id } = body
  const target = sessions.get(target_session_id)
  if (target.ended_at_ms !== undefined) throw runErrors.session_ended({ details: { session_id: target_session_id } })
  if (target_agent_id !== undefined && target_agent_id !== target.agent_id)
    throw invalid('target_agent_id', 'must be the agent of the target session')
  const owner = owner_session_id === undefined ? target : sessions.get(owner_session_id)
  if (owner_agent_id !== undefined && owner_agent_id !== owner.agent_id)
    throw invalid('owner_agent_id', 'must be the agent of the owner session')
}

/** The one payload of a request, as it is given. */
const wantedIn = (body: ScheduleCreateRequest): Payload => {
  const { request } = body
  const wanted: Payload[] = [
    ...(request === undefined ? [] : [{ kind: 'request' as const, request }]),
    ...payloadKinds.flatMap((kind) => (body[kind] === undefined ? [] : [{ kind, value: body[kind] }])),
  ]
  const [only] = wanted
  if (only !== undefined && wanted.length === 1) return only
  throw scheduleErrors.schedule_payload_ambiguous({
    details: { count: wanted.length },
    errors: [
      { path: 'body.request', rule: 'must be the only one of request, observation_materialization and flow_start' },
    ],
  })
}

const readValue = (
  { payloads }: ScheduleParts,
  { kind, value }: Exclude<Payload, { kind: 'request' }>,
  { target_session_id, cadence }: ScheduleCreateRequest,
): PayloadValue => {
  const maker = payloads().find((one) => one.kind === kind)
  if (maker !== undefined) return maker.check(value, { target_session_id, recurring: cadence.type !== 'once' })
  throw scheduleErrors.schedule_payload_unavailable({
    details: { kind },
    errors: [{ path: `body.${kind}`, rule: 'needs a plugin that is not there' }],
  })
}

const payloadOf = (parts: ScheduleParts, body: ScheduleCreateRequest): Payload => {
  const wanted = wantedIn(body)
  const { kind } = wanted
  const checked = (input: SubmitInputRequest, path: string): SubmitInputRequest =>
    atPath(path, () => parts.runs.check({ session_id: body.target_session_id, input }))
  // What a run would be refused for at every fire is refused now.
  if (kind === 'request') return { kind, request: checked(wanted.request, 'body.request') }
  const value = readValue(parts, wanted, body)
  const { request } = value
  return {
    kind,
    value: request === undefined ? value : { ...value, request: checked(request, `body.${kind}.request`) },
  }
}

/** A request with the files in it stored: what is kept names them. */
export const withFiles = async (parts: ScheduleParts, body: ScheduleCreateRequest): Promise<ScheduleCreateRequest> => {
  checkPeople(parts, body)
  const wanted = wantedIn(body)
  const { kind } = wanted
  const stored = (input: SubmitInputRequest, path: string): Promise<SubmitInputRequest> =>
    parts.runs.keepFiles(input).catch((error: unknown) => {
      throw below(path, error)
    })
  if (kind === 'request') return { ...body, request: await stored(wanted.request, 'body.request') }
  const value = readValue(parts, wanted, body)
  const { request } = value
  if (request === undefined) return body
  return { ...body, [kind]: { ...value, request: await stored(request, `body.${kind}.request`) } }
}

const below = (path: string, error: unknown): unknown => placedBy(error, (inner) => inner.replace(/^body(?=\.)/u, path))

const atPath = <T>(path: string, act: () => T): T => {
  try {
    return act()
  } catch (error) {
    throw below(path, error)
  }
}

/** Throws `invalid_schedule` with the path of what is wrong. */
const checkCadence = (cadence: Cadence, now: number): void => {
  if (cadence.type !== 'cron') return
  const broken = cronFault(cadence.expression, cadence.timezone, now)
  if (broken !== undefined) throw invalid(`cadence.${broken.field}`, broken.rule)
}

/** The refusal of a field of a schedule. */
export const invalid = (field: string, rule: string): Problem =>
  scheduleErrors.invalid_schedule({ details: { field, rule }, errors: [{ path: `body.${field}`, rule }] })
