/** Schedules as models make them: for their own session or another one, changed in the commit of the call's outcome. */
import {
  doc,
  enums,
  integer,
  object,
  optional,
  Problem,
  string,
  type AnyStruct,
  type Infer,
  type Json,
  type JsonObject,
  type Tx,
  notBlank,
} from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool, type ToolCall, type ToolOutcome } from '../tools/contract.js'
import { invalid } from './create.js'
import { MisfirePolicy, overlapPolicies, type Cadence, type ScheduleCreateRequest } from './contract.js'
import { scheduleErrors } from './record/errors.js'
import type { ScheduleParts } from './dispatch/parts.js'
import type { ScheduleAction, Schedules } from './service.js'
import { isTerminal, type ScheduleRecord } from './record/store.js'
import { recipient, targetOf, type Recipient, type TargetParts } from './targets.js'
import { viewSchedule } from './view.js'

export interface ScheduleToolParts extends ScheduleParts, TargetParts {
  readonly service: Schedules
}

const at = doc(string({ min: 1, max: 100 }), 'A moment as RFC 3339 has it, such as 2027-01-31T09:00:00+01:00.')
const WakeAfter = object({
  delay_seconds: doc(integer({ min: 1, max: 10 * 366 * 86_400 }), 'Seconds from now.'),
  ...recipient,
})
const WakeAt = object({ at, ...recipient })
const Create = object({
  name: string({ min: 1, max: 200, pattern: notBlank }),
  ...recipient,
  at: optional(at),
  every_seconds: optional(integer({ min: 5, max: 10 * 366 * 86_400 })),
  cron: optional(
    doc(
      string({ min: 1, max: 200 }),
      'Minute, hour, day of month, month, day of week; or six fields with seconds first.',
    ),
  ),
  timezone: optional(doc(string({ max: 100 }), 'IANA name for cron; UTC when absent.')),
  overlap_policy: optional(enums(overlapPolicies)),
  misfire_policy: optional(MisfirePolicy),
  max_executions: optional(integer({ min: 1 })),
})

const quick = { seldom: true, parallel: true, timeout_ms: 10_000, sandbox: 'inherited' } as const

