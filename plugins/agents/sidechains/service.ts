/** What other plugins ask of agents. */
import { digest } from '../../../core/plugin.js'
import type { AgentWish, Agents, KnownAgent } from './contract.js'
import type { WantedAgent } from './plan.js'
import { spawnAgent, type SpawnParts } from './spawn.js'
import type { Agent } from './store.js'

const known = ({ session, spawned }: Agent): KnownAgent =>
  spawned === undefined
    ? { session, root_agent_id: session.agent_id }
    : { session, root_agent_id: spawned.root_agent_id, parent_agent_id: spawned.parent_agent_id }

const wantedOf = ({
  parent_agent_id,
  run_id,
  name,
  content,
  profile = 'default',
  ...rest
}: AgentWish): WantedAgent => ({
  parent_agent_id,
  profile,
  run_id,
  request: { retention: 'retain', ...rest, subtask: { name, content, description: '' } },
  digest: digest(JSON.parse(JSON.stringify({ by: parent_agent_id, name, content, profile, ...rest }))),
})

export const createAgents = (parts: SpawnParts): Agents => {
  const { store, sessions } = parts
  return {
    start: (wish) => spawnAgent(parts, wantedOf(wish)),
    get: (agent_id) => known(store.get(agent_id)),
    ofSession: (session_id) => known(store.of(sessions.get(session_id))),
    pathOf(agent_id) {
      const session = sessions.ofAgent(agent_id)
      const path = session === undefined ? undefined : store.find(session.session_id)?.path
      return path === undefined ? '' : ` ${JSON.stringify(path)}`
    },
  }
}
