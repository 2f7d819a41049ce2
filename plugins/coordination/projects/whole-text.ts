/** One project, and one task of it, as text for terminals. */
import {
  array,
  commandLine,
  count,
  idWord,
  integer,
  jsonObject,
  namedLine,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Infer,
} from '../../../core/plugin.js'
import { LinkRow, MemberRow, ProjectRow, showLink, showMember, TaskRow } from './terminal.js'

const times = { created_at_ms: integer(), updated_at_ms: integer() }
const more = { description: optional(string()), metadata: optional(jsonObject()), ...times }

export const WholeProject = open({
  ...ProjectRow.schema,
  ...more,
  members: optional(array(MemberRow)),
  channel_links: optional(array(LinkRow)),
})
export const WholeTask = open({
  ...TaskRow.schema,
  ...more,
  project_id: string(),
  primary_session_id: optional(string()),
  blocked_by: optional(array(string())),
  discussion: optional(open({ channel_id: string(), thread_root_message_id: string() })),
  output: optional(string()),
})

const line = namedLine(12)
const timeLines = ({
  created_at_ms,
  updated_at_ms,
}: Infer<typeof WholeTask> | Infer<typeof WholeProject>): string[] => [
  ...line('made', showTime(created_at_ms)),
  ...line('changed', showTime(updated_at_ms)),
]
const below = (rows: readonly string[]): string[] => rows.map((row) => `    ${row}`)
const kept = (metadata: unknown): string | undefined => (metadata === undefined ? undefined : JSON.stringify(metadata))

export const showWholeTask = (task: Infer<typeof WholeTask>): string => {
  const { project_id, project_task_id, title, status, assignee_member_id, primary_session_id, discussion } = task
  const session = primary_session_id === undefined ? '' : `, in the session ${idWord(primary_session_id)}`
  return [
    `${idWord(project_task_id)}  ${visibleLine(status)}`,
    ...line('title', title),
    ...line('project', idWord(project_id)),
    ...line('done by', assignee_member_id === undefined ? 'nobody' : `${idWord(assignee_member_id)}${session}`),
    ...line('blocked by', task.blocked_by?.map(idWord).join(', ')),
    ...line('run', task.latest_run_id),
    ...line('channel', discussion && idWord(discussion.channel_id)),
    ...line('thread', discussion?.thread_root_message_id),
    ...timeLines(task),
    ...line('about', task.description),
    ...line('metadata', kept(task.metadata)),
    ...line('output', task.output),
    ...(status === 'completed' ? [] : line('next', commandLine('explain', `${project_id}:${project_task_id}`))),
  ].join('\n')
}

export const showWholeProject = (project: Infer<typeof WholeProject>): string => {
  const { project_id, members = [], channel_links: links = [], member_count, channel_count } = project
  const hidden = member_count - members.length
  return [
    `${idWord(project_id)}  ${visibleLine(project.status)}`,
    ...line('name', project.display_name),
    ...line('tasks', `${project.active_task_count} of ${count(project.task_count, 'task')} to do`),
    ...timeLines(project),
    ...line('about', project.description),
    ...line('metadata', kept(project.metadata)),
    `  ${count(member_count, 'member')}`,
    ...below(members.map(showMember)),
    ...(hidden > 0 ? below([`and ${hidden} more: ${commandLine('projects members list', project_id)}`]) : []),
    `  ${count(channel_count, 'channel')}`,
    ...below(links.map(showLink)),
    ...line('next', commandLine('projects tasks list', project_id)),
  ].join('\n')
}
