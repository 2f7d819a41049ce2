import {
  collectionSource,
  defaulted,
  defineRoute,
  doc,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  parse,
  string,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { uploadProblems } from '../../media/assets/contract.js'
import {
  checkProblems,
  fileBytesOf,
  mostSubmissionBytes,
  noRun,
  runErrors,
  SubmitInputRequest,
} from '../runs/contract.js'
import { SessionId } from '../sessions/contract.js'
import { ScheduleCreateRequest, scheduleErrors, ScheduleView } from './contract.js'
import type { ScheduleParts } from './dispatch/parts.js'
import { previewCount, previewOf, SchedulePreview } from './preview.js'
import { noSchedule, scheduleActions, type ScheduleAction, type Schedules } from './service.js'
import { viewSchedule } from './view.js'

export interface ScheduleRouteParts extends ScheduleParts {
  readonly service: Schedules
  readonly skip: Skip
}

const params = object({ schedule_id: string({ min: 1, max: 200 }) })

export const scheduleRoutes = (parts: ScheduleRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  preview(parts),
  ...scheduleActions.map((action) => act(parts, action)),
]

const list = ({ store: { schedules, whole }, skip }: ScheduleRouteParts): Route =>
  defineRoute({
    id: 'schedules.list',
    method: 'GET',
    path: '/v1/schedules',
    summary: 'Lists schedules by id.',
    access: 'read',
    query: object({ session_id: optional(doc(SessionId, 'Only those whose runs go to this session.')), ...pageFields }),
    reply: jsonReply(pageOf(ScheduleView)),
    problems: [...pageProblems],
    handler: ({ query, caller }) => {
      const source =
        query.session_id === undefined
          ? collectionSource(schedules, 'all', 'all')
          : collectionSource(schedules, 'session', query.session_id)
      return listPage({
        query,
        source,
        label: 'schedule_id_asc',
        view: (stored) => viewSchedule(whole(stored), caller),
        skip,
      })
    },
  })

/** Of the submission in it, whatever plugin makes runs of that. */
const fileBytesIn = (body: ScheduleCreateRequest): number => {
  const given = body.request ?? body.observation_materialization?.['request'] ?? body.flow_start?.['request']
  const read = parse(SubmitInputRequest, given)
  return read.ok ? fileBytesOf(read.value) : 0
}

const create = ({ store: { state }, runs, service }: ScheduleRouteParts): Route =>
  defineRoute({
    id: 'schedules.create',
    method: 'POST',
    path: '/v1/schedules',
    summary: 'Plans runs of a session: once, at an interval or by a cron expression.',
    access: 'admin',
    body: ScheduleCreateRequest,
    bodyLimit: mostSubmissionBytes,
    fileBytes: fileBytesIn,
    reply: jsonReply(ScheduleView, 201),
    problems: [
      scheduleErrors.invalid_schedule,
      scheduleErrors.schedule_payload_ambiguous,
      scheduleErrors.schedule_payload_unavailable,
      scheduleErrors.schedule_limit_reached,
      runErrors.session_ended,
      ...noRun,
      ...checkProblems,
      ...uploadProblems,
    ],
    durability: 'A',
    example: {
      body: {
        name: 'morning',
        target_session_id: 'first',
        cadence: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
        request: { content: 'What is new?' },
      },
    },
    handler: async ({ body, caller }) => {
      if (body.created_by_run_id !== undefined) runs.get(body.created_by_run_id)
      const draft = service.draft(await service.withFiles(body))
      return viewSchedule(await state.commit((tx) => service.add(tx, draft)), caller)
    },
  })

const read = ({ service }: ScheduleRouteParts): Route =>
  defineRoute({
    id: 'schedules.get',
    method: 'GET',
    path: '/v1/schedules/:schedule_id',
    summary: 'Reads a schedule with its last fifty executions.',
    access: 'read',
    params,
    reply: jsonReply(ScheduleView),
    problems: noSchedule,
    handler: (input) => viewSchedule(service.get(input.params.schedule_id), input.caller),
  })

const preview = ({ service, clock }: ScheduleRouteParts): Route =>
  defineRoute({
    id: 'schedules.preview',
    method: 'GET',
    path: '/v1/schedules/:schedule_id/preview',
    summary: 'The next fires in UTC and in local time, with what clock changes do to them.',
    access: 'read',
    params,
    query: object({ count: defaulted(previewCount, 5) }),
    reply: jsonReply(SchedulePreview),
    problems: noSchedule,
    handler: (input) => previewOf(service.get(input.params.schedule_id), input.query.count, clock.now()),
  })

const summaries: Readonly<Record<ScheduleAction, string>> = {
  cancel: 'Ends a schedule for good; runs that it has made go on.',
  pause: 'Lets a schedule take no more fires until it is resumed.',
  resume: 'Lets a paused schedule fire again.',
  trigger: 'Makes one execution now, as the overlap policy allows.',
}

const act = ({ store: { state }, service }: ScheduleRouteParts, action: ScheduleAction): Route =>
  defineRoute({
    id: `schedules.${action}`,
    method: 'POST',
    path: `/v1/schedules/:schedule_id/${action}`,
    summary: summaries[action],
    access: 'admin',
    params,
    reply: jsonReply(object({ schedule: ScheduleView })),
    problems: [
      ...noSchedule,
      scheduleErrors.schedule_state_conflict,
      ...(action === 'trigger' ? [scheduleErrors.schedule_busy] : []),
    ],
    durability: 'A',
    handler: async ({ params: { schedule_id }, caller }) => ({
      schedule: viewSchedule(await state.commit((tx) => service.change(tx, action, schedule_id)), caller),
    }),
  })
