/** Tasks of projects from the command line. */
import {
  defineCommand,
  listedRows,
  open,
  pageFlags,
  readRows,
  showRows,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type JsonObject,
} from '../../../core/plugin.js'
import { projectTaskStatuses } from './record/record.js'
import {
  bodyOf,
  fieldsOf,
  filtered,
  Gone,
  metadataFlag,
  metadataOf,
  partOf,
  pathOf,
  remove,
  rowsOf,
  showTask,
  TaskRow,
} from './terminal.js'
import { showWholeTask, WholeTask } from './whole-text.js'

const filters = { query: 'query', status: 'status', assignee: 'assignee_member_id' }
const shared = {
  description: 'description',
  status: 'status',
  assignee: 'assignee_member_id',
  channel: 'discussion_channel_id',
  thread: 'discussion_thread_root_message_id',
  run: 'latest_run_id',
  result: 'output',
}
const changed = {
  title: 'title',
  ...shared,
  'clear-assignee': 'clear_assignment',
  'clear-thread': 'clear_discussion',
  'clear-result': 'clear_output',
}
const flags = {
  description: { kind: 'text', summary: 'What is to be done.' },
  status: { kind: 'text', summary: 'How it stands.' },
  assignee: { kind: 'text', value: 'member_id', summary: 'The member that does it.' },
  channel: { kind: 'text', value: 'channel_id', summary: 'With --thread: where it is discussed.' },
  thread: { kind: 'text', value: 'message_id', summary: 'With --channel: the message that opens the thread.' },
  'blocked-by': {
    kind: 'text',
    value: 'task_id',
    several: true,
    summary: 'A task that must be completed before; may be given again.',
  },
  run: { kind: 'text', value: 'run_id', summary: 'A run of the assignee that has ended and did it.' },
  result: { kind: 'text', summary: 'What came of it.' },
  ...metadataFlag,
} as const
const statuses = { status: projectTaskStatuses }
const words = { ...fieldsOf(shared), 'body.blocked_by': '--blocked-by' }
const args = ['project_id', 'task_id']
const at = (input: CommandInput): string => partOf(input, 'tasks', 'task_id')

const blockers = (input: CommandInput): JsonObject => {
  const ids = input.all('blocked-by')
  return ids.length === 0 ? {} : { blocked_by: ids }
}

export const taskCommands: readonly Command[] = [
  defineCommand({
    path: ['projects', 'tasks', 'list'],
    route: 'GET /v1/projects/{project_id}/tasks',
    summary: 'Tasks of a project by id.',
    args: ['project_id'],
    flags: {
      query: { kind: 'text', summary: 'Only those whose id, title, description or result holds this text.' },
      status: { kind: 'text', summary: 'Only those in this status.' },
      assignee: { kind: 'text', value: 'member_id', summary: 'Only those of this member.' },
      ...pageFlags,
    },
    choices: statuses,
    fields: { 'query.assignee_member_id': '--assignee' },
    run: (input) => readRows(input, filtered(input, pathOf(input, '/tasks'), filters)),
    answer: listedRows(TaskRow),
    show: showRows(rowsOf(showTask, 'The project has no tasks.')),
  }),
  defineCommand({
    path: ['projects', 'tasks', 'get'],
    route: 'GET /v1/projects/{project_id}/tasks/{task_id}',
    summary: 'One task of a project.',
    args,
    run: (input) => input.client.get(at(input)),
    answer: WholeTask,
    show: showWholeTask,
  }),
  defineCommand({
    path: ['projects', 'tasks', 'create'],
    route: 'POST /v1/projects/{project_id}/tasks',
    summary: 'Adds a task to a project.',
    args: ['project_id', 'title'],
    flags: { id: { kind: 'text', summary: 'Its id; made by the daemon when absent.' }, ...flags },
    choices: statuses,
    fields: { ...words, 'body.title': '<title>', 'body.project_task_id': '--id' },
    run: async (input) =>
      input.client.send('POST', pathOf(input, '/tasks'), {
        title: input.args['title'] ?? '',
        ...bodyOf(input, { ...shared, id: 'project_task_id' }),
        ...blockers(input),
        ...(await metadataOf(input)),
      }),
    answer: TaskRow,
    show: showTask,
  }),
  defineCommand({
    path: ['projects', 'tasks', 'update'],
    route: 'PUT /v1/projects/{project_id}/tasks/{task_id}',
    summary: 'Changes what is named of a task.',
    args,
    flags: {
      title: { kind: 'text', summary: 'What is to be done, in a few words.' },
      ...flags,
      'clear-assignee': { kind: 'switch', summary: 'Nobody does it any more.' },
      'clear-thread': { kind: 'switch', summary: 'It is discussed nowhere any more.' },
      'clear-result': { kind: 'switch', summary: 'What came of it is forgotten.' },
      'clear-blocked-by': { kind: 'switch', summary: 'It waits for no task any more.' },
    },
    oneOf: [...Object.keys(changed), 'blocked-by', 'clear-blocked-by', 'metadata'].map((name) => `--${name}`),
    choices: statuses,
    fields: { ...words, ...fieldsOf(changed) },
    run: async (input) =>
      input.client.send('PUT', at(input), {
        ...bodyOf(input, changed),
        ...(input.flags['clear-blocked-by'] === true && { blocked_by: [] }),
        ...blockers(input),
        ...(await metadataOf(input)),
      }),
    answer: TaskRow,
    show: showTask,
  }),
  defineCommand({
    path: ['projects', 'tasks', 'start'],
    route: 'POST /v1/projects/{project_id}/tasks/{task_id}/start',
    summary: 'Starts a task: a run of the session of its assignee.',
    args,
    flags: {
      provider: { kind: 'text', summary: "The route of the run; the session's own when absent." },
      model: { kind: 'text', summary: 'The model of the run.' },
      kickoff: { kind: 'text', summary: 'What its thread is opened with; made by the daemon when absent.' },
      'idempotency-key': { kind: 'text', summary: 'The same line with the same key gives the same run.' },
      ...metadataFlag,
    },
    fields: { 'body.kickoff_message': '--kickoff', 'header.idempotency-key': '--idempotency-key' },
    run: async (input) => {
      const key = input.flags['idempotency-key']
      const body = {
        ...bodyOf(input, { provider: 'provider', model: 'model', kickoff: 'kickoff_message' }),
        ...(await metadataOf(input)),
      }
      const headers = typeof key === 'string' ? { 'idempotency-key': key } : {}
      return input.client.send('POST', `${at(input)}/start`, body, headers)
    },
    answer: open({ run_id: string(), status: string() }),
    show: ({ run_id, status }) => `${visibleLine(run_id)}  ${visibleLine(status)}`,
  }),
  defineCommand({
    path: ['projects', 'tasks', 'delete'],
    route: 'DELETE /v1/projects/{project_id}/tasks/{task_id}',
    summary: 'Deletes a task that no other one is blocked by.',
    args,
    run: remove(at),
    answer: Gone,
    show: () => 'The task is deleted.',
  }),
]
