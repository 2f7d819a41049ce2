/** What projects keep from others: sessions that end, channels that go, and what sessions learn. */
import { commandLine } from '../../../core/plugin.js'
import type { MemorySource } from '../../execution/memory/contract.js'
import type { SessionEndGuard, SessionMembership } from '../../execution/sessions/contract.js'
import type { ToolGate } from '../../execution/tools/contract.js'
import type { ChannelPart } from '../channels/contract.js'
import { projectOf, type ProjectStore } from './record/store.js'
import { projectToolNames } from './tools.js'

/** Projects of a session that count for what it sees and starts. */
const mostScopes = 100

export const endGuard = ({ members, tasks }: ProjectStore): SessionEndGuard => ({
  id: 'projects',
  veto({ session_id }) {
    const [member] = members.list({ index: 'session', group: session_id, limit: 1 })
    if (member !== undefined) {
      const { project_id, member_id } = member
      const line = commandLine('projects members remove', project_id, member_id)
      return `it is a member of the project ${project_id}, which it leaves with ${line}`
    }
    const [task] = tasks.list({ index: 'session', group: session_id, limit: 1 })
    return task && `the task ${task.project_task_id} of the project ${task.project_id} is assigned to it`
  },
})

export const channelPart = ({ links }: ProjectStore): ChannelPart => ({
  id: 'projects',
  veto(channel_id) {
    const [link] = links.list({ index: 'channel', group: channel_id, limit: 1 })
    if (link === undefined) return undefined
    const line = commandLine('projects channels unlink', link.project_id, channel_id)
    return `the project ${link.project_id} links it until ${line}`
  },
})

/** The keys of members say enough, and no record is read. */
const projectsOf = ({ members }: ProjectStore, session_id: string): string[] =>
  members.page({ index: 'session', group: session_id, limit: mostScopes }).map(projectOf)

export const membership = (store: ProjectStore): SessionMembership => ({
  kind: 'project',
  of: (session_id) => projectsOf(store, session_id),
})

export const projectScopes = (store: ProjectStore): MemorySource => ({
  id: 'projects',
  scopes: (session_id) => projectsOf(store, session_id).map((id) => ({ kind: 'project', id })),
})

/** Who is in no project has nothing to do with their tasks. */
export const toolGate = ({ members }: ProjectStore): ToolGate => ({
  id: 'projects',
  hidden: (session_id) => (members.count('session', session_id) > 0 ? undefined : projectToolNames),
})
