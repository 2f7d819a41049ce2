/** Projects as text for terminals, and what commands of projects share. */
import {
  boolean,
  count,
  integer,
  open,
  optional,
  string,
  visibleLine,
  type CommandInput,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'

export const ProjectRow = open({
  project_id: string(),
  display_name: string(),
  status: string(),
  member_count: integer(),
  channel_count: integer(),
  task_count: integer(),
  active_task_count: integer(),
})
export const MemberRow = open({
  member_id: string(),
  member_kind: string(),
  display_name: string(),
  session_id: optional(string()),
  role: optional(string()),
})
export const LinkRow = open({
  channel_id: string(),
  default_for_new_tasks: boolean(),
  mirror_members: boolean(),
  role: optional(string()),
})
export const TaskRow = open({
  project_task_id: string(),
  title: string(),
  status: string(),
  assignee_member_id: optional(string()),
  latest_run_id: optional(string()),
})

const lineOf = (parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part === undefined || part === '' ? [] : [visibleLine(part)])).join('  ')

export const showProject = (project: Infer<typeof ProjectRow>): string =>
  lineOf([
    project.project_id,
    project.status.padEnd(9),
    project.display_name,
    count(project.member_count, 'member'),
    count(project.channel_count, 'channel'),
    `${project.active_task_count} of ${count(project.task_count, 'task')} to do`,
  ])
export const showMember = ({
  member_id,
  member_kind,
  display_name,
  session_id,
  role,
}: Infer<typeof MemberRow>): string =>
  lineOf([member_id, member_kind, display_name, session_id === member_id ? undefined : session_id, role])
export const showLink = ({ channel_id, default_for_new_tasks, mirror_members, role }: Infer<typeof LinkRow>): string =>
  lineOf([channel_id, default_for_new_tasks ? 'default' : '', mirror_members ? 'mirrors members' : '', role])
export const showTask = ({
  project_task_id,
  status,
  title,
  assignee_member_id,
  latest_run_id,
}: Infer<typeof TaskRow>): string =>
  lineOf([project_task_id, status.padEnd(11), title, assignee_member_id, latest_run_id])

/** Rows, or a sentence where there are none. */
export const rowsOf =
  <T>(show: (row: T) => string, none: string) =>
  (rows: T[]): string =>
    rows.length === 0 ? none : rows.map(show).join('\n')

/** The address of what the arguments name. */
export const pathOf = ({ args }: CommandInput, rest = ''): string =>
  `/v1/projects/${encodeURIComponent(args['project_id'] ?? '')}${rest}`
export const partOf = (input: CommandInput, part: string, arg: string): string =>
  pathOf(input, `/${part}/${encodeURIComponent(input.args[arg] ?? '')}`)

/** Members of a body from the flags that were given. */
export const bodyOf = ({ flags }: CommandInput, fields: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([flag, field]) => (flags[flag] === undefined ? [] : [[field, flags[flag]]])),
  )
/** A body that says what each flag stands for. */
export const fieldsOf = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([flag, field]) => [`body.${field}`, `--${flag}`]))
export const metadataOf = async (input: CommandInput): Promise<JsonObject> => {
  const metadata = await input.json('metadata')
  return metadata === undefined ? {} : { metadata }
}
export const metadataFlag = {
  metadata: { kind: 'text', value: 'json', summary: 'An object that is kept with it.' },
} as const

/** A list path with those filters that were given. */
export const filtered = (input: CommandInput, path: string, filters: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams()
  for (const [flag, field] of Object.entries(filters)) {
    const value = input.flags[flag]
    if (typeof value === 'string') query.set(field, value)
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`
}

export const Gone = open({ accepted: boolean() })
/** What is deleted or taken away. */
export const remove =
  (path: (input: CommandInput) => string) =>
  (input: CommandInput): Promise<Json> =>
    input.client.send('DELETE', path(input))
