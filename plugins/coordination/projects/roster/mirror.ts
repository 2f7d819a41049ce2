/** Members of projects as members of channels: written in the commit that changes the project. */
import { canonical, type Tx } from '../../../../core/plugin.js'
import type { Channels, MemberDraft } from '../../channels/contract.js'
import { projectErrors } from '../record/errors.js'
import { given } from '../record/fields.js'
import type { ProjectLinkRecord, ProjectMemberRecord } from '../record/record.js'
import type { ProjectStore } from '../record/store.js'

const prefixOf = (project_id: string): string => `project:${project_id}:`
/** What a member of a project is called in a channel. No id of a project has a colon. */
export const mirroredId = ({ project_id, member_id }: Pick<ProjectMemberRecord, 'project_id' | 'member_id'>): string =>
  `${prefixOf(project_id)}${member_id}`

/** Nobody asks it to speak: who is to take part is a member by itself. */
const draftOf = (member: ProjectMemberRecord): MemberDraft => {
  const { member_kind, display_name, session_id, actor_id, role, expertise_tags } = member
  return given({
    member_id: mirroredId(member),
    member_kind,
    display_name_mode: 'manual' as const,
    display_name,
    session_id,
    actor_id,
    role,
    expertise_tags,
    participation_mode: 'manual_only' as const,
    muted: false,
  })
}

export interface Mirror {
  /** Writes a member to every channel that mirrors its project. */
  put(tx: Tx, member: ProjectMemberRecord): void
  /** Takes it out of these. */
  remove(tx: Tx, member: ProjectMemberRecord): void
  /** Makes one channel hold all members of the project and nobody else of it, or none of them. */
  sync(tx: Tx, link: ProjectLinkRecord): void
  /** Takes all of them out. */
  clear(tx: Tx, link: ProjectLinkRecord): void
}

const portion = 100
/** Bytes of members that one commit writes to channels. */
const mostBytes = 16 * 1024 * 1024

const tooManyBytes = (project_id: string) =>
  projectErrors.project_limit({ details: { project_id, what: 'bytes of mirrored members', limit: mostBytes } })

export const createMirror = (store: ProjectStore, channels: Channels): Mirror => {
  const written = new WeakMap<Tx, number>()
  const putIn = (tx: Tx, channel_id: string, member: ProjectMemberRecord): void => {
    const draft = draftOf(member)
    const before = channels.member(channel_id, draft.member_id)
    if (before !== undefined) {
      const { channel_id: _, joined_at_ms: __, ...same } = before
      if (canonical(same) === canonical(draft)) return
    }
    const bytes = (written.get(tx) ?? 0) + Buffer.byteLength(JSON.stringify(draft))
    if (bytes > mostBytes) throw tooManyBytes(member.project_id)
    written.set(tx, bytes)
    channels.putMember(tx, channel_id, draft)
  }
  /** Those of the project that a channel has, by id. */
  const idsIn = ({ project_id, channel_id }: ProjectLinkRecord): string[] => {
    const prefix = prefixOf(project_id)
    const found: string[] = []
    for (let beyond = prefix; ;) {
      const some = channels.members(channel_id, { limit: portion, beyond }).map(({ member_id }) => member_id)
      const own = some.filter((id) => id.startsWith(prefix))
      found.push(...own)
      const last = own.at(-1)
      if (own.length < portion || last === undefined) return found
      beyond = last
    }
  }
  const mirrored = (project_id: string): ProjectLinkRecord[] =>
    store.linksOf(project_id).filter(({ mirror_members }) => mirror_members)
  const clear = (tx: Tx, link: ProjectLinkRecord): void => {
    for (const id of idsIn(link)) channels.removeMember(tx, link.channel_id, id)
  }
  return {
    put(tx, member) {
      for (const { channel_id } of mirrored(member.project_id)) putIn(tx, channel_id, member)
    },
    remove(tx, member) {
      for (const { channel_id } of mirrored(member.project_id))
        channels.removeMember(tx, channel_id, mirroredId(member))
    },
    sync(tx, link) {
      if (!link.mirror_members) return clear(tx, link)
      const { project_id, channel_id } = link
      for (const id of idsIn(link))
        if (store.member(project_id, id.slice(prefixOf(project_id).length)) === undefined)
          channels.removeMember(tx, channel_id, id)
      const { member_count: limit } = store.counts(project_id)
      for (const member of store.membersOf(project_id, { limit })) putIn(tx, channel_id, member)
    },
    clear,
  }
}
