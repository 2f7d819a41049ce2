/** What becomes of a stimulus whose time has come: one commit from waiting to the message (stimuli-7 to stimuli-11). */
import type { JsonObject, Tx } from '../../../core/plugin.js'
import type { ChannelRecord, Channels, MessageRecord, PostDraft } from '../channels/contract.js'
import type { StimulusStore } from './record/store.js'
import type { StimulusRecord } from './record/stimulus.js'
import { isClosing, workBehind } from './record/thread-work.js'

export interface DispatchParts {
  readonly store: StimulusStore
  readonly channels: Pick<Channels, 'find' | 'message' | 'memberOf' | 'member' | 'post'>
}

/** How long one waits at least that cannot go now, milliseconds. */
export const pauseMs = 500
const mostPauseMs = 1_800_000
const hourMs = 3_600_000

type Change = Partial<Pick<StimulusRecord, 'available_at_ms' | 'last_error'>> & Pick<StimulusRecord, 'state'>

/** Why it waited is told no longer: the change says why it waits on, or was cancelled. */
const changed = ({ last_error: _why, ...stimulus }: StimulusRecord, change: Change, now: number): StimulusRecord => ({
  ...stimulus,
  ...change,
  ...(change.state !== 'pending' && { dispatched_at_ms: now }),
})

/** Whether one is held up by the subject before it: for how long follows from the policy, which may change. */
export const isQuieted = ({ last_error }: StimulusRecord): boolean => last_error === quieted
const quieted = 'the quiet period is not over'

export const pausedText = 'the channel is paused'

/** One whose time is over. */
export const expired = (stimulus: StimulusRecord, now: number): StimulusRecord =>
  changed(stimulus, { state: 'cancelled', last_error: 'it expired' }, now)
export const isExpired = ({ expires_at_ms = Infinity }: StimulusRecord, now: number): boolean => expires_at_ms <= now

/** Why no further subject is opened now; undefined if one may be (stimuli-9). */
export const gateOf = (
  { quiet_period_ms_after_root_post: quiet, max_active_autonomous_roots, max_autonomous_root_posts_per_hour }: Policy,
  { now, promoted_at_ms, open, lastHour }: Subjects,
): Change | undefined => {
  const until = (promoted_at_ms ?? -Infinity) + quiet
  if (until > now) return { state: 'pending', available_at_ms: until, last_error: quieted }
  if (open >= max_active_autonomous_roots)
    return { state: 'cancelled', last_error: `${open} subjects of stimuli are open, which is the most there may be` }
  if (lastHour >= max_autonomous_root_posts_per_hour)
    return { state: 'cancelled', last_error: `${lastHour} subjects were opened in the last hour, which is the most` }
  return undefined
}
type Policy = ChannelRecord['autonomy_policy']
interface Subjects {
  readonly now: number
  readonly promoted_at_ms: number | undefined
  /** Subjects of stimuli that are open, and those of the last hour. */
  readonly open: number
  readonly lastHour: number
}

/** The thread that it continues; undefined where it opens one. */
const targetOf = ({ store }: DispatchParts, stimulus: StimulusRecord): string | undefined => {
  const { thread_root_message_id, dedupe_key, channel_id } = stimulus
  const initiative = dedupe_key === undefined ? undefined : store.ofInitiative(channel_id, dedupe_key)
  return thread_root_message_id ?? initiative?.thread_root_message_id
}

type Presentation = NonNullable<StimulusRecord['presentation']>
const presentationOf = (root: string | undefined, { visibility_hint }: StimulusRecord): Presentation => {
  if (root === undefined) return 'main'
  return visibility_hint === 'main' ? 'main_summary' : 'thread'
}

const metadataOf = (stimulus: StimulusRecord, root: string | undefined, presentation: Presentation): JsonObject => {
  const { stimulus_id, kind, source_ref, progress_key } = stimulus
  return {
    source_kind: 'channel_stimulus',
    stimulus_id,
    stimulus_kind: kind,
    ...(source_ref !== undefined && { source_ref }),
    ...(progress_key !== undefined && { progress_key }),
    presentation,
    ...(presentation === 'main_summary' && root !== undefined && { canonical_thread_root_message_id: root }),
  }
}

/** A session that left says it no more: the daemon does. */
const senderOf = (
  { channels }: DispatchParts,
  { channel_id, sender_session_id, sender_actor_id, sender_display_name }: StimulusRecord,
): Pick<PostDraft, 'sender' | 'sender_session_id'> => {
  const member = sender_session_id === undefined ? undefined : channels.memberOf(channel_id, sender_session_id)
  if (member !== undefined && sender_session_id !== undefined)
    return { sender: { id: sender_session_id, display_name: member.display_name }, sender_session_id }
  if (sender_session_id !== undefined || sender_actor_id === undefined)
    return { sender: { id: 'system', display_name: 'Holdfast' } }
  return { sender: { id: sender_actor_id, ...(sender_display_name && { display_name: sender_display_name }) } }
}

