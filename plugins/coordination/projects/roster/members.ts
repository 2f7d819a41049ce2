/** Who is in a project. */
import { canonical, type Tx } from '../../../../core/plugin.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import { agentErrors } from '../../../agents/sidechains/contract.js'
import { projectErrors } from '../record/errors.js'
import { distinct, filled, given, refuse, trimmed, type MemberDraft } from '../record/fields.js'
import type { ProjectMemberRecord } from '../record/record.js'
import { keyOf, type ProjectStore } from '../record/store.js'
import type { Mirror } from './mirror.js'

/** How many of what a project has at most. */
export interface Bounds {
  readonly max_members: number
  readonly max_mirrored: number
  readonly max_tasks: number
}
export interface RosterParts {
  readonly store: ProjectStore
  readonly sessions: Pick<Sessions, 'get' | 'ofAgent'>
  readonly mirror: Mirror
  readonly bounds: Bounds
}

/** The session that an agent works in. Throws `agent_not_found`. */
export const sessionOfAgent = (sessions: RosterParts['sessions'], agent_id: string): string => {
  const session = sessions.ofAgent(agent_id)
  if (session === undefined) throw agentErrors.agent_not_found({ details: { agent_id } })
  return session.session_id
}

type Bound = Pick<ProjectMemberRecord, 'session_id' | 'actor_id'>
const boundTo = (sessions: RosterParts['sessions'], member_id: string, draft: MemberDraft): Bound => {
  if (draft.member_kind === 'human_actor') return { actor_id: trimmed(draft.actor_id) ?? member_id }
  if (draft.session_id !== undefined && draft.agent_id !== undefined)
    return refuse('agent_id', 'cannot be combined with session_id')
  if (draft.agent_id !== undefined) return { session_id: sessionOfAgent(sessions, draft.agent_id) }
  return { session_id: sessions.get(draft.session_id ?? member_id).session_id }
}

const memberOf = (
  { sessions }: Pick<RosterParts, 'sessions'>,
  draft: MemberDraft,
  kept: Pick<ProjectMemberRecord, 'project_id' | 'joined_at_ms'>,
): ProjectMemberRecord => {
  const member_id = draft.member_id.trim()
  const tags = distinct(draft.expertise_tags)
  return given({
    project_id: kept.project_id,
    member_id,
    member_kind: draft.member_kind,
    display_name: draft.display_name.trim(),
    ...boundTo(sessions, member_id, draft),
    role: trimmed(draft.role),
    expertise_tags: tags.length === 0 ? undefined : tags,
    joined_at_ms: kept.joined_at_ms,
    metadata: filled(draft.metadata),
  })
}

/** A task of a member that is not done. */
const ownedBy = (store: ProjectStore, { project_id, member_id }: ProjectMemberRecord): string | undefined =>
  store.tasks.list({ index: 'owner', group: keyOf(project_id, member_id), limit: 1 })[0]?.project_task_id

const refuseOwner = (store: ProjectStore, member: ProjectMemberRecord): void => {
  const { project_id, member_id } = member
  const project_task_id = ownedBy(store, member)
  if (project_task_id === undefined) return
  throw projectErrors.project_member_in_use({ details: { project_id, member_id, project_task_id } })
}

const tooMany = (project_id: string, what: string, limit: number) =>
  projectErrors.project_limit({ details: { project_id, what, limit } })

/** Throws where a project would have more members, or more of them in channels, than one commit is to write. */
export const checkSize = (
  { bounds }: Pick<RosterParts, 'bounds'>,
  project_id: string,
  { members, mirrored }: { readonly members: number; readonly mirrored: number },
): void => {
  if (members > bounds.max_members) throw tooMany(project_id, 'members', bounds.max_members)
  if (members * mirrored > bounds.max_mirrored) throw tooMany(project_id, 'mirrored members', bounds.max_mirrored)
}

/** Adds a member, or makes one what the draft says. One session is one member. Mirrors are for the caller. */
export const writeMember = (parts: RosterParts, tx: Tx, asked: MemberOf): ProjectMemberRecord => {
  const { store } = parts
  const { project_id } = store.get(asked.project_id)
  const before = store.member(project_id, asked.draft.member_id.trim())
  const member = memberOf(parts, asked.draft, { project_id, joined_at_ms: before?.joined_at_ms ?? tx.now })
  const { member_id, session_id } = member
  const same = session_id === undefined ? undefined : store.memberOf(project_id, session_id)
  if (same !== undefined && same.member_id !== member_id)
    throw projectErrors.project_session_twice({
      details: { session_id: session_id ?? '', member_id: same.member_id },
      errors: [{ path: 'body.session_id', rule: 'must not be that of another member' }],
    })
  if (before !== undefined && before.session_id !== session_id) refuseOwner(store, before)
  if (before === undefined)
    checkSize(parts, project_id, {
      members: store.members.count('project', project_id) + 1,
      mirrored: store.links.count('mirrored', project_id),
    })
  if (before === undefined || canonical(before) !== canonical(member)) {
    tx.put(store.members, member)
    store.touch(tx, project_id)
  }
  return member
}

export const putMember = (parts: RosterParts, tx: Tx, asked: MemberOf): ProjectMemberRecord => {
  const member = writeMember(parts, tx, asked)
  parts.mirror.sync(tx, member.project_id)
  return member
}
export interface MemberOf {
  readonly project_id: string
  readonly draft: MemberDraft
}

/** Takes a member out. Throws while it owns a task that is not done. */
export const removeMember = (
  { store, mirror }: RosterParts,
  tx: Tx,
  { project_id, member_id }: { readonly project_id: string; readonly member_id: string },
): void => {
  store.get(project_id)
  const member = store.getMember(project_id, member_id)
  refuseOwner(store, member)
  tx.remove(store.members, keyOf(project_id, member_id), 'it was taken out of the project')
  mirror.sync(tx, project_id)
  store.touch(tx, project_id)
}