/** What a model can correct is told to it; everything else is a fault. */
const answering = (work: () => ToolOutcome): ToolOutcome => {
  try {
    return work()
  } catch (error) {
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}

const momentOf = (text: string): Cadence => {
  const fire_at_ms = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/u.test(text)
    ? Date.parse(text.toUpperCase().replace(' ', 'T'))
    : NaN
  if (!(fire_at_ms > 0)) throw invalid('at', 'must be a moment with its offset, as RFC 3339 has it')
  return { type: 'once', fire_at_ms }
}

const cadenceOf = (input: Infer<typeof Create>): Cadence => {
  const { at: moment, every_seconds, cron, timezone } = input
  if ([moment, every_seconds, cron].filter((value) => value !== undefined).length !== 1)
    throw invalid('cadence', 'must be exactly one of at, every_seconds and cron')
  if (timezone !== undefined && cron === undefined) throw invalid('timezone', 'needs cron')
  if (moment !== undefined) return momentOf(moment)
  if (every_seconds !== undefined) return { type: 'interval', every_seconds }
  return { type: 'cron', expression: cron ?? '', timezone: timezone ?? 'UTC' }
}

type Policies = Pick<ScheduleCreateRequest, 'overlap_policy' | 'misfire_policy' | 'max_executions'>
type Plan = { readonly [K in keyof Policies]?: Policies[K] | undefined } & {
  readonly name: string
  readonly cadence: Cadence
}

interface Asked extends TargetParts {
  readonly input: Recipient
  readonly call: ToolCall
}

const requestOf = (
  { input, call, ...parts }: Asked,
  { name, cadence, overlap_policy = 'skip', misfire_policy = { type: 'coalesce_once' }, max_executions }: Plan,
): ScheduleCreateRequest => {
  const { message, provider, model, fallback_model } = input
  const generation = { ...(model !== undefined && { model }), ...(fallback_model !== undefined && { fallback_model }) }
  return {
    name,
    cadence,
    overlap_policy,
    misfire_policy,
    max_executions,
    target_session_id: targetOf(parts, input, call),
    owner_session_id: call.session_id,
    created_by_run_id: call.run_id,
    request: {
      content: message,
      ...(provider !== undefined && { provider }),
      ...(Object.keys(generation).length > 0 && { generation }),
    },
  }
}

const shown = (record: ScheduleRecord): JsonObject => JSON.parse(JSON.stringify(viewSchedule(record)))
const answer = (record: ScheduleRecord, apply?: (tx: Tx) => void): ToolOutcome => ({
  type: 'result',
  output: { schedule: shown(record) },
  ...(apply !== undefined && { apply }),
})

const making = <S extends AnyStruct>(
  { service, agents, sessions }: ScheduleToolParts,
  tool: Pick<Tool, 'name' | 'description'> & { readonly input: S },
  plan: (input: Infer<S>) => Plan,
): Tool =>
  defineTool({
    ...tool,
    ...quick,
    effect: 'idempotent',
    permission: 'allow',
    run: (input: Infer<S>, call) =>
      answering(() => {
        const draft = service.draft(requestOf({ input, call, agents, sessions }, plan(input)))
        return answer(draft, (tx) => void service.add(tx, draft))
      }),
  })

const ById = object({ schedule_id: string({ min: 1, max: 200 }) })

/** Schedules that the session made, or whose runs go to it. Others do not exist for it. */
const isOf = ({ owner_session_id, target_session_id }: ScheduleRecord, session_id: string): boolean =>
  owner_session_id === session_id || target_session_id === session_id
const visible = ({ service }: ScheduleToolParts, schedule_id: string, session_id: string): ScheduleRecord => {
  const record = service.get(schedule_id)
  if (!isOf(record, session_id)) throw scheduleErrors.schedule_not_found({ details: { schedule_id } })
  return record
}

const acting = (
  parts: ScheduleToolParts,
  name: string,
  { action, description }: { action: ScheduleAction; description: string },
): Tool =>
  defineTool({
    name,
    description,
    ...quick,
    input: ById,
    effect: 'idempotent',
    permission: 'allow',
    run: ({ schedule_id }, { session_id }) =>
      answering(() => {
        visible(parts, schedule_id, session_id)
        return answer(
          parts.service.changed(action, schedule_id),
          (tx) => void parts.service.change(tx, action, schedule_id),
        )
      }),
  })

/** Schedules in one answer, those that are not over first. */
const listed = 128

/** Those that are not over are in memory; of the others, which may be many, the newest are read. */
const ofSession = ({ store: { schedules } }: ScheduleToolParts, session_id: string): ScheduleRecord[] => {
  const going = ['active', 'paused']
    .flatMap((status) => schedules.list({ index: 'status', group: status, limit: schedules.count('status', status) }))
    .filter((record) => isOf(record, session_id))
    .slice(0, listed)
  const newest = ['made_by', 'session'].flatMap((index) =>
    schedules.page({ index, group: session_id, limit: 2 * listed, order: 'desc' }),
  )
  const over = [...new Set(newest)]
    .toSorted()
    .toReversed()
    .flatMap((id) => schedules.find(id) ?? [])
    .filter(isTerminal)
  return [...going, ...over].slice(0, listed)
}

const list = (parts: ScheduleToolParts): Tool =>
  defineTool({
    name: 'schedule_list',
    description: 'Lists the schedules of this session, without their history.',
    ...quick,
    input: object({}),
    effect: 'read',
    run: (_, { session_id }) => {
      const output: Json[] = ofSession(parts, session_id).map((record) => {
        const { recent_executions: _, ...rest } = shown(record)
        return rest
      })
      return { type: 'result', output: { schedules: output } }
    },
  })

const get = (parts: ScheduleToolParts): Tool =>
  defineTool({
    name: 'schedule_get',
    description: 'Reads one schedule of this session with its last executions.',
    ...quick,
    input: ById,
    effect: 'read',
    run: ({ schedule_id }, { session_id }) => answering(() => answer(visible(parts, schedule_id, session_id))),
  })

export const scheduleTools = (parts: ScheduleToolParts): readonly Tool[] => [
  making(
    parts,
    {
      name: 'wake_after',
      description: 'Starts one run after some seconds, with a message to yourself or to another session.',
      input: WakeAfter,
    },
    ({ delay_seconds }) => ({
      name: `wake-${delay_seconds}`,
      cadence: { type: 'once', fire_at_ms: parts.clock.now() + delay_seconds * 1000 },
    }),
  ),
  making(
    parts,
    {
      name: 'wake_at',
      description: 'Starts one run at a moment, with a message to yourself or to another session.',
      input: WakeAt,
    },
    (input) => ({ name: 'wake-at', cadence: momentOf(input.at) }),
  ),
  making(
    parts,
    {
      name: 'schedule_create',
      description:
        'Plans runs with a message: once at a moment, every so many seconds, or by a cron expression in a time zone.',
      input: Create,
    },
    (input) => ({ ...input, cadence: cadenceOf(input) }),
  ),
  list(parts),
  get(parts),
  acting(parts, 'schedule_cancel', {
    action: 'cancel',
    description: 'Ends a schedule for good. Runs that it has made go on.',
  }),
  acting(parts, 'schedule_pause', {
    action: 'pause',
    description: 'Lets a schedule take no more fires until it is resumed.',
  }),
  acting(parts, 'schedule_resume', { action: 'resume', description: 'Lets a paused schedule fire again.' }),
  acting(parts, 'schedule_trigger_now', {
    action: 'trigger',
    description: 'Makes one execution of a schedule now, beside its cadence.',
  }),
]
