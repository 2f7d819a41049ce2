/** A stimulus as it is kept and shown. Times in Unix ms. */
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
import { stimulusKinds } from './kinds.js'

/** What becomes of a stimulus (stimuli-2). */
export const stimulusStates = ['pending', 'claimed', 'dispatched', 'coalesced', 'superseded', 'cancelled'] as const
export const scopes = ['channel', 'thread'] as const
export const visibilityHints = ['auto', 'main', 'thread'] as const

const fields = {
  stimulus_id: string(),
  channel_id: string(),
  scope: enums(scopes),
  thread_root_message_id: optional(doc(string(), 'Of one that continues a thread.')),
  state: enums(stimulusStates),
  kind: enums(stimulusKinds),
  visibility_hint: enums(visibilityHints),
  content: string(),
  addressed_member_ids: optional(array(string())),
  sender_session_id: optional(string()),
  sender_actor_id: optional(string()),
  sender_display_name: optional(string()),
  source_kind: optional(string()),
  source_ref: optional(string()),
  dedupe_key: optional(string()),
  progress_key: optional(string()),
  created_at_ms: timestamp(),
  available_at_ms: doc(timestamp(), 'Nothing becomes of it before this time.'),
  expires_at_ms: optional(timestamp()),
  claimed_at_ms: optional(timestamp()),
  dispatched_at_ms: optional(doc(timestamp(), 'When it came to its last state, whichever that is.')),
  last_error: optional(doc(string(), 'Why it waits, or was cancelled.')),
  metadata: optional(jsonObject()),
}

/** A stimulus as clients see it. */
export const Stimulus = named(
  'ChannelStimulus',
  object({ ...fields, message_id: optional(doc(string(), 'The message that it became.')) }),
)
/** The value form of `Stimulus`. */
export type Stimulus = Infer<typeof Stimulus>

/** The same with what only the daemon needs. */
export const StimulusRecord = object({
  ...fields,
  message_id: optional(string()),
  /** Of all that was said of it, without ids and times. */
  digest: string(),
  /** The message opens a subject, or stands beside those that do. */
  presentation: optional(enums(['main', 'main_summary', 'thread'])),
})
/** The value form of `StimulusRecord`. */
export type StimulusRecord = Infer<typeof StimulusRecord>

export const shownStimulus = ({ digest: _digest, presentation: _presentation, ...shown }: StimulusRecord): Stimulus =>
  shown

export const isWaiting = ({ state }: StimulusRecord): boolean => state === 'pending' || state === 'claimed'
