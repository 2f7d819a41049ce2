import {
  collectionSource,
  defineRoute,
  doc,
  enums,
  filteredSource,
  fingerprint,
  holdsText,
  idempotencyKey,
  IdempotencyKey,
  jsonReply,
  listPage,
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
import { runErrors, RunView, submitProblems } from '../../execution/runs/contract.js'
import { sessionErrors } from '../../execution/sessions/contract.js'
import { channelErrors } from '../channels/contract.js'
import { Accepted, projectParams, projectPath } from './project-routes.js'
import { projectErrors } from './record/errors.js'
import { AnyId, bodyLimit, MetadataObject, TaskChange, TaskDraft } from './record/fields.js'
import { projectTaskStatuses, type ProjectTaskRecord } from './record/record.js'
import { keyOf, statusGroup } from './record/store.js'
import { projectTaskErrors } from './record/task-errors.js'
import { ProjectTask, viewTask } from './record/views.js'
import { createTask, deleteTask, updateTask, type ChangeParts } from './work/changes.js'
import { startTask } from './work/start.js'

const tasksPath = `${projectPath}/tasks`
const taskPath = `${tasksPath}/:task_id`
const params = object({ project_id: AnyId, task_id: AnyId })
const unknown = [projectErrors.project_not_found, projectTaskErrors.project_task_not_found]

export const taskRoutes = (parts: ChangeParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  update(parts),
  remove(parts),
  start(parts),
]

interface Filter {
  readonly query: string
  readonly status?: ProjectTaskRecord['status'] | undefined
  readonly assignee_member_id?: string | undefined
}

/** Those that one index gives. */
const base = ({ store }: ChangeParts, project_id: string, { status, assignee_member_id }: Filter) =>
  assignee_member_id !== undefined
    ? collectionSource(store.tasks, 'assignee', keyOf(project_id, assignee_member_id))
    : status !== undefined
      ? collectionSource(store.tasks, 'status', statusGroup(project_id, status))
      : collectionSource(store.tasks, 'project', project_id)

const holds = ({ project_task_id, title, description, output }: ProjectTaskRecord, text: string): boolean =>
  holdsText(text, [project_task_id, title, description, output])

const sourceOf = async (
  parts: ChangeParts,
  project_id: string,
  filter: Filter,
): Promise<PageSource<ProjectTaskRecord>> => {
  const source = base(parts, project_id, filter)
  const { query, status, assignee_member_id } = filter
  const text = searchText(query)
  const isPlain = text === '' && (status === undefined || assignee_member_id === undefined)
  if (isPlain) return source
  const fits = (task: ProjectTaskRecord): boolean =>
    (status === undefined || task.status === status) && holds(task, text)
  return filteredSource(source, fits, parts.store.skip)
}

const list = (parts: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.list',
    method: 'GET',
    path: tasksPath,
    summary: 'Lists the tasks of a project by id.',
    access: 'read',
    params: projectParams,
    query: object({
      query: optional(doc(string({ max: 200 }), 'Only those whose id, title, description or output holds this text.')),
      status: optional(enums(projectTaskStatuses)),
      assignee_member_id: optional(doc(AnyId, 'Only those of this member.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(ProjectTask)),
    problems: [projectErrors.project_not_found, ...pageProblems],
    handler: async ({ params: { project_id }, query: { query = '', status, assignee_member_id, ...page } }) => {
      parts.store.get(project_id)
      return listPage({
        query: page,
        source: await sourceOf(parts, project_id, { query, status, assignee_member_id }),
        label: 'project_task_id_asc',
        view: viewTask,
        skip: parts.store.skip,
      })
    },
  })

const changeProblems = [
  projectErrors.project_invalid_request,
  projectErrors.project_member_not_found,
  projectErrors.project_channel_not_linked,
  projectTaskErrors.project_task_not_found,
  projectTaskErrors.project_task_assignee_invalid,
  projectTaskErrors.project_task_self_dependency,
  projectTaskErrors.project_task_dependency_cycle,
  projectTaskErrors.project_task_run_invalid,
  sessionErrors.session_not_found,
  agentErrors.agent_not_found,
  channelErrors.channel_message_not_found,
  runErrors.run_not_found,
  runErrors.run_expired,
]

const create = (parts: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.create',
    method: 'POST',
    path: tasksPath,
    summary: 'Adds a task to a project that is active.',
    access: 'admin',
    params: projectParams,
    body: TaskDraft,
    bodyLimit,
    reply: jsonReply(ProjectTask, 201),
    problems: [
      projectErrors.project_not_found,
      projectErrors.project_not_active,
      projectErrors.project_limit,
      projectTaskErrors.project_task_exists,
      ...changeProblems,
    ],
    durability: 'A',
    example: { body: { project_task_id: 'beds', title: 'Dig the beds' } },
    handler: ({ params: { project_id }, body: draft }) =>
      parts.store.state.commit((tx) => viewTask(createTask(parts, tx, { project_id, draft }))),
  })

const read = ({ store }: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.get',
    method: 'GET',
    path: taskPath,
    summary: 'Reads a task of a project.',
    access: 'read',
    params,
    reply: jsonReply(ProjectTask),
    problems: unknown,
    handler: ({ params: { project_id, task_id } }) => viewTask(store.getTask(project_id, task_id)),
  })

const update = (parts: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.update',
    method: 'PUT',
    path: taskPath,
    summary: 'Replaces the members of a task that the body names.',
    access: 'admin',
    params,
    body: TaskChange,
    bodyLimit,
    reply: jsonReply(ProjectTask),
    problems: [
      projectErrors.project_not_found,
      projectTaskErrors.project_task_run_active,
      projectTaskErrors.project_task_output_derived,
      ...changeProblems,
    ],
    durability: 'A',
    example: { body: { status: 'completed' } },
    handler: ({ params: { project_id, task_id }, body: change }) =>
      parts.store.state.commit((tx) =>
        viewTask(updateTask(parts, tx, { task: parts.store.getTask(project_id, task_id), change })),
      ),
  })

const remove = (parts: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.delete',
    method: 'DELETE',
    path: taskPath,
    summary: 'Deletes a task that no other one is blocked by and whose run, if it has one, is over.',
    access: 'admin',
    params,
    reply: jsonReply(Accepted),
    problems: [...unknown, projectTaskErrors.project_task_in_use, projectTaskErrors.project_task_run_active],
    durability: 'A',
    handler: async ({ params: { project_id, task_id } }) => {
      const { store } = parts
      await store.state.commit((tx) => deleteTask(parts, tx, store.getTask(project_id, task_id)))
      return { accepted: true as const }
    },
  })

