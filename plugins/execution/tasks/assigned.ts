/** An agent that is given a task by another one of its tree is told so by a message (tasks-27). */
import { Problem, type Tx } from '../../../core/plugin.js'
import type { Mailboxes } from '../../agents/mailboxes/contract.js'
import type { Agents, KnownAgent } from '../../agents/sidechains/contract.js'
import type { SessionTask } from './contract.js'
import type { TaskStore } from './store.js'

export interface AssignParts {
  readonly store: TaskStore
  readonly agents: () => Agents | undefined
  readonly mailboxes: () => Mailboxes | undefined
}

/** An owner may be any name: what is no agent is told nothing. */
const agentOf = (agents: Agents, agent_id: string): KnownAgent | undefined => {
  try {
    return agents.get(agent_id)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Tasks are told apart by session, and tools know those of their own alone. */
const note = 'The task stands in the session of the agent that gave it: tell that agent with message_agent how it ends.'

/** Called in the commit that writes the task, before it does. */
export const tellAssigned = ({ store, agents, mailboxes }: AssignParts, tx: Tx, task: SessionTask): void => {
  const [known, post] = [agents(), mailboxes()?.post]
  const { id, session_id, title, owner_agent_id } = task
  if (known === undefined || post === undefined || owner_agent_id === undefined) return
  if (store.find(session_id, id)?.owner_agent_id === owner_agent_id) return
  const [by, owner] = [known.ofSession(session_id), agentOf(known, owner_agent_id)]
  const isOther = owner !== undefined && owner.session.session_id !== session_id
  if (!isOther || owner.root_agent_id !== by.root_agent_id) return
  post(tx, {
    from_agent_id: by.session.agent_id,
    to_agent_id: owner_agent_id,
    subject: 'task_assignment',
    payload: { type: 'task_assignment', task_id: id, session_id, title, note },
    isOwed: true,
  })
}
