/** A channel as text for terminals. */
import {
  array,
  boolean,
  commandLine,
  count,
  enums,
  idWord,
  integer,
  open,
  optional,
  record,
  string,
  visibleLine,
  type Infer,
  folded,
} from '../../../../core/plugin.js'
import { memberKinds } from '../record/record.js'

export const MemberRow = open({
  member_id: string(),
  member_kind: enums(memberKinds),
  display_name: string(),
  session_id: optional(string()),
  actor_id: optional(string()),
  role: optional(string()),
  participation_mode: string(),
  muted: boolean(),
})
type MemberRow = Infer<typeof MemberRow>

export const ChannelRow = open({
  channel_id: string(),
  title: string(),
  member_count: integer(),
  message_count: integer(),
  paused: boolean(),
})

export const WholeChannel = open({
  channel_id: string(),
  title: string(),
  description: optional(string()),
  purpose: optional(string()),
  member_count: integer(),
  message_count: integer(),
  paused: boolean(),
  members: array(MemberRow),
  pinned_asset_ids: optional(array(string())),
  default_participation_mode: string(),
  autonomy_policy: record(integer()),
  moderation_metrics: record(integer()),
})

export const channelLine = ({ channel_id, title, paused, ...counted }: Infer<typeof ChannelRow>): string =>
  [
    visibleLine(channel_id),
    visibleLine(title),
    count(counted.member_count, 'member'),
    count(counted.message_count, 'message'),
    ...(paused ? ['paused'] : []),
  ].join('  ')

const whoIs = ({ member_kind, session_id = '', actor_id, member_id }: MemberRow): string => {
  if (member_kind === 'session') return `session ${visibleLine(session_id)}`
  return actor_id === undefined || actor_id === member_id ? 'a person' : `a person, ${visibleLine(actor_id)} elsewhere`
}

export const memberLine = (member: MemberRow): string =>
  [
    visibleLine(member.member_id),
    visibleLine(member.display_name),
    whoIs(member),
    ...(member.role === undefined ? [] : [`role ${visibleLine(member.role)}`]),
    visibleLine(member.participation_mode),
    ...(member.muted ? ['muted'] : []),
  ].join('  ')

const numbers = (values: Readonly<Record<string, number>>): string[] =>
  Object.entries(values).map(([name, value]) => `  ${visibleLine(name)} ${value}`)

export const channelText = (channel: Infer<typeof WholeChannel>, columns: number): string => {
  const { channel_id, description, purpose, members, member_count, pinned_asset_ids: pinned = [] } = channel
  const hidden = member_count - members.length
  const lines = [
    channelLine(channel),
    ...(purpose === undefined ? [] : [`Purpose: ${visibleLine(purpose)}`]),
    ...(description === undefined ? [] : [`Description: ${visibleLine(description)}`]),
    members.length === 0 ? 'Nobody is in it.' : 'Members:',
    ...members.map((member) => `  ${memberLine(member)}`),
    ...(hidden > 0 ? [`  ${hidden} more: ${commandLine('channels members list', channel_id)}`] : []),
    `Members that come later are ${visibleLine(channel.default_participation_mode)} unless they say.`,
    'Policy:',
    ...numbers(channel.autonomy_policy),
    ...(pinned.length === 0 ? [] : ['Pinned files:', ...pinned.map((id) => `  ${idWord(id)}`)]),
    'Counts:',
    ...numbers(channel.moderation_metrics),
  ]
  return lines.map((line) => folded(line, columns)).join('\n')
}