const postOf = (parts: DispatchParts, stimulus: StimulusRecord, root: string | undefined): PostDraft => {
  const { channel_id, kind, content, addressed_member_ids = [] } = stimulus
  const presentation = presentationOf(root, stimulus)
  const addressed = addressed_member_ids.filter((id) => parts.channels.member(channel_id, id) !== undefined)
  return {
    channel_id,
    ...senderOf(parts, stimulus),
    root_message_id: presentation === 'thread' ? root : undefined,
    ...(addressed.length > 0 && { addressed_member_ids: addressed }),
    output: { content, parts: [{ type: 'text', text: content }], artifacts: [] },
    metadata: metadataOf(stimulus, root, presentation),
    calls: presentation !== 'main_summary' && !isClosing(kind),
  }
}

/** The message of an equal stimulus that had one already, which is still there (stimuli-10). */
const reused = ({ store, channels }: DispatchParts, { digest }: StimulusRecord): MessageRecord | undefined => {
  const twin = store.twin(digest)
  return twin?.message_id === undefined ? undefined : channels.message(twin.message_id)
}

/** The message of a stimulus, and the work of its thread behind it. */
const post = (parts: DispatchParts, tx: Tx, stimulus: StimulusRecord): void => {
  const { store, channels } = parts
  const root = targetOf(parts, stimulus)
  const message = channels.post(tx, postOf(parts, stimulus, root))
  const presentation = presentationOf(root, stimulus)
  const posted = { message_id: message.message_id, at_ms: tx.now, isMain: presentation !== 'thread' }
  const before = root === undefined ? undefined : store.work.find(root)
  const placed = { ...stimulus, ...(root !== undefined && { thread_root_message_id: root }) }
  tx.put(store.work, workBehind(before, placed, posted))
  tx.put(store.stimuli, {
    ...changed(stimulus, { state: 'dispatched' }, tx.now),
    claimed_at_ms: tx.now,
    message_id: message.message_id,
    presentation,
  })
}

/** Why nothing is said now. */
const refusalOf = (parts: DispatchParts, stimulus: StimulusRecord, now: number): Change | undefined => {
  const { store, channels } = parts
  const { channel_id, thread_root_message_id } = stimulus
  const channel = channels.find(channel_id)
  if (channel === undefined) return { state: 'cancelled', last_error: 'its channel is gone' }
  if (thread_root_message_id !== undefined && channels.message(thread_root_message_id) === undefined)
    return { state: 'cancelled', last_error: 'its thread is gone' }
  if (targetOf(parts, stimulus) !== undefined || reused(parts, stimulus) !== undefined) return undefined
  return gateOf(channel.autonomy_policy, {
    now,
    promoted_at_ms: store.promotedAt(channel_id),
    open: store.work.count('own', channel_id),
    lastHour: store.rootsSince(channel_id, now - hourMs),
  })
}

/** Moves one on whose time has come. Throws what keeps its message from being posted. */
export const dispatch = (parts: DispatchParts, tx: Tx, stimulus: StimulusRecord): void => {
  const { store } = parts
  if (isExpired(stimulus, tx.now)) return tx.put(store.stimuli, expired(stimulus, tx.now))
  const refusal = refusalOf(parts, stimulus, tx.now)
  if (refusal !== undefined) return tx.put(store.stimuli, changed(stimulus, refusal, tx.now))
  const again = reused(parts, stimulus)
  if (again === undefined) return post(parts, tx, stimulus)
  tx.put(store.stimuli, { ...changed(stimulus, { state: 'dispatched' }, tx.now), message_id: again.message_id })
}

/** One that cannot go now, as it waits on: the longer it has waited, the longer. */
export const postponed = (stimulus: StimulusRecord, now: number, last_error: string): StimulusRecord => {
  const pause = Math.min(mostPauseMs, Math.max(pauseMs, (now - stimulus.created_at_ms) / 4))
  return changed(stimulus, { state: 'pending', available_at_ms: Math.floor(now + pause), last_error }, now)
}

/** One whose channel is paused: it goes on soon when that does, and no sooner than it wanted. */
export const heldUp = (stimulus: StimulusRecord, now: number): StimulusRecord =>
  changed(
    stimulus,
    { state: 'pending', available_at_ms: Math.max(stimulus.available_at_ms, now + pauseMs), last_error: pausedText },
    now,
  )

/** One that is held up by the subject before it, as the policy of now has it: no longer than that says. */
export const freed = ({ store, channels }: DispatchParts, stimulus: StimulusRecord): StimulusRecord => {
  const { channel_id, available_at_ms } = stimulus
  const quiet = channels.find(channel_id)?.autonomy_policy.quiet_period_ms_after_root_post ?? 0
  const until = (store.promotedAt(channel_id) ?? 0) + quiet
  return until < available_at_ms ? { ...stimulus, available_at_ms: until } : stimulus
}
