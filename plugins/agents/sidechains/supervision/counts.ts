/** Counts of all agents, by indexes and a look at those that stir: all others are what they are at rest. */
import { unsafeCast } from '../../../../core/plugin.js'
import {
  agentStatuses,
  restGroup,
  restOf,
  type AgentStatus,
  type RestStatus,
  type SessionRecord,
  type Sessions,
} from '../../../execution/sessions/contract.js'

export interface CountParts {
  readonly sessions: Sessions
  readonly store: {
    /** Sessions whose agents may be something else than what they are at rest. */
    stirring(): ReadonlySet<string>
    isLive(session: SessionRecord): boolean
  }
  readonly mail: () => { recipients(): readonly string[]; waiting(agent_id: string): number } | undefined
}

type Counts = Record<AgentStatus, number>
const rests: readonly RestStatus[] = ['idle', 'failed', 'completed']

const countRest = ({ sessions: { collection } }: CountParts, rest: RestStatus, hasEnded: boolean): number =>
  collection.count('rest', restGroup(rest, hasEnded))

export const countStatuses = (parts: CountParts): Counts => {
  const { sessions, store } = parts
  const counts = unsafeCast<Counts>(Object.fromEntries(agentStatuses.map((status) => [status, 0])))
  for (const rest of rests) counts[rest] = countRest(parts, rest, false) + countRest(parts, rest, true)
  for (const session_id of store.stirring()) {
    const session = sessions.find(session_id)
    if (session === undefined) continue
    counts[restOf(session)] -= 1
    counts[sessions.state(session).status] += 1
  }
  return counts
}

export const countClosed = (parts: CountParts): number =>
  rests.reduce((sum, rest) => sum + countRest(parts, rest, true), 0)

/** Those with work: of those at rest only they for whom a message waits. */
export const countLive = ({ sessions, store, mail }: CountParts): number => {
  const recipients = mail()?.recipients() ?? []
  const readers = recipients.flatMap((agent_id) => sessions.ofAgent(agent_id)?.session_id ?? [])
  const candidates = [...new Set([...store.stirring(), ...readers])].flatMap((id) => sessions.find(id) ?? [])
  return candidates.filter((session) => store.isLive(session)).length
}

export const countMail = ({ mail }: CountParts): number => {
  const box = mail()
  return box === undefined ? 0 : box.recipients().reduce((sum, agent_id) => sum + box.waiting(agent_id), 0)
}
