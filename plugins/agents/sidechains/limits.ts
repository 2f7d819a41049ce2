/** Whether one agent more may be started (agents-10 and agents-11). */
import { limitsFor, type SidechainsConfig, type SpawnLimits } from './config.js'
import type { AgentProfile } from './contract.js'
import { boundErrors, fullErrors } from './bounds/errors.js'
import type { AgentRecord } from './record.js'
import type { Agent, AgentStore } from './store.js'

/** A start, as far as limits ask. */
export interface Start {
  readonly parent: Agent
  readonly profile: AgentProfile
  /** Projects that its parent, or one above that, is in. */
  readonly project_ids: readonly string[]
  readonly run_id: string | undefined
  /** What the new agent is told, in bytes. */
  readonly told_bytes: number
  readonly output_tokens: number | undefined
  readonly now: number
}

/** Bytes of a token, by rough reckoning. */
const tokenBytes = 4

export const rootOf = ({ session, spawned }: Agent): string => spawned?.root_agent_id ?? session.agent_id
export const depthBelow = ({ spawned }: Agent): number => (spawned?.depth ?? 0) + 1

/** Throws `conflict` (409) where too many are at work, and `rate_limited` (429) where they come too fast. */
export const checkLimits = (store: AgentStore, config: SidechainsConfig, start: Start): SpawnLimits => {
  const { parent, profile, project_ids: project_id } = start
  const { agent_id, session_id } = parent.session
  const limits = limitsFor(config, { parent_agent_id: agent_id, session_id, project_id, profile })
  if (depthBelow(parent) > limits.max_child_depth)
    throw boundErrors.conflict({ details: { reason: `agents stand at most ${limits.max_child_depth} deep` } })
  checkLive(store.present(), parent, limits)
  checkRun(store, start, limits)
  checkRate([...store.startedSince(start.now - limits.spawn_rate_window_ms + 1)], start, limits)
  return limits
}

const conflict = (reason: string): Error => fullErrors.conflict({ details: { reason } })
const limited = (reason: string): Error => boundErrors.rate_limited({ details: { reason } })

const checkLive = (live: readonly AgentRecord[], parent: Agent, limits: SpawnLimits): void => {
  const root = rootOf(parent)
  const below = live.filter(({ root_agent_id }) => root_agent_id === root).length
  const children = live.filter(({ parent_agent_id }) => parent_agent_id === parent.session.agent_id).length
  if (children >= limits.max_live_children_per_parent)
    throw conflict(`${children} agents of this one are at work, or have not begun`)
  if (below >= Math.min(limits.max_live_descendants_per_root, limits.max_live_sidechains_per_session))
    throw conflict(`${below} agents below its root are at work, or have not begun`)
  if (live.length >= limits.max_live_sidechains_global)
    throw conflict(`${live.length} agents are at work, or have not begun`)
}

const checkRun = (
  { collection }: AgentStore,
  { run_id, told_bytes, output_tokens }: Start,
  limits: SpawnLimits,
): void => {
  const started = run_id === undefined ? 0 : collection.count('run', run_id)
  if (run_id !== undefined && started >= limits.max_spawns_per_run)
    throw boundErrors.conflict({ details: { reason: `the run has started ${started} agents` } })
  if (told_bytes > limits.max_spawn_input_tokens_per_request * tokenBytes)
    throw limited(`it would be told more than ${limits.max_spawn_input_tokens_per_request} tokens`)
  if (output_tokens !== undefined && output_tokens > limits.max_spawn_output_tokens_per_request)
    throw limited(`it asks for answers of more than ${limits.max_spawn_output_tokens_per_request} tokens`)
}

interface Use {
  /** Starts that count, the newest first. */
  readonly found: readonly AgentRecord[]
  readonly of: (record: AgentRecord) => number
  /** What one start more takes. */
  readonly own: number
  readonly most: number
  readonly reason: string
}

const checkRate = (
  started: readonly AgentRecord[],
  { parent: { session }, profile, project_ids, now }: Start,
  limits: SpawnLimits,
): void => {
  const counted = (found: readonly AgentRecord[], most: number, whose: string): Use => ({
    found,
    of: () => 1,
    own: 1,
    most,
    reason: `${found.length} agents ${whose} were started within the window`,
  })
  const uses: readonly Use[] = [
    counted(
      started.filter((one) => one.parent_session_id === session.session_id),
      limits.max_spawns_per_session_window,
      'of its session',
    ),
    counted(
      started.filter((one) => one.profile === profile),
      limits.max_spawns_per_profile_window,
      `of the profile ${profile}`,
    ),
    ...project_ids.map((id) =>
      counted(
        started.filter((one) => one.project_ids?.includes(id) === true),
        limits.max_spawns_per_project_window,
        `of the project ${id}`,
      ),
    ),
    counted(started, limits.max_spawns_global_window, 'of the daemon'),
    {
      found: started,
      of: (one) => one.cost_microusd,
      own: limits.estimated_spawn_cost_microusd,
      most: limits.max_spawn_cost_microusd_per_window,
      reason: 'what starts may cost within the window is used up',
    },
    {
      found: started,
      of: (one) => one.cpu_ms,
      own: limits.estimated_spawn_cpu_ms,
      most: limits.max_spawn_cpu_ms_per_window,
      reason: 'the computing time that starts may take within the window is used up',
    },
  ]
  for (const use of uses) checkUse(use, (one) => one.spawned_at_ms + limits.spawn_rate_window_ms - now)
}

/** Waiting helps when the newest start for which there is no place any more has left the window. */
const checkUse = ({ found, of, own, most, reason }: Use, msLeft: (record: AgentRecord) => number): void => {
  if (own > most) throw limited(reason)
  let used = own
  for (const one of found) {
    used += of(one)
    const retryAfter = Math.max(1, Math.ceil(msLeft(one) / 1000))
    if (used > most) throw fullErrors.rate_limited({ details: { reason }, retryAfter })
  }
}
