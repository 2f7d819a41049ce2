/** What becomes of a message when it is posted (channels-17 to channels-19). */
import type { Ids, JsonObject, Observers, Tx } from '../../../core/plugin.js'
import { assetErrors, type Assets, type OutputPart } from '../../media/assets/contract.js'
import type { ChannelPart, Channels, PostDraft } from './contract.js'
import type { Names } from './names.js'
import { addressedIn, aliasOf, mostAddressed } from './record/addressing.js'
import { nameFiles } from './record/assets.js'
import type { MemberRecord, MessageOutput, MessageRecord } from './record/record.js'
import { within, type ChannelStore } from './record/store.js'
import { mostMemberId } from './members.js'
import { nameIn, nameOf, refuse } from './refuse.js'

/** Most characters of what a message says: requests beyond it are refused, what agents say beyond it is cut. */
export const mostText = 262_144
/** Most files of a message. */
export const mostFiles = 200
const mostMetadata = 65_536

export interface PostParts {
  readonly store: ChannelStore
  readonly names: Names
  readonly ids: Ids
  readonly assets: () => Pick<Assets, 'find'> | undefined
  readonly observers: Pick<Observers<ChannelPart>, 'tell'>
  readonly reads: Pick<Channels, 'get' | 'getMessage' | 'memberOf' | 'member'>
}

