/** What is worked on in a thread, as it is kept and shown, and how it changes (stimuli-12 to stimuli-15). Pure. */
import {
  array,
  doc,
  enums,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import type { StimulusKind } from './kinds.js'
import type { StimulusRecord } from './stimulus.js'

/** In their order: none goes back. */
export const workStatuses = ['proposed', 'active', 'reviewing', 'completed', 'superseded'] as const
type WorkStatus = (typeof workStatuses)[number]
export const topicKinds = ['human', 'autonomous_root', 'summary'] as const
export const bindingKinds = ['schedule', 'run', 'sidechain_agent', 'task', 'observation'] as const

const Snapshot = object({
  progress_key: string(),
  source_kind: string(),
  source_ref: string(),
  latest_message_id: optional(string()),
  updated_at_ms: timestamp(),
  summary_digest: optional(doc(string(), 'The beginning of what was posted last.')),
})
type Snapshot = Infer<typeof Snapshot>

const fields = {
  channel_id: string(),
  thread_root_message_id: string(),
  topic_kind: enums(topicKinds),
  status: enums(workStatuses),
  owner_session_id: optional(doc(string(), 'The session that was asked first to answer in it.')),
  initiative_key: optional(string()),
  source_kind: optional(string()),
  source_ref: optional(string()),
  last_stimulus_id: optional(string()),
  last_signal_at_ms: optional(timestamp()),
  last_main_promotion_at_ms: optional(timestamp()),
  progress_snapshots: doc(array(Snapshot), 'The newest one of each key, 32 keys at most.'),
  metadata: optional(jsonObject()),
}

/** What is kept of a thread; its key is that of its root. */
export const WorkRecord = object(fields)
/** The value form of `WorkRecord`. */
export type WorkRecord = Infer<typeof WorkRecord>

/** What works for a thread; its key is its kind, a colon and its id. */
export const BindingRecord = object({
  channel_id: string(),
  thread_root_message_id: string(),
  binding_kind: enums(bindingKinds),
  binding_ref: string(),
  bound_at_ms: timestamp(),
  latest_stimulus_id: optional(string()),
})
/** The value form of `BindingRecord`. */
export type BindingRecord = Infer<typeof BindingRecord>

/** The work of a thread as clients see it. */
export const ThreadWork = named(
  'ChannelThreadWork',
  object({
    ...fields,
    bindings: doc(
      array(
        object({
          binding_kind: enums(bindingKinds),
          binding_ref: string(),
          bound_at_ms: timestamp(),
          latest_stimulus_id: optional(string()),
        }),
      ),
      'What works for it, the newest hundred.',
    ),
  }),
)
/** The value form of `ThreadWork`. */
export type ThreadWork = Infer<typeof ThreadWork>

export const isOpenWork = ({ status }: WorkRecord): boolean => status !== 'completed' && status !== 'superseded'

const statusBy = (kind: StimulusKind): WorkStatus => {
  if (kind === 'review_completed') return 'reviewing'
  if (kind === 'result_summary') return 'completed'
  return kind === 'supersession_notice' ? 'superseded' : 'active'
}
/** A stimulus of such a kind ends something, and asks nobody. */
export const isClosing = (kind: StimulusKind): boolean => kind === 'result_summary' || kind === 'supersession_notice'

const later = (one: WorkStatus, other: WorkStatus): WorkStatus =>
  workStatuses.indexOf(one) > workStatuses.indexOf(other) ? one : other

const [mostSnapshots, mostDigest] = [32, 400]

/** Never between the halves of a character. */
const cut = (text: string): string => text.slice(0, mostDigest).replace(/[\ud800-\udbff]$/u, '')

const snapshotsWith = (before: readonly Snapshot[], stimulus: StimulusRecord, posted: Posted): Snapshot[] => {
  const { progress_key, source_kind, source_ref, content } = stimulus
  if (progress_key === undefined || source_kind === undefined || source_ref === undefined) return [...before]
  const snapshot: Snapshot = {
    progress_key,
    source_kind,
    source_ref,
    latest_message_id: posted.message_id,
    updated_at_ms: posted.at_ms,
    summary_digest: cut(content),
  }
  return [...before.filter((one) => one.progress_key !== progress_key), snapshot].slice(-mostSnapshots)
}

/** A message of a stimulus. */
export interface Posted {
  readonly message_id: string
  readonly at_ms: number
  /** It is among the subjects of the channel. */
  readonly isMain: boolean
}

/** A thread that something was bound to, and no stimulus has touched. */
export const boundWork = (channel_id: string, thread_root_message_id: string): WorkRecord => ({
  channel_id,
  thread_root_message_id,
  topic_kind: 'human',
  status: 'proposed',
  progress_snapshots: [],
})

/** Who opened it says whose it is: a stimulus in the thread of a person leaves it theirs. */
const topicBehind = (
  opened: WorkRecord,
  { kind }: StimulusRecord,
  { message_id }: Posted,
): WorkRecord['topic_kind'] => {
  if (isClosing(kind)) return 'summary'
  return opened.thread_root_message_id === message_id ? 'autonomous_root' : opened.topic_kind
}

/** The work of a thread behind a stimulus that was posted in it, or opened it. */
export const workBehind = (before: WorkRecord | undefined, stimulus: StimulusRecord, posted: Posted): WorkRecord => {
  const { channel_id, kind, dedupe_key, stimulus_id, metadata } = stimulus
  const thread_root_message_id = before?.thread_root_message_id ?? stimulus.thread_root_message_id ?? posted.message_id
  const opened = before ?? boundWork(channel_id, thread_root_message_id)
  const initiative_key = posted.isMain ? (dedupe_key ?? opened.initiative_key) : opened.initiative_key
  const source_kind = opened.source_kind ?? stimulus.source_kind
  const source_ref = opened.source_ref ?? stimulus.source_ref
  const kept = opened.metadata ?? metadata
  return {
    ...opened,
    topic_kind: topicBehind(opened, stimulus, posted),
    status: later(opened.status, statusBy(kind)),
    ...(initiative_key !== undefined && { initiative_key }),
    ...(source_kind !== undefined && { source_kind }),
    ...(source_ref !== undefined && { source_ref }),
    last_stimulus_id: stimulus_id,
    last_signal_at_ms: Math.max(opened.last_signal_at_ms ?? 0, posted.at_ms),
    ...(posted.isMain && { last_main_promotion_at_ms: posted.at_ms }),
    progress_snapshots: snapshotsWith(opened.progress_snapshots, stimulus, posted),
    ...(kept !== undefined && { metadata: kept }),
  }
}
