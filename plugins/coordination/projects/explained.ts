/** What a run is there for, where a project and a task of it are, and what they wait for. */
import { commandLine, count } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import { isDone, type ProjectRecord, type ProjectTaskRecord } from './record/record.js'
import type { ProjectStore } from './record/store.js'
import { control, controlFault } from './work/control.js'
import { placeOf, type PlaceParts } from './work/start.js'

/** Tasks that are named of one run, of a task, and of a project. */
const [mostNamed, mostBlockers, mostOpen] = [3, 20, 20]

/** A task is named by its project, a colon and its id: no id of a project holds a colon (projects-1). */
const nameOf = (project_id: string, project_task_id: string): string => `${project_id}:${project_task_id}`
const named = (store: ProjectStore, name: string): ProjectTaskRecord | undefined => {
  const at = name.indexOf(':')
  return at < 0 ? undefined : store.task(name.slice(0, at), name.slice(at + 1))
}

const said = (text: string): string => JSON.stringify(text)
const get = ({ project_id, project_task_id }: ProjectTaskRecord): string =>
  commandLine('projects tasks get', project_id, project_task_id)

const runReasons = ({ tasks, projects }: ProjectStore, run_id: string): readonly Reason[] =>
  tasks.count('run', run_id) === 0
    ? []
    : tasks
        .list({ index: 'run', group: run_id, limit: mostNamed })
        .filter(({ follows }) => follows === true)
        .map((task) => {
          const { project_id, title } = task
          const name = projects.find(project_id)?.display_name
          const which = name === undefined ? project_id : `${project_id} (${said(name)})`
          return {
            code: 'project_task',
            text: `It does the task ${said(title)} of the project ${which}, which follows it.`,
            commands: [get(task)],
          }
        })

const blockedReasons = (store: ProjectStore, { project_id, blocked_by = [] }: ProjectTaskRecord): readonly Reason[] =>
  blocked_by
    .flatMap((id) => store.task(project_id, id) ?? [])
    .filter(({ status }) => status !== 'completed')
    .slice(0, mostBlockers)
    .map((task) => ({
      code: 'task_waits',
      text: `It waits for the task ${said(task.title)}, which is ${task.status}.`,
      commands: [get(task)],
      leads_to: [nameOf(project_id, task.project_task_id)],
    }))

const notActive = (project_id: string): Pick<Reason, 'code' | 'commands'> => ({
  code: 'project_not_active',
  commands: [commandLine('projects update --status active', project_id)],
})

/** Where a start would open the thread of a task, and cannot. */
const channelReasons = (parts: PlaceParts, task: ProjectTaskRecord): readonly Reason[] => {
  const { channel_id, thread_root_message_id } = placeOf(parts, task) ?? {}
  if (channel_id === undefined || thread_root_message_id !== undefined) return []
  const fault = controlFault(parts.channels, channel_id)
  if (fault === undefined) return []
  const which = said(channel_id)
  if (fault === 'full')
    return [
      {
        code: 'task_channel_full',
        text: `The channel ${which}, where its thread is to be, has no room for the member ${control.member_id}.`,
        commands: [commandLine('channels members remove', channel_id, 'MEMBER')],
      },
    ]
  return [
    {
      code: 'task_control_taken',
      text: `In the channel ${which}, where its thread is to be, somebody else is the member ${control.member_id}.`,
      commands: [commandLine('channels members remove', channel_id, control.member_id)],
    },
  ]
}

/** What a start of a task would be refused for. */
const heldReasons = (parts: PlaceParts, task: ProjectTaskRecord): readonly Reason[] => {
  const { store } = parts
  const { project_id, project_task_id, assignee_member_id } = task
  const { status } = store.get(project_id)
  const reasons: Reason[] = [...blockedReasons(store, task)]
  if (status !== 'active')
    reasons.push({ ...notActive(project_id), text: `Its project is ${status}: no task of it is started.` })
  if (assignee_member_id === undefined)
    reasons.push({
      code: 'task_not_assigned',
      text: 'It is assigned to nobody.',
      commands: [commandLine('projects tasks update --assignee MEMBER', project_id, project_task_id)],
    })
  return [...reasons, ...channelReasons(parts, task)]
}

const startOf = ({ project_id, project_task_id }: ProjectTaskRecord): string =>
  commandLine('projects tasks start', project_id, project_task_id)

