/** Where stimuli, the work of threads and what is bound to them are kept. */
import { timeKey, type Collection, type CollectionSpec, type State } from '../../../../core/plugin.js'
import { isWaiting, StimulusRecord } from './stimulus.js'
import { BindingRecord, isOpenWork, WorkRecord } from './thread-work.js'

/** When something is to be done with one that waits. */
export const dueAt = ({ available_at_ms, expires_at_ms = Infinity }: StimulusRecord): number =>
  Math.min(available_at_ms, expires_at_ms)

const within = (channel_id: string, what: string): string => `${channel_id}/${what}`

const stimulusCollection: CollectionSpec<StimulusRecord> = {
  name: 'channel_stimuli',
  version: 1,
  id: ({ stimulus_id }) => stimulus_id,
  indexes: {
    channel: { group: ({ channel_id }) => channel_id },
    state: { group: ({ channel_id, state }) => within(channel_id, state) },
    thread: {
      group: ({ channel_id, thread_root_message_id: root }) =>
        root === undefined ? undefined : within(channel_id, root),
    },
    thread_state: {
      group: ({ state, channel_id, thread_root_message_id: root }) =>
        root === undefined ? undefined : within(channel_id, `${root}/${state}`),
    },
    /** By channel: one that is paused holds up no other. */
    due: {
      group: (one) => (isWaiting(one) ? one.channel_id : undefined),
      sort: (one) => timeKey(dueAt(one)),
    },
    same: { group: ({ digest, message_id }) => (message_id === undefined ? undefined : digest) },
    message: { group: ({ message_id }) => message_id },
    roots: {
      group: ({ channel_id, presentation }) =>
        presentation === undefined || presentation === 'thread' ? undefined : channel_id,
      sort: ({ dispatched_at_ms = 0 }) => timeKey(dispatched_at_ms),
    },
  },
  settled: (one) => !isWaiting(one),
  removed: 'forgotten',
  schema: StimulusRecord,
}

/** When a subject that no person opened was told of last. */
const promotedAt = ({ last_main_promotion_at_ms, last_signal_at_ms = 0 }: WorkRecord): number =>
  last_main_promotion_at_ms ?? last_signal_at_ms

const workCollection: CollectionSpec<WorkRecord> = {
  name: 'channel_thread_work',
  version: 1,
  id: ({ thread_root_message_id }) => thread_root_message_id,
  indexes: {
    channel: { group: ({ channel_id }) => channel_id },
    open: { group: (work) => (isOpenWork(work) ? work.channel_id : undefined) },
    /** Subjects that no person opened. */
    own: { group: (work) => (isOpenWork(work) && work.topic_kind !== 'human' ? work.channel_id : undefined) },
    initiative: {
      group: (work) =>
        isOpenWork(work) && work.initiative_key !== undefined
          ? within(work.channel_id, work.initiative_key)
          : undefined,
    },
    promoted: {
      group: ({ topic_kind, channel_id }) => (topic_kind === 'human' ? undefined : channel_id),
      sort: (work) => timeKey(promotedAt(work)),
    },
  },
  settled: (work) => !isOpenWork(work),
  removed: 'forgotten',
  schema: WorkRecord,
  references: ({ thread_root_message_id: id }) => [{ collection: 'channel_messages', id }],
}

const bindingCollection: CollectionSpec<BindingRecord> = {
  name: 'channel_work_bindings',
  version: 1,
  id: ({ binding_kind, binding_ref }) => `${binding_kind}:${binding_ref}`,
  indexes: {
    channel: { group: ({ channel_id }) => channel_id },
    thread: {
      group: ({ thread_root_message_id }) => thread_root_message_id,
      sort: ({ bound_at_ms }) => timeKey(bound_at_ms),
    },
  },
  removed: 'forgotten',
  schema: BindingRecord,
}

/** What is kept. */
export interface StimulusStore {
  readonly stimuli: Collection<StimulusRecord>
  readonly work: Collection<WorkRecord>
  readonly bindings: Collection<BindingRecord>
  /** How many stimuli of a channel wait. */
  waiting(channel_id: string): number
  /** Those of a channel that wait, the first that is due first. */
  due(channel_id: string, limit: number): readonly StimulusRecord[]
  /** Channels in which stimuli wait. */
  channels(): readonly string[]
  /** The same stimulus in all that was said of it, once it had a message. */
  twin(digest: string): StimulusRecord | undefined
  ofMessage(message_id: string): StimulusRecord | undefined
  /** Subjects of stimuli since a time, those beside other subjects too. */
  rootsSince(channel_id: string, since_ms: number): number
  /** When a subject that no person opened was told of last. */
  promotedAt(channel_id: string): number | undefined
  ofInitiative(channel_id: string, key: string): WorkRecord | undefined
}

export const declareStimuli = (state: State): StimulusStore => {
  const stimuli = state.collection(stimulusCollection)
  const work = state.collection(workCollection)
  const bindings = state.collection(bindingCollection)
  return {
    stimuli,
    work,
    bindings,
    waiting: (group) => stimuli.count('due', group),
    due: (group, limit) => stimuli.list({ index: 'due', group, limit }),
    channels: () => stimuli.groups('due'),
    twin: (group) => stimuli.list({ index: 'same', group, limit: 1, order: 'desc' })[0],
    ofMessage: (group) => stimuli.list({ index: 'message', group, limit: 1 })[0],
    rootsSince: (group, since_ms) => stimuli.count('roots', group, timeKey(since_ms)),
    promotedAt(group) {
      const [newest] = work.list({ index: 'promoted', group, limit: 1, order: 'desc' })
      return newest && promotedAt(newest)
    },
    ofInitiative: (channel_id, key) => work.list({ index: 'initiative', group: within(channel_id, key), limit: 1 })[0],
  }
}
/** Stimuli of a channel, of one of its threads, in one state, or both. */
export const stimulusGroup = (
  channel_id: string,
  { thread, state }: { readonly thread?: string | undefined; readonly state?: string | undefined },
): { readonly index: string; readonly group: string } => {
  if (thread === undefined)
    return state === undefined
      ? { index: 'channel', group: channel_id }
      : { index: 'state', group: within(channel_id, state) }
  return state === undefined
    ? { index: 'thread', group: within(channel_id, thread) }
    : { index: 'thread_state', group: within(channel_id, `${thread}/${state}`) }
}
