/** Whom the schedules of a model tell (schedules-32). */
import { doc, enums, object, optional, string, type Infer, type Problem } from '../../../core/plugin.js'
import type { SessionAgents, Sessions } from '../sessions/contract.js'
import type { ToolCall } from '../tools/contract.js'
import { invalid } from './create.js'
import { scheduleErrors } from './record/errors.js'

/** Who is told what, as models say it. */
export const recipient = {
  message: doc(string({ min: 1, max: 100_000 }), 'What the run is told when it begins.'),
  target: optional(
    doc(
      enums(['self', 'parent', 'session', 'agent']),
      'Who is told: self when absent; session needs a session_id, agent an agent_id.',
    ),
  ),
  session_id: optional(string({ min: 1, max: 200 })),
  agent_id: optional(string({ min: 1, max: 200 })),
  provider: optional(doc(string({ min: 1, max: 200 }), 'Model route of the run.')),
  model: optional(string({ min: 1, max: 200 })),
  fallback_model: optional(string({ min: 1, max: 200 })),
}
const Recipient = object(recipient)
/** The value form of `recipient`. */
export type Recipient = Infer<typeof Recipient>
/** What says which agents are below which. */
export interface TargetParts {
  readonly agents: () => SessionAgents | undefined
  readonly sessions: Sessions
}

/** True for a session itself, and for those of agents below its own, however deep. */
const isWithin = ({ agents, sessions }: TargetParts, session_id: string, own: string): boolean => {
  for (let at: string | undefined = session_id; at !== undefined;) {
    if (at === own) return true
    const parent: string | undefined = agents()?.find(at)?.parent ?? undefined
    at = parent === undefined ? undefined : sessions.ofAgent(parent)?.session_id
  }
  return false
}

const unavailable = (target: string, reason: string): Problem =>
  scheduleErrors.schedule_target_unavailable({ details: { target, reason } })

const namedSession = ({ sessions }: TargetParts, { target = 'self', session_id, agent_id }: Recipient, own: string) => {
  if (target === 'parent') throw unavailable('parent', 'nobody gives work to those above')
  if (agent_id !== undefined && target !== 'agent') throw invalid('agent_id', 'needs the target agent')
  if (session_id !== undefined && target !== 'session' && session_id !== own)
    throw invalid('session_id', 'needs the target session')
  if (target === 'self') return own
  if (target === 'session') return session_id ?? missing('session_id')
  const of = sessions.ofAgent(agent_id ?? missing('agent_id'))
  if (of === undefined) throw unavailable('agent', `there is no agent ${agent_id}`)
  return of.session_id
}

const missing = (field: 'session_id' | 'agent_id'): never => {
  throw invalid(field, 'is required for this target')
}

/** The session that is told. An agent that another one started has what it may do, and no more by way of others. */
export const targetOf = (parts: TargetParts, input: Recipient, { session_id: own }: ToolCall): string => {
  const session_id = namedSession(parts, input, own)
  if (parts.agents()?.find(own) !== undefined && !isWithin(parts, session_id, own))
    throw unavailable(input.target ?? 'self', 'an agent that another one started works for itself and those below it')
  return session_id
}
