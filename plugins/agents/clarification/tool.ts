import { digest, type Clock, type Tx } from '../../../core/plugin.js'
import { ask, AskInput } from '../../execution/questions/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import { requestOf, type Sessions, type UserQuestionRequest } from '../../execution/sessions/contract.js'
import { defineTool, type Tool, type ToolCall } from '../../execution/tools/contract.js'
import type { AgentAudit, Agents, KnownAgent } from '../sidechains/contract.js'
import { clarificationErrors } from './errors.js'
import type { ClarificationStore } from './store.js'

export interface AskParts {
  readonly store: ClarificationStore
  readonly agents: Agents
  readonly audit: AgentAudit
  readonly sessions: Pick<Sessions, 'get'>
  readonly runs: Runs
  readonly clock: Clock
}

const told = 'Your parent is asked. End your turn now: the answer comes to you as a message, and you go on then.'

/** The question is asked in the commit of the call's outcome: a call that is made again has asked nothing. */
export const clarificationTool = (parts: AskParts): Tool =>
  defineTool({
    name: 'request_parent_clarification',
    seldom: true,
    description:
      'Asks whoever answers for the agent that started you one to four questions with options. Use it when your work ' +
      'cannot go on without a decision that is not yours.',
    input: AskInput,
    effect: 'idempotent',
    permission: 'allow',
    parallel: false,
    in_plan_mode: true,
    timeout_ms: 10_000,
    sandbox: 'read_only',
    run: (input, call) => {
      const asked = ask(parts.clock, input)
      if (asked.type !== 'ask') return asked
      const request_id = `clarification_${digest(call.key).slice(0, 24)}`
      const request = requestOf(asked.ask, { id: request_id, tool_call_id: request_id, now: parts.clock.now() })
      parentOf(parts, call)
      return {
        type: 'result',
        output: { request_id, status: 'asked', message: told },
        apply: (tx) => open(parts, tx, { call, request }),
      }
    },
  })

/** Throws `no_parent` and `already_asking`, which the call is told. */
const parentOf = ({ store, agents, sessions }: AskParts, { session_id }: ToolCall): KnownAgent => {
  const { parent_agent_id } = agents.get(sessions.get(session_id).agent_id)
  const parent = parent_agent_id === undefined ? undefined : agents.get(parent_agent_id)
  if (parent === undefined || parent.session.ended_at_ms !== undefined) throw clarificationErrors.no_parent()
  const known = store.find(session_id)
  if (known !== undefined) throw clarificationErrors.already_asking({ details: { request_id: known.request_id } })
  return parent
}

interface Opened {
  readonly call: ToolCall
  readonly request: UserQuestionRequest
}

const open = (parts: AskParts, tx: Tx, { call, request }: Opened): void => {
  const { session: parent } = parentOf(parts, call)
  const { agent_id: requester_agent_id, session_id: requester_session_id } = parts.sessions.get(call.session_id)
  const requester = { requester_agent_id, requester_session_id }
  const { run_id } = parts.runs.askBeside(tx, {
    session_id: parent.session_id,
    kind: 'parent_clarification',
    request,
    actor_id: requester_agent_id,
    origin: { ...requester, requester_run_id: call.run_id, requester_tool_call_id: call.tool_call_id },
  })
  const parent_agent_id = parent.agent_id
  parts.audit.note(tx, {
    event: 'clarification_asked',
    agent_id: requester_agent_id,
    parent_agent_id,
    session_id: requester_session_id,
    run_id,
    request_id: request.id,
  })
  parts.store.open(tx, {
    run_id,
    request_id: request.id,
    ...requester,
    parent_agent_id,
    parent_session_id: parent.session_id,
    asked_at_ms: tx.now,
  })
}
