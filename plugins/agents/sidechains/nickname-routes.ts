/** What people call an agent that another one started (agents-18). */
import { defineRoute, jsonReply, notBlank, object, string, type Route, type State } from '../../../core/plugin.js'
import { ManagedAgentSnapshot, type Sessions } from '../../execution/sessions/contract.js'
import { agentErrors, nicknameErrors } from './bounds/errors.js'
import type { AgentRecord } from './record.js'
import type { AgentStore } from './store.js'
import type { AgentAuditDraft, AgentAuditStore } from './supervision/audit.js'

interface NicknameParts {
  readonly store: AgentStore
  readonly sessions: Sessions
  readonly state: State
  readonly audit: AgentAuditStore
}

const shared = {
  path: '/v1/agents/:agent_id/nickname',
  access: 'admin',
  params: object({ agent_id: string({ min: 1, max: 400 }) }),
  reply: jsonReply(ManagedAgentSnapshot),
  problems: [agentErrors.agent_not_found, nicknameErrors.conflict],
  durability: 'A',
} as const
const Nickname = object({ nickname: string({ min: 1, max: 200, pattern: notBlank }) })

/** Undefined takes it away. Throws `conflict` for an agent that nobody started: its session has a name of its own. */
const rename = async (
  { store, sessions, state, audit }: NicknameParts,
  agent_id: string,
  nickname: string | undefined,
): Promise<ManagedAgentSnapshot> => {
  await state.commit((tx) => {
    const { session, spawned } = store.get(agent_id)
    if (spawned === undefined) throw nicknameErrors.conflict({ details: { agent_id } })
    const { nickname: _, ...rest } = spawned
    store.put(tx, { ...rest, ...(nickname !== undefined && { nickname }) })
    if (nickname !== spawned.nickname) audit.note(tx, namedEvent(spawned, nickname))
    sessions.announce(tx, session.session_id, { snapshot: true })
  })
  return sessions.snapshot(store.get(agent_id).session)
}

const namedEvent = (
  { agent_id, parent_agent_id, session_id }: AgentRecord,
  nickname: string | undefined,
): AgentAuditDraft => ({
  event: nickname === undefined ? 'agent_nickname_removed' : 'agent_nickname_set',
  agent_id,
  parent_agent_id,
  session_id,
  ...(nickname !== undefined && { nickname }),
})

export const nicknameRoutes = (parts: NicknameParts): readonly Route[] => [
  ...(['POST', 'PUT'] as const).map((method) =>
    defineRoute({
      ...shared,
      id: `agents.nickname.${method === 'POST' ? 'create' : 'set'}`,
      method,
      summary: 'Calls an agent by a name for people.',
      body: Nickname,
      example: { body: { nickname: 'Reviewer' } },
      handler: ({ params: { agent_id }, body: { nickname } }) => rename(parts, agent_id, nickname),
    }),
  ),
  defineRoute({
    ...shared,
    id: 'agents.nickname.clear',
    method: 'DELETE',
    summary: 'Takes the name of an agent for people away.',
    handler: ({ params: { agent_id } }) => rename(parts, agent_id, undefined),
  }),
]
