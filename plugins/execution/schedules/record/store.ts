/** What the daemon keeps of schedules. */
import {
  boolean,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type JsonObject,
  type State,
  type Tx,
} from '../../../../core/plugin.js'
import type { SubmitInputRequest } from '../../runs/contract.js'
import type { Cadence } from '../calendar/cadence.js'

/** The states of a schedule; the last two are final (schedules-16). */
export const scheduleStatuses = ['active', 'paused', 'completed', 'canceled'] as const
/** One of `scheduleStatuses`. */
export type ScheduleStatus = (typeof scheduleStatuses)[number]
/** The wire says `canceled` of schedules and `cancelled` of runs; people read one spelling. */
export const statusText = (status: string): string => (status === 'canceled' ? 'cancelled' : status)

/** What becomes of a fire while an execution before it is not over. */
export const overlapPolicies = ['skip', 'queue_one', 'parallel'] as const
/** One of `overlapPolicies`. */
export type OverlapPolicy = (typeof overlapPolicies)[number]

/** What becomes of fires that fell into a time without the daemon: one execution for all of them, or none. */
export const MisfirePolicy = tagged('type', {
  coalesce_once: object({ type: literal('coalesce_once') }),
  skip_missed: object({ type: literal('skip_missed') }),
})
/** The value form of `MisfirePolicy`. */
export type MisfirePolicy = Infer<typeof MisfirePolicy>

/** Payload kinds of the contract that other plugins bring. */
export const payloadKinds = ['observation_materialization', 'flow_start'] as const
/** One of `payloadKinds`. */
export type PayloadKind = (typeof payloadKinds)[number]

/** States of one execution (schedules-12). */
export const executionStatuses = ['claimed', 'dispatched', 'retrying', 'skipped', 'rolled_back', 'settled'] as const

/** One entry of `recent_executions` (schedules-12). */
export const ScheduleExecution = named(
  'ScheduleExecution',
  object({
    fire_at_ms: doc(timestamp(), 'The moment that it stands for. It names the execution within its schedule.'),
    run_id: optional(doc(string(), 'Id of the run.')),
    status: enums(executionStatuses),
    attempt: doc(integer({ min: 0 }), 'Attempts to dispatch that were refused.'),
    from_queued_fire: boolean(),
    claimed_at_ms: optional(timestamp()),
    dispatched_at_ms: optional(timestamp()),
    settled_at_ms: optional(timestamp()),
    retry_after_ms: optional(timestamp()),
    error: optional(doc(string(), 'Why it was skipped, refused or failed.')),
  }),
)
/** The value form of `ScheduleExecution`. */
export type ScheduleExecution = Infer<typeof ScheduleExecution>

/** What another plugin makes runs from. A `request` in it is a submission, whose files its schedule keeps. */
export type PayloadValue = JsonObject & { readonly request?: SubmitInputRequest }

/** What a fire becomes. */
export type Payload =
  | { readonly kind: 'request'; readonly request: SubmitInputRequest }
  | { readonly kind: PayloadKind; readonly value: PayloadValue }

export const submissionIn = (payload: Payload): SubmitInputRequest | undefined =>
  payload.kind === 'request' ? payload.request : payload.value.request
export const withSubmission = (payload: Payload, request: SubmitInputRequest): Payload =>
  payload.kind === 'request' ? { ...payload, request } : { ...payload, value: { ...payload.value, request } }

/** What the daemon keeps of a schedule. Times in Unix ms. */
export type ScheduleRecord = {
  readonly schedule_id: string
  readonly name: string
  readonly target_session_id: string
  readonly target_agent_id?: string | undefined
  readonly owner_session_id?: string | undefined
  readonly owner_agent_id?: string | undefined
  readonly created_by_run_id?: string | undefined
  readonly status: ScheduleStatus
  readonly cadence: Cadence
  /** A moment at which it fires, from which intervals are counted. */
  readonly anchor_ms: number
  readonly payload: Payload
  readonly overlap_policy: OverlapPolicy
  readonly misfire_policy: MisfirePolicy
  readonly max_executions?: number | undefined
  readonly next_fire_at_ms?: number | undefined
  readonly queued_fire_at_ms?: number | undefined
  readonly paused_remaining_ms?: number | undefined
  readonly last_fire_at_ms?: number | undefined
  readonly last_dispatched_run_id?: string | undefined
  readonly last_error?: string | undefined
  readonly last_scheduler_error?: string | undefined
  readonly execution_count: number
  readonly consecutive_failures: number
  /** Those that are over first, oldest first in each part; those that are not over are never dropped. */
  readonly executions: readonly ScheduleExecution[]
  /** What the wall clock said when the next fire was reckoned. */
  readonly reckoned_at_ms: number
  readonly created_at_ms: number
  readonly updated_at_ms: number
}

