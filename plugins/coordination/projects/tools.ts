/** What models do with the tasks of their projects. */
import {
  array,
  boolean,
  doc,
  enums,
  object,
  optional,
  Problem,
  string,
  unsafeCast,
  type Clock,
  type Json,
  type Tx,
} from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import { projectErrors } from './record/errors.js'
import { mostBlockers, Title } from './record/fields.js'
import { isDone, projectTaskStatuses, type ProjectMemberRecord, type ProjectTaskRecord } from './record/record.js'
import { keyOf, statusGroup } from './record/store.js'
import { projectTaskErrors } from './record/task-errors.js'
import { viewTask } from './record/views.js'
import { requireActive, sessionMember } from './work/assignment.js'
import { createTask, newTask, type ChangeParts } from './work/changes.js'
import { caughtUp, cutTo } from './work/projection.js'
import { requireUnblocked } from './work/start.js'

/** Tasks and projects in one answer, and bytes of what came of a task in a list. */
const [mostTasks, mostProjects, mostOutput] = [50, 20, 400]
const looking = {
  effect: 'read',
  permission: 'allow',
  parallel: true,
  timeout_ms: 10_000,
  sandbox: 'read_only',
} as const
/** Made in the commit of the outcome: an interrupted call has done nothing. */
const own = {
  effect: 'idempotent',
  permission: 'allow',
  parallel: false,
  timeout_ms: 10_000,
  sandbox: 'read_only',
} as const

const ProjectId = doc(string({ min: 1, max: 400 }), 'The project, of which this session is a member.')
const TaskId = string({ min: 1, max: 400 })

export interface ToolParts extends ChangeParts {
  readonly clock: Clock
}

/** Who the session of a call is in a project. What it is no member of is not there for it. */
const selfIn = ({ store }: ToolParts, { session_id }: ToolCall, project_id: string): ProjectMemberRecord => {
  const member = store.memberOf(project_id, session_id)
  if (member === undefined) throw projectErrors.project_not_found({ details: { project_id } })
  return member
}

const told = (task: ProjectTaskRecord): Json => unsafeCast<Json>(viewTask(task))
/** As a row of a list. */
const row = ({ project_task_id, title, status, assignee_member_id, blocked_by, output }: ProjectTaskRecord): Json =>
  unsafeCast<Json>({
    project_task_id,
    title,
    status,
    assignee_member_id,
    blocked_by,
    output: output === undefined ? undefined : cutTo(output, mostOutput),
  })

