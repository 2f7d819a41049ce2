/** What an agent is told of itself (agents-8 and agents-9). */
import type { SystemSection } from '../../execution/models/contract.js'
import type { AgentProfile } from './contract.js'
import type { AgentRecord } from './record.js'
import type { AgentStore } from './store.js'

const bearing: Readonly<Record<AgentProfile, string | undefined>> = {
  default: undefined,
  plan: 'Look at what is there and make a plan; change nothing.',
  verification: 'Check what others say they did: look, run what tests it, and tell what is true and what is not.',
  coordinator: 'Give the work to agents of your own, wait for them, and put together what they found.',
}

const place =
  'You are an agent that another agent started. You see nothing of its conversation but what you are told here. Your ' +
  'last answer is what it gets: put into it all that it must know.'

/** Told to agents that others started. */
export const agentSection = (store: AgentStore): SystemSection => ({
  id: 'agent',
  rank: 11,
  text({ session_id }) {
    const record = store.find(session_id)
    return record === undefined ? undefined : toldTo(record)
  },
  instead({ session_id }) {
    const fork = store.find(session_id)?.fork_context
    return fork?.prompt_merge_mode === 'append' ? undefined : fork?.system_prompt
  },
})

const toldTo = ({ profile, subtask, fork_context, cwd }: AgentRecord): string =>
  [
    place,
    bearing[profile],
    subtask === undefined ? undefined : `Your work: ${subtask.name}. ${subtask.description}`.trim(),
    fork_context?.team_name === undefined ? undefined : `Your team: ${fork_context.team_name}`,
    cwd === undefined
      ? undefined
      : `Your tools work in the folder ${JSON.stringify(cwd)} of the workspace, and in no other.`,
    fork_context?.prompt_merge_mode === 'append' ? fork_context.system_prompt : undefined,
    blank(fork_context?.parent_assistant_message)
      ? undefined
      : `The agent that started you said:\n${fork_context?.parent_assistant_message ?? ''}`,
  ]
    .filter((text) => !blank(text))
    .join('\n\n')

const blank = (text: string | undefined): boolean => text === undefined || text.trim() === ''