export const isTerminal = ({ status }: ScheduleRecord): boolean => status === 'completed' || status === 'canceled'
export const isOpen = ({ status }: ScheduleExecution): boolean =>
  status === 'claimed' || status === 'retrying' || status === 'dispatched'
export const openOf = ({ executions }: ScheduleRecord): ScheduleExecution[] => executions.filter(isOpen)
/** Nothing of it changes any more: neither the schedule nor an execution. */
export const isOver = (record: ScheduleRecord): boolean => isTerminal(record) && openOf(record).length === 0
/** Whose limit a schedule counts against. */
export const ownerOf = ({
  owner_session_id,
  target_session_id,
}: Pick<ScheduleRecord, 'owner_session_id' | 'target_session_id'>): string => owner_session_id ?? target_session_id

/** When the dispatcher has to look at a schedule next; 0 is at once, undefined is never. */
export const wakeOf = (record: ScheduleRecord): number | undefined => {
  const open = openOf(record)
  const fires = record.status === 'active'
  const times = [
    ...open.flatMap(({ status, retry_after_ms }) =>
      status === 'claimed' ? [0] : status === 'retrying' ? [retry_after_ms ?? 0] : [],
    ),
    ...(fires && record.next_fire_at_ms !== undefined ? [record.next_fire_at_ms] : []),
    ...(fires && record.queued_fire_at_ms !== undefined && open.length === 0 ? [0] : []),
  ]
  return times.length === 0 ? undefined : Math.min(...times)
}

const when = (holds: boolean, group: string): string | undefined => (holds ? group : undefined)
/** Failures in a row from which a schedule is named as one that fails again and again. */
export const manyFailures = 3
/** Refusals of one fire from which a schedule is named: half a minute of them, as schedules are set at first. */
const manyRefusals = 6
const isRefused = ({ executions }: ScheduleRecord, least: number): boolean =>
  executions.some(({ status, attempt }) => status === 'retrying' && attempt >= least)

const scheduleCollection: CollectionSpec<ScheduleRecord> = {
  name: 'schedules',
  version: 2,
  id: (record) => record.schedule_id,
  indexes: {
    all: { group: () => 'all' },
    session: { group: (record) => record.target_session_id },
    owner: { group: (record) => (isTerminal(record) ? undefined : ownerOf(record)) },
    made_by: { group: (record) => record.owner_session_id },
    status: { group: (record) => record.status },
    due: { group: (record) => when(wakeOf(record) !== undefined, 'due'), sort: (record) => timeKey(wakeOf(record)) },
    reckoned: {
      group: (record) => when(wakeOf(record) !== undefined, 'reckoned'),
      sort: (record) => timeKey(record.reckoned_at_ms),
    },
    open: { group: (record) => when(openOf(record).length > 0, 'open') },
    backoff: { group: (record) => when(isRefused(record, 1), 'backoff') },
    refused: { group: (record) => when(isRefused(record, manyRefusals), 'refused') },
    queued: { group: (record) => when(record.queued_fire_at_ms !== undefined, 'queued') },
    failed: {
      group: (record) => {
        const { status, consecutive_failures: failures } = record
        return when(status === 'active' && failures > 0 && failures < manyFailures, 'failed')
      },
    },
    failed_last: {
      group: ({ status, consecutive_failures: failures }) =>
        when(status === 'completed' && failures > 0, 'failed_last'),
      sort: ({ updated_at_ms }) => timeKey(updated_at_ms),
    },
    failing: {
      group: (record) => when(record.status === 'active' && record.consecutive_failures >= manyFailures, 'failing'),
    },
  },
  settled: isOver,
  kept: { kind: 'schedules', since: (record) => record.created_at_ms },
}

