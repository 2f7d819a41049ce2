/** What other plugins ask of agents. */
import { digest } from '../../../core/plugin.js'
import type { AgentWish, Agents, KnownAgent } from './contract.js'
import type { WantedAgent } from './plan.js'
import { spawnAgent } from './spawn.js'
import type { Agent } from './store.js'
import { endOf, waitFor, type WaitParts } from './waiting.js'

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
  surfaces,
  ...rest
}: AgentWish): WantedAgent => ({
  parent_agent_id,
  profile,
  run_id,
  surfaces,
  request: { retention: 'retain', ...rest, subtask: { name, content, description: '' } },
  digest: digest(JSON.parse(JSON.stringify({ by: parent_agent_id, name, content, profile, ...rest }))),
})

export const createAgents = (parts: WaitParts): Agents => {
  const { store, sessions } = parts
  return {
    start: (wish) => spawnAgent(parts, wantedOf(wish)),
    async waitFor(call, agent_id, timeout_ms) {
      const { session } = store.get(agent_id)
      await waitFor(parts, call, { session_ids: [session.session_id], how: 'all', timeout_ms })
      return endOf(parts, session)
    },
    get: (agent_id) => known(store.get(agent_id)),
    ofSession: (session_id) => known(store.of(sessions.get(session_id))),
    pathOf(agent_id) {
      const session = sessions.ofAgent(agent_id)
      const path = session === undefined ? undefined : store.find(session.session_id)?.path
      return path === undefined ? '' : ` ${JSON.stringify(path)}`
    },
  }
}
