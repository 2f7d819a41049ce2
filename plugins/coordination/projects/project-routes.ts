import {
  arraySource,
  collectionSource,
  createPause,
  defineRoute,
  doc,
  enums,
  holdsText,
  jsonReply,
  listPage,
  literal,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type PageSource,
  type Route,
} from '../../../core/plugin.js'
import { agentErrors } from '../../agents/sidechains/contract.js'
import { SessionId, sessionErrors } from '../../execution/sessions/contract.js'
import { channelErrors } from '../channels/contract.js'
import { projectErrors } from './record/errors.js'
import { AnyId, bodyLimit, createLimit, ProjectChange, ProjectDraft } from './record/fields.js'
import { projectStatuses, type ProjectRecord } from './record/record.js'
import { Project, viewProject } from './record/views.js'
import { createProject, deleteProject, updateProject, type ProjectParts } from './roster/projects.js'

export const projectParams = object({ project_id: AnyId })
export const projectPath = '/v1/projects/:project_id'
/** What is gone. */
export const Accepted = object({ accepted: literal(true) })

export const projectRoutes = (parts: ProjectParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  update(parts),
  remove(parts),
]

/** Projects that are looked at before others are served. */
const slice = 50

interface Filter {
  readonly query?: string | undefined
  readonly status?: ProjectRecord['status'] | undefined
  readonly member_session_id?: string | undefined
  readonly channel_id?: string | undefined
}

/** Projects in portions by id: those of a session, those that link a channel, or those in a status. */
function* portions({ store }: ProjectParts, filter: Filter): Generator<readonly ProjectRecord[]> {
  const { status, member_session_id: session_id, channel_id } = filter
  const list = (beyond: string | undefined): readonly string[] => {
    const range = { limit: slice, ...(beyond !== undefined && { beyond }) }
    if (session_id !== undefined) return store.membershipsOf(session_id, range).map(({ project_id }) => project_id)
    if (channel_id !== undefined)
      return store.links.list({ index: 'channel', group: channel_id, ...range }).map(({ project_id }) => project_id)
    return status === undefined
      ? store.projects.page({ index: 'all', group: 'all', ...range })
      : store.projects.page({ index: 'status', group: status, ...range })
  }
  for (let beyond: string | undefined; ;) {
    const ids = list(beyond)
    yield ids.flatMap((id) => store.projects.find(id) ?? [])
    beyond = ids.at(-1)
    if (ids.length < slice) return
  }
}

const holds = ({ project_id, display_name, description }: ProjectRecord, text: string): boolean =>
  holdsText(text, [project_id, display_name, description])

const matching = async (parts: ProjectParts, filter: Filter): Promise<PageSource<ProjectRecord>> => {
  const { query, status, channel_id } = filter
  const text = searchText(query)
  const found: ProjectRecord[] = []
  const pause = createPause(1)
  for (const some of portions(parts, filter)) {
    found.push(
      ...some.filter(
        (project) =>
          (status === undefined || project.status === status) &&
          (channel_id === undefined || parts.store.link(project.project_id, channel_id) !== undefined) &&
          holds(project, text),
      ),
    )
    await pause()
  }
  return arraySource(found, ({ project_id }) => project_id)
}

const sourceOf = ({ store, ...parts }: ProjectParts, filter: Filter) => {
  const { query = '', status, member_session_id, channel_id } = filter
  if (channel_id !== undefined) parts.channels.get(channel_id)
  const isPlain = query.trim() === '' && member_session_id === undefined && channel_id === undefined
  if (!isPlain) return matching({ store, ...parts }, filter)
  return status === undefined
    ? collectionSource(store.projects, 'all', 'all')
    : collectionSource(store.projects, 'status', status)
}

const list = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.list',
    method: 'GET',
    path: '/v1/projects',
    summary: 'Lists projects by id.',
    access: 'read',
    query: object({
      query: optional(doc(string({ max: 200 }), 'Only those whose id, name or description holds this text.')),
      status: optional(enums(projectStatuses)),
      member_session_id: optional(doc(SessionId, 'Only those that the session is a member of.')),
      channel_id: optional(doc(AnyId, 'Only those that link the channel.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(Project)),
    problems: [...pageProblems, channelErrors.channel_not_found],
    handler: async ({ query: { query, status, member_session_id, channel_id, ...page } }) =>
      listPage({
        query: page,
        source: await sourceOf(parts, { query, status, member_session_id, channel_id }),
        label: 'project_id_asc',
        view: (project) => viewProject(parts.store, project),
        skip: parts.store.skip,
      }),
  })

/** What every change of members and links may be refused for: it writes members to channels. */
export const mirrorProblems = [
  projectErrors.project_limit,
  channelErrors.channel_full,
  channelErrors.channel_invalid_request,
]
/** What a member or a link may be refused for. */
export const memberProblems = [
  projectErrors.project_invalid_request,
  projectErrors.project_session_twice,
  sessionErrors.session_not_found,
  agentErrors.agent_not_found,
  ...mirrorProblems,
]
export const linkProblems = [channelErrors.channel_not_found, ...mirrorProblems]

const create = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.create',
    method: 'POST',
    path: '/v1/projects',
    summary: 'Creates a project, with its members and the channels that it links.',
    access: 'admin',
    body: ProjectDraft,
    bodyLimit: createLimit,
    reply: jsonReply(Project, 201),
    problems: [projectErrors.project_exists, ...new Set([...memberProblems, ...linkProblems])],
    durability: 'A',
    example: { body: { project_id: 'garden', display_name: 'The garden' } },
    handler: ({ body }) =>
      parts.store.state.commit((tx) => {
        const { project_id } = createProject(parts, tx, body)
        return viewProject(parts.store, parts.store.get(project_id))
      }),
  })

const read = ({ store }: ProjectParts): Route =>
  defineRoute({
    id: 'projects.get',
    method: 'GET',
    path: projectPath,
    summary: 'Reads a project.',
    access: 'read',
    params: projectParams,
    reply: jsonReply(Project),
    problems: [projectErrors.project_not_found],
    handler: ({ params: { project_id } }) => viewProject(store, store.get(project_id)),
  })

const update = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.update',
    method: 'PUT',
    path: projectPath,
    summary: 'Replaces the members of a project that the body names.',
    access: 'admin',
    params: projectParams,
    body: ProjectChange,
    bodyLimit,
    reply: jsonReply(Project),
    problems: [projectErrors.project_not_found],
    durability: 'A',
    example: { body: { status: 'paused' } },
    handler: ({ params: { project_id }, body }) =>
      parts.store.state.commit((tx) =>
        viewProject(parts.store, updateProject(parts, tx, { project_id, change: body })),
      ),
  })

const remove = (parts: ProjectParts): Route =>
  defineRoute({
    id: 'projects.delete',
    method: 'DELETE',
    path: projectPath,
    summary: 'Deletes a project that has no tasks, with its members and links.',
    access: 'admin',
    params: projectParams,
    reply: jsonReply(Accepted),
    problems: [projectErrors.project_not_found, projectErrors.project_in_use],
    durability: 'A',
    handler: async ({ params: { project_id } }) => {
      await parts.store.state.commit((tx) => deleteProject(parts, tx, project_id))
      return { accepted: true as const }
    },
  })