const cutMark = ' … (cut)'
/** Never between the halves of a character. */
const cut = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${text.slice(0, Math.max(0, most - cutMark.length)).replace(/[\ud800-\udbff]$/u, '')}${cutMark}`

/** Words in parts have the room that the parts before them left. */
const boundedOutput = ({ content, parts, artifacts }: MessageOutput): MessageOutput => {
  let left = mostText
  const bounded = parts.flatMap((part): OutputPart[] => {
    if (part.type !== 'text') return [part]
    const room = left
    left = Math.max(0, left - part.text.length)
    return room === 0 ? [] : [{ type: 'text', text: cut(part.text, room) }]
  })
  return { content: cut(content, mostText), parts: bounded, artifacts }
}

const checkOutput = (assets: Pick<Assets, 'find'> | undefined, { content, parts, artifacts }: MessageOutput): void => {
  const files = [...parts.flatMap((part) => (part.type === 'attachment' ? [part.attachment] : [])), ...artifacts]
  if (content.trim() === '' && files.length === 0) refuse('content', 'must say something where no file does')
  if (files.length > mostFiles) refuse('input_items', `must have at most ${mostFiles} files`)
  for (const { id: asset_id } of files)
    if (assets?.find(asset_id) === undefined) throw assetErrors.asset_not_found({ details: { asset_id } })
}

const checkedMetadata = (metadata: JsonObject | undefined): { metadata?: JsonObject } => {
  if (metadata === undefined || Object.keys(metadata).length === 0) return {}
  if (Buffer.byteLength(JSON.stringify(metadata)) > mostMetadata)
    refuse('metadata', `must have at most ${mostMetadata} bytes as JSON`)
  return { metadata }
}

type Place = Pick<MessageRecord, 'reply_to_message_id'> & { readonly root: string | undefined }

/** A reply is in the thread of what it answers; without one a thread is named by its root (channels-17). */
const placeOf = (reads: PostParts['reads'], { channel_id, ...draft }: PostDraft): Place => {
  const root = nameIn('thread_root_message_id', draft.root_message_id)
  const parent_id = nameIn('reply_to_message_id', draft.reply_to_message_id)
  if (parent_id === undefined) {
    if (root !== undefined && reads.getMessage(channel_id, root).root_message_id !== root)
      refuse('thread_root_message_id', 'must be a message that opens a thread')
    return { root }
  }
  const parent = reads.getMessage(channel_id, parent_id)
  if (root !== undefined && root !== parent.root_message_id)
    refuse('thread_root_message_id', 'must be the root of reply_to_message_id')
  return { root: parent.root_message_id, reply_to_message_id: parent_id }
}

/** Members with an alias, two at most: more are as many as two. */
const findAlias =
  ({ store: { members }, names }: PostParts, channel_id: string) =>
  (alias: string): readonly string[] => {
    const group = within(channel_id, alias)
    const named = members.list({ index: 'called_name', group, limit: 2 }).map(names.current)
    const found = [
      ...members.list({ index: 'called_id', group, limit: 2 }),
      // A stored name may be older than that of the agent: it calls nobody then.
      ...named.filter(({ display_name }) => aliasOf(display_name) === alias),
    ]
    return [...new Set(found.map(({ member_id }) => member_id))]
  }

/** Who is named, or called in the text where nobody is and no session says it (channels-18). */
const addressedOf = (parts: PostParts, draft: PostDraft): readonly string[] => {
  const { channel_id, addressed_member_ids = [], sender_session_id, output } = draft
  const named = [...new Set(addressed_member_ids.map((id) => id.trim()).filter((id) => id !== ''))]
  if (named.length > mostAddressed) refuse('addressed_member_ids', `must be at most ${mostAddressed}`)
  for (const id of named)
    if (parts.reads.member(channel_id, id) === undefined)
      refuse('addressed_member_ids', 'must be members of the channel')
  if (named.length > 0 || sender_session_id !== undefined) return named
  return addressedIn(output.content, findAlias(parts, channel_id))
}

const senderOf = (
  { reads, names }: PostParts,
  { channel_id, sender, sender_session_id }: PostDraft,
): Pick<MessageRecord, 'sender' | 'sender_session_id'> => {
  const id = nameOf('sender_actor_id', sender.id, mostMemberId)
  const member: MemberRecord | undefined =
    sender_session_id === undefined ? undefined : reads.memberOf(channel_id, sender_session_id)
  if (sender_session_id !== undefined && member === undefined)
    refuse('sender_session_id', 'must be that of a member of the channel')
  const given = nameIn('sender_display_name', sender.display_name)
  const display_name = given ?? (member && names.current(member).display_name)
  return {
    sender: { id, ...(display_name !== undefined && { display_name }) },
    ...(sender_session_id !== undefined && { sender_session_id }),
  }
}

export const createPost = (parts: PostParts): Channels['post'] => {
  const { store, observers, reads, ids } = parts
  /** The order of ids is that of times, also where the clock was set back. */
  const timeIn = (channel_id: string, now: number): number => {
    const [newest = ''] = store.messages.page({ index: 'channel', group: channel_id, limit: 1, order: 'desc' })
    return Math.max(now, store.messages.find(newest)?.created_at_ms ?? 0)
  }
  const record = (tx: Tx, draft: PostDraft): MessageRecord => {
    const { channel_id } = draft
    const output = boundedOutput(draft.output)
    checkOutput(parts.assets(), output)
    const { root, reply_to_message_id } = placeOf(reads, draft)
    const addressed = addressedOf(parts, { ...draft, output })
    const message_id = ids.make('message')
    return {
      message_id,
      channel_id,
      root_message_id: root ?? message_id,
      ...(reply_to_message_id !== undefined && { reply_to_message_id }),
      ...senderOf(parts, draft),
      ...(addressed.length > 0 && { addressed_member_ids: [...addressed] }),
      output,
      created_at_ms: timeIn(channel_id, tx.now),
      ...checkedMetadata(draft.metadata),
    }
  }
  return (tx, draft) => {
    reads.get(draft.channel_id)
    const message = record(tx, draft)
    tx.insert(store.messages, message)
    nameFiles(tx, store.assets, message)
    observers.tell(tx, 'hearing of a message', (part) => part.posted?.(tx, message, draft))
    return message
  }
}

/** Of a request: a person is a member, and a session says that it is one (channels-17). */
export const checkPerson = (channels: Pick<Channels, 'person'>, channel_id: string, sender_actor_id: string): void => {
  const id = nameOf('sender_actor_id', sender_actor_id, mostMemberId)
  if (channels.person(channel_id, id) === undefined) refuse('sender_actor_id', 'must be a member of the channel')
}
