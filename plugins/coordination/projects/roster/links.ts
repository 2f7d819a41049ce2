/** Channels that a project links: of one that links any, exactly one is the default. */
import { canonical, type Tx } from '../../../../core/plugin.js'
import type { Channels } from '../../channels/contract.js'
import { projectErrors } from '../record/errors.js'
import { filled, given, trimmed, type LinkDraft } from '../record/fields.js'
import type { ProjectLinkRecord } from '../record/record.js'
import { keyOf, mostLinks, type ProjectStore } from '../record/store.js'
import { checkSize, type RosterParts } from './members.js'

export interface LinkParts extends RosterParts {
  readonly channels: Pick<Channels, 'get'>
}

const positionBehind = (links: readonly ProjectLinkRecord[]): number => (links.at(-1)?.position ?? 0) + 1

/** Writes which link is the default: this one if it is wanted, else the one that is, else the first. */
const settleDefault = (store: ProjectStore, tx: Tx, { project_id, wanted }: Wish): void => {
  const links = store.linksOf(project_id)
  const chosen =
    links.find(({ channel_id }) => channel_id === wanted) ??
    links.find(({ default_for_new_tasks }) => default_for_new_tasks) ??
    links[0]
  for (const link of links)
    if (link.default_for_new_tasks !== (link === chosen))
      tx.put(store.links, { ...link, default_for_new_tasks: link === chosen })
}
interface Wish {
  readonly project_id: string
  readonly wanted?: string | undefined
}

interface LinkOf {
  readonly project_id: string
  readonly draft: LinkDraft
}

/** Links a channel, or makes a link what the draft says. Mirrors are for the caller. */
export const writeLink = (parts: LinkParts, tx: Tx, { project_id, draft }: LinkOf): ProjectLinkRecord => {
  const { store, channels, mirror } = parts
  store.get(project_id)
  const { channel_id } = channels.get(draft.channel_id)
  const { default_for_new_tasks, mirror_members } = draft
  const links = store.linksOf(project_id)
  const before = links.find((link) => link.channel_id === channel_id)
  if (before === undefined && links.length >= mostLinks)
    throw projectErrors.project_limit({ details: { project_id, what: 'links', limit: mostLinks } })
  const others = store.links.count('mirrored', project_id) - (before?.mirror_members === true ? 1 : 0)
  if (mirror_members)
    checkSize(parts, project_id, { members: store.members.count('project', project_id), mirrored: others + 1 })
  const link: ProjectLinkRecord = given({
    project_id,
    channel_id,
    role: trimmed(draft.role),
    default_for_new_tasks,
    mirror_members,
    linked_at_ms: before?.linked_at_ms ?? tx.now,
    position: before?.position ?? positionBehind(links),
    metadata: filled(draft.metadata),
  })
  tx.put(store.links, link)
  settleDefault(store, tx, { project_id, wanted: default_for_new_tasks ? channel_id : undefined })
  const after = store.link(project_id, channel_id) ?? link
  if (before === undefined || canonical(before) !== canonical(after)) store.touch(tx, project_id)
  if (!mirror_members && before?.mirror_members === true) mirror.clear(tx, after)
  return after
}

export const putLink = (parts: LinkParts, tx: Tx, asked: LinkOf): ProjectLinkRecord => {
  const link = writeLink(parts, tx, asked)
  parts.mirror.sync(tx, asked.project_id)
  return link
}

/** Takes a link away. Throws while a task that is not done is discussed there. */
export const removeLink = (
  { store, mirror }: RosterParts,
  tx: Tx,
  { project_id, channel_id }: { readonly project_id: string; readonly channel_id: string },
): void => {
  store.get(project_id)
  const link = store.link(project_id, channel_id)
  if (link === undefined) throw projectErrors.project_link_not_found({ details: { project_id, channel_id } })
  const [task] = store.tasks.list({ index: 'discussed', group: keyOf(project_id, channel_id), limit: 1 })
  if (task !== undefined)
    throw projectErrors.project_link_in_use({
      details: { channel_id, project_id: task.project_id, project_task_id: task.project_task_id },
    })
  if (link.mirror_members) mirror.clear(tx, link)
  tx.remove(store.links, keyOf(project_id, channel_id), 'it is not linked any more')
  settleDefault(store, tx, { project_id })
  mirror.sync(tx, project_id)
  store.touch(tx, project_id)
}
