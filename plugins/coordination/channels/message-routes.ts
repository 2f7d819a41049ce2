/** Messages of channels over HTTP. */
import {
  array,
  clampLimit,
  defineRoute,
  doc,
  integer,
  jsonReply,
  object,
  optional,
  pageProblems,
  sliced,
  string,
  type Route,
  type Sliced,
} from '../../../core/plugin.js'
import { fileBytesOf, mostSubmissionBytes, runErrors } from '../../execution/runs/contract.js'
import { assetErrors, uploadProblems } from '../../media/assets/contract.js'
import { boardErrors } from '../../media/boards/contract.js'
import type { PostDraft } from './contract.js'
import { channelErrors } from './errors.js'
import { mostMemberId } from './members.js'
import { checkPerson } from './posting.js'
import { messageIds } from './reading.js'
import { channelParams, channelPath, messageParams, type ChannelRouteParts } from './route-fields.js'
import { MessagePost, saidIn, type SaidParts } from './said.js'
import type { Search } from './searching.js'
import { Message } from './views.js'

interface Parts extends ChannelRouteParts, SaidParts {
  readonly search: Search
}

export const messageRoutes = (parts: Parts): readonly Route[] => [
  list(parts),
  post(parts),
  react(parts, 'set'),
  react(parts, 'unset'),
]

const path = `${channelPath}/messages`
/** Most messages of a list. */
const mostListed = 1_000

const list = (parts: Parts): Route =>
  defineRoute({
    id: 'channels.messages.list',
    method: 'GET',
    path,
    summary: `Lists the newest messages of a channel, at most ${mostListed}, in the order in which they came.`,
    access: 'read',
    params: channelParams,
    query: object({
      thread_root_message_id: optional(doc(string({ max: 200 }), 'Only this message and those behind it.')),
      query: optional(doc(string({ max: 200 }), 'Only those whose sender, words or names of files hold this text.')),
      limit: optional(doc(integer(), `Most messages, the newest: 1 to ${mostListed}.`)),
      before: optional(doc(string({ max: 200 }), 'Only messages that came before this one.')),
    }),
    reply: jsonReply(array(Message)),
    problems: [...pageProblems, channelErrors.channel_not_found, channelErrors.channel_message_not_found],
    handler: async ({ params: { channel_id }, query, signal }): Promise<Sliced<Message>> => {
      const { channels, store, views } = parts
      const { before, thread_root_message_id: root_message_id, limit = mostListed } = query
      if (before !== undefined) channels.getMessage(channel_id, before)
      const page = {
        channel_id: channels.get(channel_id).channel_id,
        limit: clampLimit(limit, mostListed),
        root_message_id,
        before,
      }
      const text = (query.query ?? '').trim()
      const newest = text === '' ? messageIds(store, page) : await parts.search(page, { text, signal })
      return sliced(function* () {
        for (const id of newest.toReversed()) {
          const message = channels.message(id)
          yield message && views.message(message)
        }
      })
    },
  })

const post = (parts: Parts): Route =>
  defineRoute({
    id: 'channels.messages.post',
    method: 'POST',
    path,
    summary: 'Says something in a channel.',
    access: 'admin',
    params: channelParams,
    body: MessagePost,
    bodyLimit: mostSubmissionBytes,
    fileBytes: fileBytesOf,
    reply: jsonReply(Message, 201),
    problems: [
      channelErrors.channel_not_found,
      channelErrors.channel_message_not_found,
      channelErrors.channel_invalid_request,
      assetErrors.asset_not_found,
      ...uploadProblems,
      runErrors.assets_unavailable,
      runErrors.inline_asset_empty,
      ...Object.values(boardErrors),
    ],
    durability: 'A',
    example: { body: { sender_actor_id: 'ann', content: 'Writer, what is next?' } },
    handler: async ({ params: { channel_id }, body }) => {
      const { state, channels, views } = parts
      const check = (): void => {
        channels.get(channel_id)
        if (body.sender_session_id === undefined) checkPerson(channels, channel_id, body.sender_actor_id)
      }
      check()
      const { sender_display_name: display_name } = body
      const draft: PostDraft = {
        channel_id,
        sender: { id: body.sender_actor_id, ...(display_name !== undefined && { display_name }) },
        sender_session_id: body.sender_session_id,
        root_message_id: body.thread_root_message_id,
        reply_to_message_id: body.reply_to_message_id,
        addressed_member_ids: body.addressed_member_ids,
        output: await saidIn(parts, body),
        metadata: body.metadata,
      }
      // Files took their time: who was a member may have left meanwhile.
      return state.commit((tx) => {
        check()
        return views.message(channels.post(tx, draft))
      })
    },
  })

const react = ({ state, channels, views }: Parts, is: 'set' | 'unset'): Route =>
  defineRoute({
    id: is === 'set' ? 'channels.reactions.set' : 'channels.reactions.unset',
    method: is === 'set' ? 'POST' : 'DELETE',
    path: `${path}/:message_id/reactions`,
    summary: is === 'set' ? 'Gives a message an emoji of a member.' : 'Takes an emoji of a member back.',
    access: 'admin',
    params: messageParams,
    body: object({
      actor_id: doc(string({ max: mostMemberId }), 'A member, by its member_id, actor_id or session_id.'),
      emoji: doc(string({ max: 64 }), 'Must not be blank.'),
    }),
    reply: jsonReply(Message),
    problems: [
      channelErrors.channel_not_found,
      channelErrors.channel_message_not_found,
      channelErrors.channel_invalid_request,
      ...(is === 'set' ? [channelErrors.channel_reactions_full] : []),
    ],
    durability: 'A',
    example: { body: { actor_id: 'ann', emoji: '👍' } },
    handler: ({ params: { channel_id, message_id }, body }) =>
      state.commit((tx) => {
        const message = channels.getMessage(channel_id, message_id)
        channels.react(tx, { message, ...body, is })
        return views.message(message)
      }),
  })
