/** Members of channels over HTTP. */
import {
  boolean,
  collectionSource,
  defineRoute,
  jsonReply,
  listPage,
  object,
  pageFields,
  pageOf,
  pageProblems,
  type Route,
} from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { channelErrors } from './errors.js'
import { channelParams, channelPath, MemberDraft, memberParams, type ChannelRouteParts } from './route-fields.js'
import { Member, viewOfMember } from './views.js'

export const memberRoutes = (parts: ChannelRouteParts): readonly Route[] => [
  list(parts),
  get(parts),
  put(parts),
  remove(parts),
]

const path = `${channelPath}/members`

const list = ({ store, channels, names, skip }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.members.list',
    method: 'GET',
    path,
    summary: 'Lists the members of a channel by id.',
    access: 'read',
    params: channelParams,
    query: object(pageFields),
    reply: jsonReply(pageOf(Member)),
    problems: [...pageProblems, channelErrors.channel_not_found],
    handler: ({ params: { channel_id }, query }) =>
      listPage({
        query,
        source: collectionSource(store.members, 'channel', channels.get(channel_id).channel_id),
        label: 'member_id_asc',
        view: (member) => viewOfMember(names.current(member)),
        skip,
      }),
  })

const get = ({ channels }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.members.get',
    method: 'GET',
    path: `${path}/:member_id`,
    summary: 'Shows one member of a channel, by its member_id, its actor_id or its session_id.',
    access: 'read',
    params: memberParams,
    reply: jsonReply(Member),
    problems: [channelErrors.channel_not_found, channelErrors.channel_member_not_found],
    handler: ({ params: { channel_id, member_id } }) => {
      const member = channels.memberBy(channels.get(channel_id).channel_id, member_id)
      if (member === undefined) throw channelErrors.channel_member_not_found({ details: { channel_id, member_id } })
      return viewOfMember(member)
    },
  })

const put = ({ state, channels }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.members.put',
    method: 'POST',
    path,
    summary: 'Adds a member to a channel, or replaces the one that has this id there.',
    access: 'admin',
    params: channelParams,
    body: MemberDraft,
    reply: jsonReply(Member),
    problems: [
      channelErrors.channel_not_found,
      channelErrors.channel_full,
      channelErrors.channel_invalid_request,
      sessionErrors.session_not_found,
    ],
    durability: 'A',
    example: { body: { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' } },
    handler: ({ params: { channel_id }, body }) =>
      state.commit((tx) => viewOfMember(channels.putMember(tx, channel_id, body))),
  })

const remove = ({ state, channels }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.members.delete',
    method: 'DELETE',
    path: `${path}/:member_id`,
    summary: 'Takes a member out of a channel; what it said stays.',
    access: 'admin',
    params: memberParams,
    reply: jsonReply(object({ accepted: boolean() })),
    problems: [channelErrors.channel_not_found, channelErrors.channel_member_not_found],
    durability: 'A',
    handler: async ({ params: { channel_id, member_id } }) => {
      await state.commit((tx) => {
        channels.get(channel_id)
        if (channels.member(channel_id, member_id) === undefined)
          throw channelErrors.channel_member_not_found({ details: { channel_id, member_id } })
        channels.removeMember(tx, channel_id, member_id)
      })
      return { accepted: true }
    },
  })
