/** Hooks that have an agent look (hooks-22). It works in a session of its own, and changes nothing. */
import { Problem, type Log, thrownText } from '../../../core/plugin.js'
import type { Agents } from '../../agents/sidechains/contract.js'
import type { Invocation } from '../../execution/interception/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import type { AgentExecutor, HookDefinition } from './definitions.js'
import { matches } from './matching/matcher.js'
import type { Answered } from './outcome/outcome.js'
import { answeredBy, fencedInput, mostInput, rulesOfAnswers } from './prompt-hook.js'

export interface AgentParts {
  readonly agents: () => Agents | undefined
  readonly runs: () => Pick<Runs, 'openIn' | 'cancel'> | undefined
  /** Takes known secrets out of a text. */
  readonly redact: (text: string) => string
}

export interface AgentLook {
  readonly name: string
  readonly executor: AgentExecutor
  readonly invocation: Invocation
  readonly input: string
  readonly timeout_ms: number
  readonly signal: AbortSignal
}

const tellOf = ({ executor: { template, system_prompt } }: AgentLook, input: string): string =>
  [
    ...(system_prompt === undefined ? [] : [system_prompt]),
    rulesOfAnswers,
    'Look at what you need to look at first; your last answer is the JSON object.',
    input,
    template.replaceAll('$ARGUMENTS', 'the JSON above'),
  ].join('\n\n')

/** What it looks for is there: a call waits for it, and no person knows of it. */
const asksNobody = { allowlist: [], denylist: ['ask_operator', 'ask_user_question', 'request_parent_clarification'] }

/** Ends what it has begun: nobody waits for it any more. */
const endRuns = async ({ runs }: AgentParts, session_id: string): Promise<void> => {
  for (const run_id of runs()?.openIn(session_id) ?? []) await runs()?.cancel(run_id)
}

/**
 * Ends what agents of hooks did before a kill: whoever asks again has another one look, and nobody waits for the first.
 * For the start of the daemon, before anything acts.
 */
export const endLeft = async (parts: AgentParts & { readonly log: Log }): Promise<void> => {
  for (const session_id of parts.agents()?.ofHooks() ?? [])
    try {
      await endRuns(parts, session_id)
    } catch (error) {
      parts.log.warn('what an agent of a hook did before could not be ended', { session_id, error: thrownText(error) })
    }
}

const look = async (parts: AgentParts, agents: Agents, wish: AgentLook & { session_id: string }): Promise<Answered> => {
  const { executor, invocation, session_id, timeout_ms, signal } = wish
  const input = fencedInput(parts.redact(wish.input))
  if (input.length > mostInput) return { fault: `what it is about is longer than ${mostInput} characters` }
  const { model, tool_surface, max_turns } = executor
  const started = await agents.start({
    parent_agent_id: agents.ofSession(session_id).session.agent_id,
    ...(invocation.run_id !== undefined && { run_id: invocation.run_id }),
    name: 'hook',
    content: tellOf(wish, input),
    profile: 'verification',
    permission_mode: 'plan',
    retention: 'close_on_settle',
    isHook: true,
    ...(model !== undefined && { route_policy: model }),
    ...(max_turns !== undefined && { max_turns }),
    surfaces: [asksNobody, ...(tool_surface === undefined ? [] : [tool_surface])],
  })
  const waitFor = invocation.waitFor
  try {
    const waiting = { run_id: invocation.run_id ?? '', signal, ...(waitFor !== undefined && { waitFor }) }
    const end = await agents.waitFor(waiting, started.agent_id, timeout_ms)
    if (end.last_run_status === 'completed') return answeredBy(wish, end.final_output ?? '', parts.redact)
    return { fault: `its agent did not answer: ${end.last_error ?? end.last_run_status ?? end.status}` }
  } finally {
    await endRuns(parts, started.session_id)
  }
}

/** True of a hook with an agent where such an agent is what it would look at: each would start another one. */
const isOwnWork = ({ agents }: Pick<AgentParts, 'agents'>, { executor }: HookDefinition, { session_id }: Invocation) =>
  executor.type === 'agent' && session_id !== undefined && agents()?.ofSession(session_id).isHook === true

/** Those of a moment that are asked about an invocation. */
export const askedOf = (
  parts: Pick<AgentParts, 'agents'>,
  set: readonly HookDefinition[],
  invocation: Invocation,
): readonly HookDefinition[] =>
  set.filter(
    (definition) => matches(definition.matcher, invocation.subject) && !isOwnWork(parts, definition, invocation),
  )

export const askByAgent = async (parts: AgentParts, wish: AgentLook): Promise<Answered> => {
  const agents = parts.agents()
  const { session_id } = wish.invocation
  if (agents === undefined) return { fault: 'this daemon starts no agents: the plugin sidechains is off' }
  if (session_id === undefined) return { fault: 'what belongs to no session has no agent' }
  try {
    return await look(parts, agents, { ...wish, session_id })
  } catch (error) {
    if (error instanceof Problem) return { fault: `${error.code}: ${error.message}` }
    if (wish.signal.aborted) return { fault: 'it was cut short' }
    throw error
  }
}
