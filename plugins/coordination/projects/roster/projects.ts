/** Projects as such: made, changed and deleted. */
import { canonical, count, type Ids, type Tx } from '../../../../core/plugin.js'
import { projectErrors } from '../record/errors.js'
import { filled, given, refuse, trimmed, type ProjectChange, type ProjectDraft } from '../record/fields.js'
import type { ProjectRecord } from '../record/record.js'
import { keyOf } from '../record/store.js'
import { writeLink, type LinkParts } from './links.js'
import { checkSize, writeMember } from './members.js'

export interface ProjectParts extends LinkParts {
  readonly ids: Ids
}

/** Where an id stands that stood before; -1 if none does. */
const twice = (ids: readonly string[]): number => {
  const seen = new Set<string>()
  return ids.findIndex((id) => seen.size === seen.add(id).size)
}

/** Each is named once; of several defaults the first one counts. */
const draftLists = ({ members = [], channel_links = [] }: ProjectDraft) => {
  const [member, link] = [
    twice(members.map(({ member_id }) => member_id.trim())),
    twice(channel_links.map(({ channel_id }) => channel_id)),
  ]
  if (member >= 0) refuse(`members.${member}.member_id`, 'must not be named twice')
  if (link >= 0) refuse(`channel_links.${link}.channel_id`, 'must not be named twice')
  const chosen = channel_links.findIndex(({ default_for_new_tasks }) => default_for_new_tasks)
  return { members, links: channel_links.map((one, at) => ({ ...one, default_for_new_tasks: at === chosen })) }
}

export const createProject = (parts: ProjectParts, tx: Tx, draft: ProjectDraft): ProjectRecord => {
  const { store, ids } = parts
  const project_id = trimmed(draft.project_id) ?? ids.make('project')
  if (store.projects.has(project_id) || store.projects.isDeleted(project_id))
    throw projectErrors.project_exists({ details: { project_id } })
  const { members, links } = draftLists(draft)
  const project: ProjectRecord = given({
    project_id,
    display_name: draft.display_name.trim(),
    description: trimmed(draft.description),
    status: draft.status,
    created_at_ms: tx.now,
    updated_at_ms: tx.now,
    metadata: filled(draft.metadata),
  })
  tx.insert(store.projects, project)
  // Before anything is written for each of them.
  checkSize(parts, project_id, {
    members: members.length,
    mirrored: links.filter(({ mirror_members }) => mirror_members).length,
  })
  for (const member of members) writeMember(parts, tx, { project_id, draft: member })
  for (const link of links) writeLink(parts, tx, { project_id, draft: link })
  parts.mirror.sync(tx, project_id)
  return project
}

/** A change that changes nothing leaves its time. */
export const updateProject = (
  { store }: ProjectParts,
  tx: Tx,
  { project_id, change }: { readonly project_id: string; readonly change: ProjectChange },
): ProjectRecord => {
  const before = store.get(project_id)
  const { display_name, description, status, metadata } = change
  const after: ProjectRecord = given({
    ...before,
    display_name: trimmed(display_name) ?? before.display_name,
    description: trimmed(description) ?? before.description,
    status: status ?? before.status,
    metadata: metadata === undefined ? before.metadata : filled(metadata),
  })
  if (canonical(after) === canonical(before)) return before
  const project = { ...after, updated_at_ms: Math.max(tx.now, before.updated_at_ms) }
  tx.put(store.projects, project)
  return project
}

/** Deletes a project with its members and links. Throws while it has tasks, before anything else is done. */
export const deleteProject = ({ store, mirror }: ProjectParts, tx: Tx, project_id: string): void => {
  store.get(project_id)
  const { task_count, member_count: limit } = store.counts(project_id)
  if (task_count > 0) throw projectErrors.project_in_use({ details: { project_id, tasks: count(task_count, 'task') } })
  const reason = 'its project was deleted'
  for (const link of store.linksOf(project_id)) {
    if (link.mirror_members) mirror.clear(tx, link)
    tx.remove(store.links, keyOf(project_id, link.channel_id), reason)
  }
  for (const key of store.members.page({ index: 'project', group: project_id, limit }))
    tx.remove(store.members, key, reason)
  tx.remove(store.projects, project_id, 'somebody deleted it')
}
