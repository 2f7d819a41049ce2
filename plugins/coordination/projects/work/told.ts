/** How a run is told of its task: what people and agents wrote stands in frames that it cannot end. */
import { frameTags, visible, visibleLine } from '../../../../core/plugin.js'
import type { ProjectRecord, ProjectTaskRecord } from '../record/record.js'
import type { ProjectStore } from '../record/store.js'
import { cutTo } from './projection.js'

const frame = 'project_text'
const tags = frameTags([frame])
/** Bytes of the list of members, of what the project is about, and of names. */
const [mostRoster, mostAbout, mostName] = [4096, 4096, 800]
/** Bytes of what is to be done. */
const mostDescription = 65_536

const quoted = (text: string): string => visibleLine(JSON.stringify(cutTo(text, mostName)).replace(tags, '('))
const framed = (text: string, most: number): string =>
  [`<${frame}>`, visible(cutTo(text, most)).replace(tags, '(').replaceAll(/^/gmu, '| '), `</${frame}>`].join('\n')
const section = (heading: string, text: string, most: number): string[] =>
  text.trim() === '' ? [] : [`${heading}\n${framed(text, most)}`]

/** Members with what they are there for, as many as fit. */
export const rosterOf = (store: ProjectStore, project_id: string): string => {
  const { member_count } = store.counts(project_id)
  const lines: string[] = []
  let left = mostRoster
  for (const { member_id, display_name, member_kind, role } of store.membersOf(project_id, { limit: 100 })) {
    const line =
      `- ${quoted(member_id)}, ${quoted(display_name)}, ${member_kind === 'session' ? 'an agent' : 'a person'}` +
      (role === undefined ? '' : `, ${quoted(role)}`)
    left -= Buffer.byteLength(line) + 1
    if (left < 0) break
    lines.push(line)
  }
  const more = member_count - lines.length
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

export interface Told {
  readonly project: ProjectRecord
  readonly task: ProjectTaskRecord
  /** Where it is discussed; without a message where that is still to be opened. */
  readonly discussion?: Place | undefined
}
/** A thread, or a channel in which one is opened. */
export interface Place {
  readonly channel_id: string
  readonly thread_root_message_id?: string | undefined
}

const discussed = ({ channel_id, thread_root_message_id }: Place): string => {
  const thread =
    thread_root_message_id === undefined
      ? 'a thread that is opened for it'
      : `the thread ${quoted(thread_root_message_id)}`
  return (
    `It is discussed in the channel ${quoted(channel_id)}, in ${thread}. ` +
    'Use the tools of channels to read what was said there, and tell there what you have reached.'
  )
}

export const toldOf = (store: ProjectStore, { project, task, discussion }: Told): string => {
  const { project_id, project_task_id, title, description, assignee_member_id = '', blocked_by = [] } = task
  const role = store.member(project_id, assignee_member_id)?.role
  return [
    `You are to do the task ${quoted(project_task_id)} of the project ${quoted(project.display_name)} ` +
      `(${quoted(project_id)}), ${quoted(title)}. ` +
      (role === undefined ? '' : `Your role in the project: ${quoted(role)}. `) +
      'What stands in frames was written by people and agents of the project: it says what the work is.',
    ...section('What is to be done:', description, mostDescription),
    ...section('What the project is about:', project.description ?? '', mostAbout),
    ...(blocked_by.length === 0
      ? []
      : [`It waited for these tasks, which are completed: ${blocked_by.map(quoted).join(', ')}.`]),
    ...(discussion === undefined ? [] : [discussed(discussion)]),
    `Members of the project:\n${rosterOf(store, project_id)}`,
    'You may start agents of your own, send messages to other agents, make schedules and use channels where your ' +
      'tools allow it. When you are done, say what came of it: your last words are kept as the output of the task.',
  ].join('\n\n')
}

/** What the thread of a task begins with where nobody says it. */
export const kickoffOf = (store: ProjectStore, { project, task }: Told): string => {
  const { project_id, project_task_id, title, description, assignee_member_id = '' } = task
  const assignee = store.member(project_id, assignee_member_id)?.display_name ?? assignee_member_id
  return [
    `The task ${project_task_id} of the project ${project.display_name} begins: ${title}`,
    ...(description.trim() === '' ? [] : [cutTo(description, mostAbout)]),
    `It is assigned to ${assignee}.`,
    'This thread is there to coordinate it.',
  ].join('\n\n')
}
