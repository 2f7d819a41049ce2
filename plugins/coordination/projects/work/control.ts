/** The member of a channel in whose name the daemon opens the threads of tasks (projects-20). */
import { mostMembers, type Channels, type MemberDraft } from '../../channels/contract.js'

export const control = {
  member_id: 'project-control',
  member_kind: 'human_actor',
  display_name_mode: 'manual',
  display_name: 'Project Control',
  actor_id: 'project-control',
  role: 'project_control',
  expertise_tags: ['project', 'coordination'],
  participation_mode: 'manual_only',
  muted: true,
} satisfies MemberDraft

/** Why the daemon cannot speak in a channel: it has no room for its member, or somebody else has its id there. */
export const controlFault = (
  channels: Pick<Channels, 'member' | 'memberCount'>,
  channel_id: string,
): 'full' | 'taken' | undefined => {
  const member = channels.member(channel_id, control.member_id)
  if (member === undefined) return channels.memberCount(channel_id) < mostMembers ? undefined : 'full'
  const { member_kind, actor_id, role } = member
  const isOurs = member_kind === control.member_kind && actor_id === control.actor_id && role === control.role
  return isOurs ? undefined : 'taken'
}
