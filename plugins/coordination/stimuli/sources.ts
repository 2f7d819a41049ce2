/** What works for a thread, and what comes of it: schedules and agents that its runs made (stimuli-16, stimuli-17). */
import { Problem, type Log, type Tx } from '../../../core/plugin.js'
import type { SpawnObserver } from '../../agents/sidechains/contract.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import type { ScheduleObserver } from '../../execution/schedules/contract.js'
import type { Channels } from '../channels/contract.js'
import { answerOf } from '../floor/contract.js'
import { mostContent } from './create.js'
import type { StimulusDraft } from './contract.js'
import type { StimulusRecord } from './record/stimulus.js'
import { boundWork, type BindingRecord } from './record/thread-work.js'
import type { StimulusStore } from './record/store.js'

export interface SourceParts {
  readonly store: StimulusStore
  readonly runs: Pick<Runs, 'find' | 'entries'>
  readonly channels: Pick<Channels, 'message'>
  readonly create: (tx: Tx, draft: StimulusDraft) => StimulusRecord
  readonly log: Log
}

/** The thread that a run speaks in, if it is in a channel. */
const threadOf = ({ runs, channels }: SourceParts, run_id: string | undefined) => {
  const { channel_id, thread_root_message_id } = (run_id && runs.find(run_id)?.origin) || {}
  const isThere = thread_root_message_id !== undefined && channels.message(thread_root_message_id) !== undefined
  return channel_id !== undefined && isThere ? { channel_id, thread_root_message_id } : undefined
}

type Bound = Pick<BindingRecord, 'binding_kind' | 'binding_ref'> & { readonly run_id: string | undefined }

/** What a run in a thread made works for it. */
const bind = (parts: SourceParts, tx: Tx, { run_id, ...bound }: Bound): void => {
  const thread = threadOf(parts, run_id)
  if (thread === undefined) return
  const { store } = parts
  tx.put(store.bindings, { ...thread, ...bound, bound_at_ms: tx.now })
  if (!store.work.has(thread.thread_root_message_id))
    tx.put(store.work, boundWork(thread.channel_id, thread.thread_root_message_id))
}

const resultOf = ({ runs }: SourceParts, run: RunRecord | undefined, name: string): string => {
  const said = run === undefined ? '' : (answerOf(runs, run)?.content.trim() ?? '')
  const text = said === '' ? `The schedule ${name} ran: ${run?.status ?? 'its run is gone'}.` : said
  return text.length > mostContent ? `${text.slice(0, mostContent - 1)}…` : text
}

export const scheduleObserver = (parts: SourceParts): ScheduleObserver => ({
  id: 'stimuli',
  created: (tx, { schedule_id: binding_ref, created_by_run_id: run_id }) =>
    bind(parts, tx, { binding_kind: 'schedule', binding_ref, run_id }),
  settled(tx, { schedule_id, name, run_id }) {
    const { store, runs, log } = parts
    const binding = store.bindings.find(`schedule:${schedule_id}`)
    if (binding === undefined) return
    const { channel_id, thread_root_message_id } = binding
    const run = runs.find(run_id)
    try {
      const { stimulus_id } = parts.create(tx, {
        channel_id,
        thread_root_message_id,
        scope: 'thread',
        kind: 'schedule_result',
        visibility_hint: 'thread',
        content: resultOf(parts, run, name),
        source_kind: 'schedule',
        source_ref: schedule_id,
        dedupe_key: `schedule:${schedule_id}`,
        progress_key: `schedule:${schedule_id}:latest`,
        metadata: { schedule_id, run_id, status: run?.status ?? 'gone' },
      })
      tx.put(store.bindings, { ...binding, latest_stimulus_id: stimulus_id })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // The schedule goes on although its channel has no room, or is gone.
      tx.after(() => log.warn('the result of a schedule is not told in its channel', { schedule_id, code: error.code }))
    }
  },
})

export const spawnObserver = (parts: SourceParts): SpawnObserver => ({
  id: 'stimuli',
  spawned: (tx, { agent_id: binding_ref, spawned_by_run_id: run_id }) =>
    bind(parts, tx, { binding_kind: 'sidechain_agent', binding_ref, run_id }),
})
