/** Skills that an agent of its own works on (skills-12). */
import { agentProfiles, type Agents } from '../../agents/sidechains/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import { failedCall, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import { rendered } from './activation.js'
import { surfacesOf } from './active-skill.js'
import type { Skill } from './discovery.js'
import { skillErrors } from './errors.js'

/** What a call waits for such an agent, milliseconds; `wait_agent` waits for what is not over then. */
export const longestWaitMs = 110_000

interface ForkParts {
  readonly agents: () => Agents | undefined
  readonly runs: () => Pick<Runs, 'inSession'> | undefined
}

export interface ForkedUse {
  readonly skill: Skill
  readonly args: string | undefined
}

/** Starts the agent, and tells its answer. A call that is made again finds the agent that it has started. */
export const workOnSkill = async (
  parts: ForkParts,
  call: ToolCall,
  { skill, args }: ForkedUse,
): Promise<ToolOutcome> => {
  const agents = parts.agents()
  const { name, digest, runtime } = skill.summary
  const { agent_profile, provider, model, fallback_model, allowed_tools, blocked_tools } = runtime
  const refuse = (what: string): ToolOutcome => failedCall(skillErrors.skill_not_inline({ details: { name, what } }))
  if (agents === undefined) return refuse('it wants an agent of its own, and the plugin sidechains is off')
  const profile = agentProfiles.find((one) => one === (agent_profile ?? 'default'))
  if (profile === undefined) return refuse(`its agent_profile ${JSON.stringify(agent_profile)} is none that there is`)
  const generation = { ...(model !== undefined && { model }), ...(fallback_model !== undefined && { fallback_model }) }
  const { agent_id, session_id } = await agents.start({
    parent_agent_id: agents.ofSession(call.session_id).session.agent_id,
    run_id: call.run_id,
    name,
    content: rendered(skill, args),
    profile,
    retention: 'close_on_settle',
    spawn_request_id: call.key,
    surfaces: surfacesOf([{ allowed_tools, blocked_tools }]),
    ...((provider !== undefined || model !== undefined || fallback_model !== undefined) && {
      route_policy: {
        ...(provider !== undefined && { provider }),
        ...(Object.keys(generation).length > 0 && { generation }),
      },
    }),
  })
  const launch_run_id = parts.runs()?.inSession({ session_id, limit: 1 })[0]?.run_id
  const { has_runtime, status, last_run_status, final_output, is_cut, last_error } = await agents.waitFor(
    call,
    agent_id,
    longestWaitMs,
  )
  return {
    type: 'result',
    output: {
      name,
      digest,
      context: 'fork',
      agent_id,
      ...(launch_run_id !== undefined && { launch_run_id }),
      status,
      timed_out: has_runtime,
      ...(last_run_status !== undefined && { last_run_status }),
      ...(final_output !== undefined && { final_output }),
      ...(is_cut === true && { is_cut }),
      ...(last_error !== undefined && { last_error }),
    },
  }
}
