import {
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
import { Accepted, linkProblems, memberProblems, mirrorProblems, projectParams, projectPath } from './project-routes.js'
import { projectErrors } from './record/errors.js'
import { AnyId, bodyLimit, LinkDraft, MemberDraft } from './record/fields.js'
import { ProjectLink, ProjectMember, viewLink, viewMember } from './record/views.js'
import { putLink, removeLink } from './roster/links.js'
import { putMember, removeMember } from './roster/members.js'
import type { ProjectParts } from './roster/projects.js'

export const rosterRoutes = (parts: ProjectParts): readonly Route[] => [
  listMembers(parts),
  upsertMember(parts),
  deleteMember(parts),
  listLinks(parts),
  upsertLink(parts),
  deleteLink(parts),
]

const membersPath = `${projectPath}/members`
const linksPath = `${projectPath}/channels`

const listMembers = ({ store }: ProjectParts): Route =>
  defineRoute({
    id: 'projects.members.list',
    method: 'GET',
    path: membersPath,
    summary: 'Lists the members of a project by id.',
    access: 'read',
    params: projectParams,
    query: object(pageFields),
    reply: jsonReply(pageOf(ProjectMember)),
    problems: [projectErrors.project_not_found, ...pageProblems],
    handler: ({ params, query }) => {
      const { project_id } = store.get(params.project_id)
      const source = collectionSource(store.members, 'project', project_id)
      return listPage({ query, source, label: 'member_id_asc', view: viewMember, skip: store.skip })
    },
  })

const upsertMember = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.members.put',
    method: 'POST',
    path: membersPath,
    summary: 'Adds a member to a project, or replaces the one of this id.',
    access: 'admin',
    params: projectParams,
    body: MemberDraft,
    bodyLimit,
    reply: jsonReply(ProjectMember),
    problems: [projectErrors.project_not_found, projectErrors.project_member_in_use, ...memberProblems],
    durability: 'A',
    example: { body: { member_id: 'ada', member_kind: 'human_actor', display_name: 'Ada' } },
    handler: ({ params: { project_id }, body: draft }) =>
      parts.store.state.commit((tx) => viewMember(putMember(parts, tx, { project_id, draft }))),
  })

const deleteMember = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.members.delete',
    method: 'DELETE',
    path: `${membersPath}/:member_id`,
    summary: 'Takes a member out of a project.',
    access: 'admin',
    params: object({ project_id: AnyId, member_id: AnyId }),
    reply: jsonReply(Accepted),
    problems: [
      projectErrors.project_not_found,
      projectErrors.project_member_not_found,
      projectErrors.project_member_in_use,
      ...mirrorProblems,
    ],
    durability: 'A',
    handler: async ({ params }) => {
      await parts.store.state.commit((tx) => removeMember(parts, tx, params))
      return { accepted: true as const }
    },
  })

const listLinks = ({ store }: ProjectParts): Route =>
  defineRoute({
    id: 'projects.channels.list',
    method: 'GET',
    path: linksPath,
    summary: 'Lists the channels that a project links, in the order in which they were linked.',
    access: 'read',
    params: projectParams,
    query: object(pageFields),
    reply: jsonReply(pageOf(ProjectLink)),
    problems: [projectErrors.project_not_found, ...pageProblems],
    handler: ({ params, query }) => {
      const { project_id } = store.get(params.project_id)
      const source = collectionSource(store.links, 'project', project_id)
      return listPage({ query, source, label: 'link_asc', view: viewLink, skip: store.skip })
    },
  })

const upsertLink = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.channels.put',
    method: 'POST',
    path: linksPath,
    summary: 'Links a channel, or replaces what is said of the link.',
    access: 'admin',
    params: projectParams,
    body: LinkDraft,
    bodyLimit,
    reply: jsonReply(ProjectLink),
    problems: [projectErrors.project_not_found, ...linkProblems],
    durability: 'A',
    example: { body: { channel_id: 'garden', mirror_members: true } },
    handler: ({ params: { project_id }, body: draft }) =>
      parts.store.state.commit((tx) => viewLink(putLink(parts, tx, { project_id, draft }))),
  })

const deleteLink = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.channels.delete',
    method: 'DELETE',
    path: `${linksPath}/:channel_id`,
    summary: 'Takes the link to a channel away.',
    access: 'admin',
    params: object({ project_id: AnyId, channel_id: AnyId }),
    reply: jsonReply(Accepted),
    problems: [
      projectErrors.project_not_found,
      projectErrors.project_link_not_found,
      projectErrors.project_link_in_use,
      ...mirrorProblems,
    ],
    durability: 'A',
    handler: async ({ params }) => {
      await parts.store.state.commit((tx) => removeLink(parts, tx, params))
      return { accepted: true as const }
    },
  })
