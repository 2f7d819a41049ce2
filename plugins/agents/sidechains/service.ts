/** What other plugins ask of agents. */
import { digest } from '../../../core/plugin.js'
import type { AgentWish, Agents, KnownAgent } from './contract.js'
import type { WantedAgent } from './plan.js'
import { spawnAgent } from './spawn.js'
import type { AgentRecord } from './record.js'
import type { Agent, AgentStore } from './store.js'
import { endOf, waitFor, type WaitParts } from './waiting.js'

/** A hook has it, or one above it, look. */
const isOfHook = (store: AgentStore, spawned: AgentRecord | undefined): boolean =>
  spawned !== undefined && (spawned.is_hook === true || isOfHook(store, store.find(spawned.parent_session_id)))

const known = (store: AgentStore, { session, spawned }: Agent): KnownAgent => {
  const isHook = isOfHook(store, spawned)
  return spawned === undefined
    ? { session, root_agent_id: session.agent_id, isHook }
    : { session, root_agent_id: spawned.root_agent_id, parent_agent_id: spawned.parent_agent_id, isHook }
}

const wantedOf = ({
  parent_agent_id,
  run_id,
  name,
  content,
  profile = 'default',
  surfaces,
  isHook,
  max_turns,
  ...rest
}: AgentWish): WantedAgent => ({
  parent_agent_id,
  profile,
  run_id,
  surfaces,
  is_hook: isHook,
  max_turns,
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
    get: (agent_id) => known(store, store.get(agent_id)),
    ofSession: (session_id) => known(store, store.of(sessions.get(session_id))),
    ofHooks: () =>
      store
        .live()
        .filter((record) => isOfHook(store, record))
        .map(({ session_id }) => session_id),
    pathOf(agent_id) {
      const session = sessions.ofAgent(agent_id)
      const path = session === undefined ? undefined : store.find(session.session_id)?.path
      return path === undefined ? '' : ` ${JSON.stringify(path)}`
    },
  }
}