/** Tries a change for what can be corrected, and makes it in the commit of the outcome, on what is true then. */
const changing = (change: (tx: Tx | undefined) => ProjectTaskRecord): ToolOutcome => {
  try {
    const task = change(undefined)
    return { type: 'result', output: { task: told(task) }, apply: (tx) => void change(tx) }
  } catch (error) {
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}

const projectsOf = ({ store }: ToolParts, { session_id }: ToolCall): Json => ({
  projects: store.membershipsOf(session_id, { limit: mostProjects }).map(({ project_id, member_id }) => {
    const { display_name, status } = store.get(project_id)
    return { project_id, display_name, status, you_are: member_id, ...store.counts(project_id) }
  }),
})

const list = (parts: ToolParts): Tool =>
  defineTool({
    ...looking,
    in_plan_mode: true,
    name: 'list_project_tasks',
    description:
      `Lists tasks of a project of this session, at most ${mostTasks} behind the task after_task_id, or all of one ` +
      'task. Without a project: the projects of this session.',
    input: object({
      project_id: optional(ProjectId),
      project_task_id: optional(doc(TaskId, 'Only this task, with all that is known of it.')),
      status: optional(enums(projectTaskStatuses)),
      mine: optional(doc(boolean(), 'Only those that are assigned to this session.')),
      after_task_id: optional(doc(TaskId, 'Where the list before ended.')),
    }),
    run: ({ project_id, project_task_id, status, mine, after_task_id }, call) => {
      if (project_id === undefined) return { type: 'result', output: projectsOf(parts, call) }
      const { store } = parts
      const { member_id } = selfIn(parts, call, project_id)
      if (project_task_id !== undefined)
        return { type: 'result', output: { task: told(store.getTask(project_id, project_task_id)) } }
      const [index, group] =
        mine === true
          ? ['assignee', keyOf(project_id, member_id)]
          : status === undefined
            ? ['project', project_id]
            : ['status', statusGroup(project_id, status)]
      const beyond = after_task_id === undefined ? {} : { beyond: after_task_id }
      const some = store.tasks.list({ index, group, limit: mostTasks, ...beyond })
      const tasks = some.filter((task) => status === undefined || task.status === status).map(row)
      const last = some.length < mostTasks ? undefined : some.at(-1)?.project_task_id
      return {
        type: 'result',
        output: { you_are: member_id, tasks, ...(last !== undefined && { more_behind: last }) },
      }
    },
  })

/** A task that is free or that of the member already. */
const free = (task: ProjectTaskRecord, { member_id }: ProjectMemberRecord): ProjectTaskRecord => {
  const { project_id, project_task_id, status, assignee_member_id = member_id } = task
  if (assignee_member_id !== member_id)
    throw projectTaskErrors.project_task_of_another({ details: { project_task_id, member_id: assignee_member_id } })
  if (isDone(status))
    throw projectTaskErrors.project_task_terminal({ details: { project_id, project_task_id, status } })
  return task
}

const claim = (parts: ToolParts): Tool =>
  defineTool({
    ...own,
    name: 'claim_project_task',
    description:
      'Takes a task of a project for this session, and says that it is in progress. Only a task that is assigned to ' +
      'nobody or to you, and whose dependencies are completed.',
    input: object({ project_id: ProjectId, project_task_id: TaskId }),
    run: ({ project_id, project_task_id }, call) =>
      changing((tx) => {
        const { store } = parts
        const self = selfIn(parts, call, project_id)
        const task = free(caughtUp(parts.runs, store.getTask(project_id, project_task_id)), self)
        requireActive(store, project_id)
        requireUnblocked(store, task)
        const next = { ...task, ...sessionMember(store, project_id, self.member_id), status: 'in_progress' as const }
        return tx === undefined ? next : store.putTask(tx, next)
      }),
  })

const agentStatuses = ['in_progress', 'blocked', 'completed', 'failed'] as const

const update = (parts: ToolParts): Tool =>
  defineTool({
    ...own,
    name: 'update_project_task',
    description:
      'Says how a task stands that is assigned to this session, and what came of it. A blocked one no longer follows ' +
      'from the run that was started for it.',
    input: object({
      project_id: ProjectId,
      project_task_id: TaskId,
      status: optional(enums(agentStatuses)),
      output: optional(doc(string({ max: 32_768 }), 'What came of it.')),
    }),
    run: ({ project_id, project_task_id, status, output }, call) =>
      changing((tx) => {
        const { store } = parts
        const self = selfIn(parts, call, project_id)
        const task = caughtUp(parts.runs, store.getTask(project_id, project_task_id))
        if (task.assignee_member_id === undefined)
          throw projectTaskErrors.project_task_not_assigned({ details: { project_id, project_task_id } })
        const { latest_run_id: _, follows: __, ...rest } = free(task, self)
        if (status === 'in_progress' || status === 'completed') requireUnblocked(store, task)
        const next: ProjectTaskRecord = {
          ...(status === 'blocked' ? rest : task),
          ...(status !== undefined && { status }),
          ...(output !== undefined && { output }),
        }
        return tx === undefined ? next : store.putTask(tx, next)
      }),
  })

const create = (parts: ToolParts): Tool =>
  defineTool({
    ...own,
    name: 'create_project_task',
    description: 'Adds a task to a project of this session. Nobody begins it before it is claimed or started.',
    input: object({
      project_id: ProjectId,
      title: Title,
      description: optional(doc(string({ max: 20_000 }), 'What is to be done.')),
      assignee_member_id: optional(doc(string({ min: 1, max: 400 }), 'The member that is to do it.')),
      blocked_by: optional(doc(array(TaskId, { max: mostBlockers }), 'Tasks that must be completed before.')),
    }),
    run: ({ project_id, ...draft }, call) => {
      const metadata = { created_by_session_id: call.session_id, created_by_run_id: call.run_id }
      const wanted = {
        project_id,
        draft: { ...draft, project_task_id: parts.ids.make('project_task'), status: 'pending' as const, metadata },
      }
      return changing((tx) => {
        selfIn(parts, call, project_id)
        return tx === undefined ? newTask(parts, wanted, parts.clock.now()) : createTask(parts, tx, wanted)
      })
    },
  })

export const projectToolNames: ReadonlySet<string> = new Set([
  'list_project_tasks',
  'claim_project_task',
  'update_project_task',
  'create_project_task',
])
export const projectTools = (parts: ToolParts): readonly Tool[] => [
  list(parts),
  claim(parts),
  update(parts),
  create(parts),
]
