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
  /** Makes each channel that mirrors a project hold its members, as they are, and nobody else of it. */
  sync(tx: Tx, project_id: string): void
  /** Takes all of them out of a channel. */
  clear(tx: Tx, link: ProjectLinkRecord): void
}

type Mirrored = ReturnType<Channels['members']>[number]

const portion = 100
/** Bytes of members that one commit writes to channels. */
const mostBytes = 16 * 1024 * 1024

const tooManyBytes = (project_id: string) =>
  projectErrors.project_limit({ details: { project_id, what: 'bytes of mirrored members', limit: mostBytes } })

/** A member as it is to be in each channel, and that as text to compare by. */
interface Wanted {
  readonly draft: MemberDraft
  readonly text: string
}
const isAs = (member: Mirrored, { text }: Wanted): boolean => {
  const { channel_id: _, joined_at_ms: __, ...same } = member
  return canonical(same) === text
}

export const createMirror = (store: ProjectStore, channels: Channels): Mirror => {
  const written = new WeakMap<Tx, number>()
  const write = (tx: Tx, { project_id, channel_id }: ProjectLinkRecord, draft: MemberDraft): void => {
    const bytes = (written.get(tx) ?? 0) + Buffer.byteLength(JSON.stringify(draft))
    if (bytes > mostBytes) throw tooManyBytes(project_id)
    written.set(tx, bytes)
    channels.putMember(tx, channel_id, draft)
  }
  /** Those of the project that a channel has. */
  const membersIn = ({ project_id, channel_id }: ProjectLinkRecord): Map<string, Mirrored> => {
    const prefix = prefixOf(project_id)
    const found = new Map<string, Mirrored>()
    for (let beyond = prefix; ;) {
      const some = channels.members(channel_id, { limit: portion, beyond })
      const own = some.filter(({ member_id }) => member_id.startsWith(prefix))
      for (const member of own) found.set(member.member_id, member)
      const last = own.at(-1)
      if (own.length < portion || last === undefined) return found
      beyond = last.member_id
    }
  }
  const syncLink = (tx: Tx, link: ProjectLinkRecord, wanted: ReadonlyMap<string, Wanted>): void => {
    const there = membersIn(link)
    for (const id of there.keys()) if (!wanted.has(id)) channels.removeMember(tx, link.channel_id, id)
    for (const [id, one] of wanted) {
      const before = there.get(id)
      if (before === undefined || !isAs(before, one)) write(tx, link, one.draft)
    }
  }
  return {
    sync(tx, project_id) {
      const links = store.linksOf(project_id).filter(({ mirror_members }) => mirror_members)
      if (links.length === 0) return
      const { member_count: limit } = store.counts(project_id)
      const drafts = store.membersOf(project_id, { limit }).map(draftOf)
      const wanted = new Map(drafts.map((draft) => [draft.member_id, { draft, text: canonical(draft) }]))
      for (const link of links) syncLink(tx, link, wanted)
    },
    clear(tx, link) {
      for (const id of membersIn(link).keys()) channels.removeMember(tx, link.channel_id, id)
    },
  }
}