/** Of a task that is not done and that no run does. */
const idleReasons = (parts: PlaceParts, task: ProjectTaskRecord): readonly Reason[] => {
  const { status, latest_run_id: before } = task
  const held = heldReasons(parts, task)
  if (held.length > 0) return held
  const pending =
    before === undefined ? 'Nobody has started it.' : 'It was opened again, and nobody has started it since.'
  // Agents that claim a task, and people, say how it stands without a run.
  const text = status === 'pending' ? pending : `It is called ${status}, and no run does it.`
  const leads_to = before === undefined ? {} : { leads_to: [before] }
  return [{ code: 'task_not_started', text, commands: [startOf(task)], ...leads_to }]
}

/** Of a task that failed or was cancelled: it stays so until somebody opens it again. */
const endedReasons = (parts: PlaceParts, task: ProjectTaskRecord): readonly Reason[] => {
  const { project_id, project_task_id, status, latest_run_id } = task
  const held = heldReasons(parts, task)
  const how = status === 'failed' ? 'failed' : 'was cancelled'
  const still = latest_run_id === undefined ? '' : ', also when its run is retried,'
  return [
    {
      code: 'task_not_completed',
      text: `It ${how}, and stays so${still} until it is opened again.`,
      commands: [
        commandLine('projects tasks update --status pending', project_id, project_task_id),
        ...(held.length === 0 ? [startOf(task)] : []),
      ],
      ...(latest_run_id !== undefined && { leads_to: [latest_run_id] }),
    },
    ...held,
  ]
}

const taskReasons = (parts: PlaceParts, task: ProjectTaskRecord): readonly Reason[] => {
  const { follows, latest_run_id, status } = task
  if (follows === true && latest_run_id !== undefined)
    return [{ code: 'task_run', text: 'A run does it.', leads_to: [latest_run_id], commands: [get(task)] }]
  if (status === 'completed') return []
  return isDone(status) ? endedReasons(parts, task) : idleReasons(parts, task)
}

/** What keeps a project as a whole; what its open tasks wait for they say themselves. */
const wholeReasons = (store: ProjectStore, { project_id, status }: ProjectRecord): readonly Reason[] => {
  const { task_count, active_task_count } = store.counts(project_id)
  if (status !== 'active') return [{ ...notActive(project_id), text: `It is ${status}: no task of it is started.` }]
  if (task_count === 0)
    return [
      {
        code: 'no_tasks',
        text: 'It has no tasks.',
        commands: [commandLine('projects tasks create', project_id, 'TITLE')],
      },
    ]
  if (active_task_count <= mostOpen) return []
  return [
    {
      code: 'more_tasks',
      text: `${count(active_task_count, 'task')} of it are not done, of which ${mostOpen} are shown.`,
      commands: [commandLine('projects tasks list', project_id)],
    },
  ]
}

export const projectReasons = (parts: PlaceParts): ReasonSource => ({
  id: 'projects',
  of({ kind, id }) {
    const { store } = parts
    if (kind === 'run') return runReasons(store, id)
    if (kind === 'project') return wholeReasons(store, store.get(id))
    const task = kind === 'task' ? named(store, id) : undefined
    return task === undefined ? [] : taskReasons(parts, task)
  },
})

const taskSubject = (task: ProjectTaskRecord): Subject => {
  const { project_id, project_task_id, title, status, primary_session_id } = task
  return {
    kind: 'task',
    id: nameOf(project_id, project_task_id),
    status,
    text: `It is the task ${said(title)} of the project ${project_id}.`,
    ...(primary_session_id !== undefined && { session_id: primary_session_id }),
  }
}

const projectSubject = (store: ProjectStore, { project_id, display_name, status }: ProjectRecord): Subject => {
  const { task_count, active_task_count } = store.counts(project_id)
  return {
    kind: 'project',
    id: project_id,
    status,
    text: `It is the project ${said(display_name)}; ${active_task_count} of ${count(task_count, 'task')} not done.`,
    parts: store.tasks
      .list({ index: 'open', group: project_id, limit: mostOpen })
      .map((task) => nameOf(project_id, task.project_task_id)),
  }
}

/** How a project is named where a session or a channel has its id, too. */
const prefix = 'project:'

export const projectSubjects = (store: ProjectStore): SubjectSource => ({
  id: 'projects',
  find(id) {
    const task = named(store, id)
    if (task !== undefined) return taskSubject(task)
    const project = store.projects.find(id.startsWith(prefix) ? id.slice(prefix.length) : id)
    return project && projectSubject(store, project)
  },
})
