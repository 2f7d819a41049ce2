import { defineErrors } from '../../../../core/plugin.js'

/** Problems of agents (agents-10 and agents-11). */
export const agentErrors = defineErrors({
  agent_not_found: {
    status: 404,
    domain: 'agents',
    detail: 'There is no agent {agent_id}.',
    action: 'GET /v1/agents/summaries lists those that are there.',
  },
  conflict: {
    status: 409,
    detail: 'The agent cannot be started: {reason}',
    action: 'Name an agent whose session has not ended, and ids that nothing else has.',
  },
  agent_widened: {
    status: 400,
    domain: 'agents',
    detail: 'An agent may do no more than the one that starts it: {reason}',
    action: 'Leave out what the parent does not have.',
  },
  agent_folder_not_found: {
    status: 400,
    domain: 'agents',
    detail: 'There is no folder {cwd} where its parent works.',
    action: 'Name a folder that is there, relative to the one in which the parent works.',
  },
  agent_waits_above: {
    status: 409,
    domain: 'agents',
    detail: 'The agent {agent_id} is not done before this call is.',
    action: 'Wait for agents that you have started, or end your turn: what others send you comes as a message.',
  },
  spawn_conflict: {
    status: 400,
    domain: 'agents',
    detail: 'The request says two different things: {reason}',
    action: 'Say one of them.',
  },
  agent_root_conflict: {
    status: 400,
    domain: 'agents',
    detail: 'root and root_agent_id name two agents.',
    action: 'Name one of them.',
  },
})

/** Limits for which there is room again when others end, or later. */
export const fullErrors = defineErrors({
  conflict: {
    status: 409,
    detail: 'The agent cannot be started now: {reason}',
    action: 'Wait until agents have ended, or raise the limit in the configuration of sidechains.',
  },
  rate_limited: {
    status: 429,
    detail: 'The agent cannot be started now: {reason}',
    action: 'Wait for the time in Retry-After, or raise the limit in the configuration of sidechains.',
  },
})

/** Limits that the same start meets at any time. */
export const boundErrors = defineErrors({
  conflict: {
    status: 409,
    detail: 'The agent cannot be started: {reason}',
    action: 'Start it from another agent or run, or raise the limit in the configuration of sidechains.',
  },
  rate_limited: {
    status: 429,
    detail: 'The agent cannot be started: {reason}',
    action: 'Ask for less, or raise the limit in the configuration of sidechains.',
  },
})

/** Of names for people. */
export const nicknameErrors = defineErrors({
  conflict: {
    status: 409,
    detail: 'The agent {agent_id} has no name for people: nobody started it.',
    action: 'Name its session, or an agent that another one started; GET /v1/agents/summaries lists them.',
  },
})