/**
 * The executions that are over of a schedule that is not, oldest first: apart, so that a fire does not write them again
 * with each of its steps. The record of a schedule that is over has them, so that they fall with it.
 */
export type ScheduleHistory = { readonly schedule_id: string; readonly executions: readonly ScheduleExecution[] }

const historyCollection: CollectionSpec<ScheduleHistory> = {
  name: 'schedule_histories',
  version: 3,
  id: ({ schedule_id }) => schedule_id,
  indexes: { all: { group: () => 'all' } },
  settled: () => true,
  removed: 'forgotten',
  references: ({ schedule_id }) => [{ collection: 'schedules', id: schedule_id }],
}

/** That the runs of a schedule are told of a file; `over`, that there will be no such run any more. */
export type ScheduleFile = { readonly schedule_id: string; readonly asset_id: string; readonly over?: true }

/** Where those stand that name an asset. */
export const namingGroup = (asset_id: string, isOpen: boolean): string => `${isOpen ? 'open' : 'over'} ${asset_id}`

const fileId = ({ schedule_id, asset_id }: ScheduleFile): string => `${schedule_id} ${asset_id}`

const fileCollection: CollectionSpec<ScheduleFile> = {
  name: 'schedule_files',
  version: 2,
  id: fileId,
  indexes: {
    asset: { group: ({ asset_id, over }) => namingGroup(asset_id, over === undefined) },
    open: { group: ({ over }) => when(over === undefined, 'open') },
  },
  settled: () => true,
  kept: { kind: 'schedules' },
  references: ({ schedule_id, asset_id }) => [
    { collection: 'schedules', id: schedule_id },
    { collection: 'assets', id: asset_id },
  ],
}

/** Files that the runs of a schedule are told of, each once. */
export const filesOf = ({ payload }: Pick<ScheduleRecord, 'payload'>): Set<string> =>
  new Set(
    submissionIn(payload)?.input_items?.flatMap((item) => (item.type === 'asset_reference' ? [item.asset_id] : [])),
  )

export interface ScheduleStore {
  readonly state: State
  /** Schedules; those that are not over with those of their executions alone that are not. */
  readonly schedules: Collection<ScheduleRecord>
  readonly histories: Collection<ScheduleHistory>
  readonly files: Collection<ScheduleFile>
  /** With its history. */
  find(schedule_id: string): ScheduleRecord | undefined
  /** The same for a record of the collection. */
  whole(stored: ScheduleRecord): ScheduleRecord
  put(tx: Tx, record: ScheduleRecord): void
}

export const declareStore = (state: State): ScheduleStore => {
  const schedules = state.collection(scheduleCollection)
  const histories = state.collection(historyCollection)
  const files = state.collection(fileCollection)
  const historyOf = (schedule_id: string): readonly ScheduleExecution[] => histories.find(schedule_id)?.executions ?? []
  /** Earlier versions named no files of what other plugins make runs from. */
  const namedBy = (record: ScheduleRecord): ScheduleFile[] =>
    [...filesOf(record)].flatMap((asset_id) => files.find(fileId({ ...record, asset_id })) ?? [])
  const whole = (stored: ScheduleRecord): ScheduleRecord => ({
    ...stored,
    executions: [...historyOf(stored.schedule_id), ...stored.executions],
  })
  return {
    state,
    schedules,
    histories,
    files,
    whole,
    find(schedule_id) {
      const stored = schedules.find(schedule_id)
      return stored === undefined ? undefined : whole(stored)
    },
    put(tx, record) {
      const { schedule_id } = record
      if (isOver(record)) {
        tx.put(schedules, record)
        for (const file of namedBy(record)) tx.put(files, { ...file, over: true })
        return tx.remove(histories, schedule_id, 'its schedule is over')
      }
      const over = record.executions.filter((execution) => !isOpen(execution))
      const known = historyOf(schedule_id)
      tx.put(schedules, { ...record, executions: openOf(record) })
      if (over.length !== known.length || over.some((execution, at) => execution !== known[at]))
        tx.put(histories, { schedule_id, executions: over })
    },
  }
}
