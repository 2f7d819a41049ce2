/** What becomes of a stimulus when it comes: it waits, or says what is said already (stimuli-1 to stimuli-6). */
import { digest, type Ids, type JsonObject, type Tx } from '../../../core/plugin.js'
import { nameIn, refuse, type Channels } from '../channels/contract.js'
import type { StimulusDraft } from './contract.js'
import { expired, isExpired, pausedText, pauseMs } from './dispatch.js'
import { stimulusErrors } from './errors.js'
import type { StimulusStore } from './record/store.js'
import type { StimulusRecord } from './record/stimulus.js'

export interface CreateParts {
  readonly store: StimulusStore
  readonly channels: Pick<Channels, 'get' | 'getMessage' | 'memberOf' | 'member' | 'person'>
  readonly ids: Ids
  /** Something waits in a channel. */
  readonly poke: (channel_id: string) => void
}

/** Characters of what one says, of a name or key, and members that it addresses. */
export const [mostContent, mostName, mostAddressed] = [16_384, 200, 100]
const mostMetadata = 65_536

const contentOf = ({ content }: StimulusDraft): string => {
  const text = content.trim()
  if (text === '') return refuse('content', 'must not be blank')
  return text.length > mostContent ? refuse('content', `must have at most ${mostContent} characters`) : text
}

const rootOf = ({ channels }: CreateParts, draft: StimulusDraft): string | undefined => {
  const root = nameIn('thread_root_message_id', draft.thread_root_message_id)
  if (draft.scope === 'channel')
    return root === undefined ? undefined : refuse('thread_root_message_id', 'must be left out for the scope channel')
  if (root === undefined) return refuse('thread_root_message_id', 'is required for the scope thread')
  const { root_message_id } = channels.getMessage(draft.channel_id, root)
  return root_message_id === root ? root : refuse('thread_root_message_id', 'must be a message that opens a thread')
}

const addressedOf = ({ channels }: CreateParts, { channel_id, addressed_member_ids = [] }: StimulusDraft): string[] => {
  const named = [...new Set(addressed_member_ids.map((id) => id.trim()).filter((id) => id !== ''))]
  if (named.length > mostAddressed) refuse('addressed_member_ids', `must be at most ${mostAddressed}`)
  for (const id of named)
    if (channels.member(channel_id, id) === undefined) refuse('addressed_member_ids', 'must be members of the channel')
  return named
}

const metadataOf = ({ metadata }: StimulusDraft): JsonObject | undefined => {
  if (metadata === undefined || Object.keys(metadata).length === 0) return undefined
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostMetadata)
    refuse('metadata', `must have at most ${mostMetadata} bytes as JSON`)
  return metadata
}

/** Absent members are left out: what is equal has an equal digest. */
const said = (parts: CreateParts, draft: StimulusDraft) => {
  const addressed = addressedOf(parts, draft)
  const sender_session_id = nameIn('sender_session_id', draft.sender_session_id)
  if (sender_session_id !== undefined && parts.channels.memberOf(draft.channel_id, sender_session_id) === undefined)
    refuse('sender_session_id', 'must be that of a member of the channel')
  const sender_actor_id = nameIn('sender_actor_id', draft.sender_actor_id)
  if (sender_session_id === undefined && sender_actor_id !== undefined)
    parts.channels.person(draft.channel_id, sender_actor_id)
  const names = {
    thread_root_message_id: rootOf(parts, draft),
    sender_session_id,
    sender_actor_id,
    sender_display_name: nameIn('sender_display_name', draft.sender_display_name),
    source_kind: nameIn('source_kind', draft.source_kind),
    source_ref: nameIn('source_ref', draft.source_ref),
    dedupe_key: nameIn('dedupe_key', draft.dedupe_key),
    progress_key: nameIn('progress_key', draft.progress_key),
  }
  const metadata = metadataOf(draft)
  return {
    channel_id: draft.channel_id,
    scope: draft.scope,
    kind: draft.kind,
    visibility_hint: draft.visibility_hint ?? ('auto' as const),
    content: contentOf(draft),
    ...(addressed.length > 0 && { addressed_member_ids: addressed }),
    ...Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined)),
    ...(metadata !== undefined && { metadata }),
  }
}

/** Whether one tells of the same as another one (stimuli-4). */
export const isEquivalent = (one: StimulusRecord, other: StimulusRecord): boolean => {
  if (one.scope !== other.scope || one.thread_root_message_id !== other.thread_root_message_id) return false
  if (one.progress_key !== undefined && other.progress_key !== undefined) return one.progress_key === other.progress_key
  if (one.dedupe_key !== undefined && other.dedupe_key !== undefined) return one.dedupe_key === other.dedupe_key
  return (
    one.kind === other.kind &&
    one.source_kind === other.source_kind &&
    one.source_ref === other.source_ref &&
    one.content === other.content
  )
}

/** What wants to be said now has the time of one that was due already, or is put off. */
const isOfTime = (one: StimulusRecord, { available_at_ms, expires_at_ms }: StimulusRecord, now: number): boolean => {
  if (one.expires_at_ms !== expires_at_ms) return false
  if (available_at_ms > now) return one.available_at_ms === available_at_ms
  const isPutOff = one.last_error !== undefined && one.last_error !== pausedText
  return isPutOff || one.available_at_ms <= now + pauseMs
}

/** Those before it that tell of the same go; one that is equal stays in its place (stimuli-5). */
const replace = ({ store }: CreateParts, tx: Tx, arriving: StimulusRecord): StimulusRecord => {
  const kept = store.due(arriving.channel_id, Infinity)
  for (const one of kept.filter((other) => isExpired(other, tx.now))) tx.put(store.stimuli, expired(one, tx.now))
  const waiting = kept.filter((one) => !isExpired(one, tx.now))
  if (waiting.some((one) => one.digest === arriving.digest && isOfTime(one, arriving, tx.now)))
    return { ...arriving, state: 'coalesced', dispatched_at_ms: tx.now }
  for (const one of waiting.filter((other) => isEquivalent(other, arriving)))
    tx.put(store.stimuli, { ...one, state: 'superseded', dispatched_at_ms: tx.now })
  return arriving
}

export const createStimulus =
  (parts: CreateParts) =>
  (tx: Tx, draft: StimulusDraft): StimulusRecord => {
    const { store, channels, ids, poke } = parts
    const { channel_id, expires_at_ms } = draft
    const { max_pending_stimuli: most } = channels.get(channel_id).autonomy_policy
    const told = said(parts, draft)
    const arriving: StimulusRecord = {
      stimulus_id: ids.make('stimulus'),
      ...told,
      state: 'pending',
      created_at_ms: tx.now,
      available_at_ms: Math.max(tx.now, draft.available_at_ms ?? 0),
      ...(expires_at_ms !== undefined && { expires_at_ms }),
      digest: digest(told),
    }
    const stimulus = replace(parts, tx, arriving)
    if (stimulus.state === 'pending' && store.waiting(channel_id) >= most)
      throw stimulusErrors.channel_stimuli_full({ details: { channel_id, most } })
    tx.insert(store.stimuli, stimulus)
    if (stimulus.state === 'pending') tx.after(() => poke(channel_id))
    return stimulus
  }