const start = (parts: ChangeParts): Route =>
  defineRoute({
    id: 'projects.tasks.start',
    method: 'POST',
    path: `${taskPath}/start`,
    summary: 'Starts a task: a run of the session of its assignee, which is executed when its turn comes.',
    access: 'admin',
    params,
    body: object({
      idempotency_key: IdempotencyKey,
      provider: optional(doc(string({ min: 1, max: 200 }), "Route for the run; the session's own when absent.")),
      model: optional(string({ min: 1, max: 200 })),
      kickoff_message: optional(
        doc(string({ max: 20_000 }), 'What the thread of the task is opened with; made by the daemon when absent.'),
      ),
      metadata: optional(doc(MetadataObject, 'Kept with the run as operator_metadata.')),
    }),
    bodyOptional: true,
    idempotent: true,
    bodyLimit,
    reply: jsonReply(RunView, 202),
    problems: startProblems,
    durability: 'A',
    example: { body: { kickoff_message: 'Let us dig.' } },
    handler: async ({ params, body: { idempotency_key, ...wish }, idempotencyKey: header, hashes, caller }) => {
      const { project_id, task_id: project_task_id } = params
      const key = idempotencyKey(header, idempotency_key)
      const scope = `projects.tasks.start:${keyOf(project_id, project_task_id)}`
      const receipt = key === undefined ? undefined : { scope, key, digest: fingerprint(wish, hashes) }
      return parts.runs.view(await startTask(parts, { project_id, project_task_id, wish, receipt }), caller)
    },
  })

const startProblems = [
  ...unknown,
  projectErrors.project_not_active,
  projectErrors.project_member_not_found,
  projectTaskErrors.project_task_terminal,
  projectTaskErrors.project_task_run_active,
  projectTaskErrors.project_task_waits,
  projectTaskErrors.project_task_not_assigned,
  projectTaskErrors.project_task_assignee_invalid,
  projectTaskErrors.project_task_changed,
  projectTaskErrors.project_control_taken,
  channelErrors.channel_full,
  channelErrors.channel_invalid_request,
  ...submitProblems,
]
