/** What the routes of channels share. */
import {
  array,
  boolean,
  doc,
  enums,
  jsonObject,
  object,
  optional,
  rule,
  string,
  type Skip,
  type State,
} from '../../../core/plugin.js'
import type { Changes } from './changes.js'
import type { Channels } from './contract.js'
import { mostMemberId } from './members.js'
import type { Names } from './names.js'
import { ParticipationMode } from './record/policy.js'
import { displayNameModes, memberKinds } from './record/record.js'
import type { ChannelStore } from './record/store.js'
import type { Views } from './views.js'

export interface ChannelRouteParts {
  readonly store: ChannelStore
  readonly state: State
  readonly channels: Channels
  readonly names: Names
  readonly changes: Changes
  readonly views: Views
  readonly skip: Skip
  /** A channel was removed. */
  readonly removed: () => void
}

export const channelPath = '/v1/channels/:channel_id'
const ChannelId = string({ min: 1, max: 200 })
export const channelParams = object({ channel_id: ChannelId })
export const memberParams = object({ channel_id: ChannelId, member_id: string({ min: 1, max: mostMemberId }) })
export const messageParams = object({ channel_id: ChannelId, message_id: string({ min: 1, max: 200 }) })

const mostMetadata = 65_536
export const Metadata = rule(
  jsonObject(),
  `must have at most ${mostMetadata} bytes as JSON`,
  (value) => Buffer.byteLength(JSON.stringify(value)) <= mostMetadata,
)

/** A member as a request has it. */
export const MemberDraft = object({
  member_id: doc(string({ max: mostMemberId }), 'Its id in the channel; must not be blank.'),
  member_kind: enums(memberKinds),
  display_name_mode: optional(
    doc(
      enums(displayNameModes),
      'Of sessions: whether the name stays, or is that of the agent; the latter when absent and display_name is that.',
    ),
  ),
  display_name: doc(string({ max: 200 }), 'Must not be blank.'),
  session_id: optional(doc(string({ max: 200 }), 'Of a session; its member_id when absent.')),
  actor_id: optional(doc(string({ max: mostMemberId }), 'Of a human_actor; its member_id when absent.')),
  role: optional(string({ max: 200 })),
  expertise_tags: optional(array(string({ max: 100 }), { max: 50 })),
  participation_mode: optional(doc(ParticipationMode, 'What the channel says when absent.')),
  muted: optional(doc(boolean(), 'True to keep it from being asked to speak.')),
})
