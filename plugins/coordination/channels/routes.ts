/** Channels over HTTP. */
import {
  array,
  boolean,
  collectionSource,
  defaulted,
  defineRoute,
  doc,
  filteredSource,
  holdsText,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Route,
} from '../../../core/plugin.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { assetErrors } from '../../media/assets/contract.js'
import type { ChannelRecord } from './contract.js'
import { channelErrors } from './errors.js'
import { AutonomyPolicy, ParticipationMode } from './record/policy.js'
import { channelParams, channelPath, MemberDraft, Metadata, type ChannelRouteParts } from './route-fields.js'
import { Channel } from './views.js'

const Prose = string({ max: 4_000 })
const fields = {
  description: optional(doc(Prose, 'Blank for none.')),
  purpose: optional(doc(Prose, 'What it is there for; blank for none.')),
  pinned_asset_ids: optional(doc(array(string({ max: 400 }), { max: 100 }), 'Assets that are kept with it.')),
  metadata: optional(doc(Metadata, 'Kept as it is; empty for none.')),
}
const Title = doc(string({ max: 200 }), 'Must not be blank.')

export const channelRoutes = (parts: ChannelRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  update(parts),
  remove(parts),
]

const holds = ({ channel_id, title, description, purpose }: ChannelRecord, text: string): boolean =>
  holdsText(text, [channel_id, title, description, purpose])

const list = (parts: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.list',
    method: 'GET',
    path: '/v1/channels',
    summary: 'Lists channels by id.',
    access: 'read',
    query: object({
      query: optional(
        doc(string({ max: 200 }), 'Only channels whose id, title, description or purpose holds this text.'),
      ),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(Channel)),
    problems: [...pageProblems],
    handler: async ({ query: { query = '', ...page } }) => {
      const text = searchText(query)
      const all = collectionSource(parts.store.channels, 'all', 'all')
      return listPage({
        query: page,
        source: text === '' ? all : await filteredSource(all, (channel) => holds(channel, text), parts.skip),
        label: 'channel_id_asc',
        view: parts.views.channel,
        skip: parts.skip,
      })
    },
  })

const create = ({ state, changes, views }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.create',
    method: 'POST',
    path: '/v1/channels',
    summary: 'Creates a channel.',
    access: 'admin',
    body: object({
      channel_id: optional(doc(string({ max: 200 }), 'Chosen by the caller, or made by the daemon.')),
      title: Title,
      ...fields,
      created_by: optional(doc(string({ max: 200 }), 'Who makes it; system when absent.')),
      members: optional(array(MemberDraft, { max: 1_000 })),
      autonomy_policy: defaulted(AutonomyPolicy, defaultPolicy),
      default_participation_mode: defaulted(
        doc(ParticipationMode, 'Of members that come without one.'),
        'selected_only',
      ),
    }),
    reply: jsonReply(Channel, 201),
    problems: [
      channelErrors.channel_exists,
      channelErrors.channel_full,
      channelErrors.channel_invalid_request,
      assetErrors.asset_not_found,
      sessionErrors.session_not_found,
    ],
    durability: 'A',
    example: { body: { channel_id: 'garden', title: 'The garden', purpose: 'What is to be planted' } },
    handler: ({ body }) => state.commit((tx) => views.channel(changes.create(tx, body))),
  })

const defaultPolicy: AutonomyPolicy = {
  max_parallel_public_speakers: 1,
  max_agent_replies_per_human_message: 3,
  member_cooldown_ms: 15_000,
  lease_timeout_ms: 60_000,
  max_pending_stimuli: 32,
  max_autonomous_root_posts_per_hour: 4,
  max_active_autonomous_roots: 1,
  quiet_period_ms_after_root_post: 300_000,
}

const read = ({ channels, views }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.get',
    method: 'GET',
    path: channelPath,
    summary: 'Reads a channel, with its first members and what it is counted by.',
    access: 'read',
    params: channelParams,
    reply: jsonReply(Channel),
    problems: [channelErrors.channel_not_found],
    handler: ({ params: { channel_id } }) => views.channel(channels.get(channel_id)),
  })

const update = ({ state, changes, views }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.update',
    method: 'PUT',
    path: channelPath,
    summary: 'Replaces the members of a channel that the body names.',
    access: 'admin',
    params: channelParams,
    body: object({
      title: optional(Title),
      ...fields,
      autonomy_policy: optional(doc(AutonomyPolicy, 'In place of all of it: what is left out has its default.')),
      default_participation_mode: optional(ParticipationMode),
      paused: optional(doc(boolean(), 'True to have nobody asked to speak.')),
    }),
    reply: jsonReply(Channel),
    problems: [channelErrors.channel_not_found, channelErrors.channel_invalid_request, assetErrors.asset_not_found],
    durability: 'A',
    example: { body: { paused: true } },
    handler: ({ params: { channel_id }, body }) =>
      state.commit((tx) => views.channel(changes.update(tx, channel_id, body))),
  })

const remove = ({ state, changes, removed }: ChannelRouteParts): Route =>
  defineRoute({
    id: 'channels.delete',
    method: 'DELETE',
    path: channelPath,
    summary: 'Removes a channel with all that was said in it.',
    access: 'admin',
    params: channelParams,
    reply: jsonReply(object({ accepted: boolean() })),
    problems: [channelErrors.channel_not_found, channelErrors.channel_in_use],
    durability: 'A',
    handler: async ({ params: { channel_id } }) => {
      await state.commit((tx) => changes.remove(tx, channel_id))
      removed()
      return { accepted: true }
    },
  })
