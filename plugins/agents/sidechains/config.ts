/** How many agents there may be, and how fast they come: the operator's settings (agents-10 and agents-11). */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  object,
  optional,
  string,
  unsafeCast,
  type AnyStruct,
  type Infer,
  type StructOf,
} from '../../../core/plugin.js'
import type { RuntimeSection } from '../../operator/runtime/contract.js'
import { agentProfiles, type AgentProfile } from './contract.js'

/** First values, and what they bound. */
const bounds = {
  max_child_depth: [4, 'Agents above a child, that of the root included.'],
  max_live_children_per_parent: [6, 'Children of one agent that work at a time, or have not begun.'],
  max_live_descendants_per_root: [24, 'Agents below one root that work at a time, or have not begun.'],
  max_spawns_per_run: [6, 'Agents that one run starts.'],
  max_live_sidechains_global: [128, 'Agents with a parent that work at a time, in the whole daemon.'],
  max_live_sidechains_per_session: [24, 'Agents below the session at the root that work at a time.'],
  spawn_rate_window_ms: [60_000, 'Milliseconds for which starts are counted.'],
  max_spawns_per_session_window: [60, 'Agents that the agent of one session starts in that time.'],
  max_spawns_per_profile_window: [60, 'Agents of one profile that are started in that time.'],
  max_spawns_per_project_window: [
    120,
    'Agents that members of one project, and agents below them, start in that time.',
  ],
  max_spawns_global_window: [240, 'Agents that are started in that time.'],
  max_spawn_input_tokens_per_request: [128_000, 'Tokens that an agent is told at its start, reckoned.'],
  max_spawn_output_tokens_per_request: [64_000, 'Tokens of an answer that a start may ask for.'],
  max_spawn_cost_microusd_per_window: [1_000_000, 'Millionths of a dollar that starts are charged in that time.'],
  max_spawn_cpu_ms_per_window: [240_000, 'Milliseconds that starts are charged in that time.'],
  estimated_spawn_cost_microusd: [1_000, 'Millionths of a dollar that each start is charged.'],
  estimated_spawn_cpu_ms: [1_000, 'Milliseconds that each start is charged.'],
} as const
type LimitName = keyof typeof bounds

/** Those in force for one start. */
export type SpawnLimits = Readonly<Record<LimitName, number>>

const bound = integer({ min: 0, max: 1_000_000_000_000 })
const limitFields = (change: (struct: StructOf<number>, first: number) => AnyStruct): Record<string, AnyStruct> =>
  Object.fromEntries(Object.entries(bounds).map(([name, [first, text]]) => [name, doc(change(bound, first), text)]))

/** As they are shown. */
export const limitsView = unsafeCast<StructOf<SpawnLimits>>(object(limitFields((struct) => struct)))
const SomeLimits = unsafeCast<StructOf<Partial<SpawnLimits>>>(object(limitFields((struct) => optional(struct))))

export const SpawnRule = object({
  selector: doc(
    object({
      parent_agent_id: optional(string({ min: 1, max: 400 })),
      session_id: optional(doc(string({ min: 1, max: 200 }), 'The session of the parent.')),
      project_id: optional(doc(string({ min: 1, max: 200 }), 'A project that the parent, or one above it, is in.')),
      profile: optional(enums(agentProfiles)),
    }),
    'Starts that it is for: those of which all of these are true.',
  ),
  limits: SomeLimits,
  label: optional(string({ min: 1, max: 200 })),
})

export const SidechainsConfig = object({
  ...unsafeCast<{ readonly [N in LimitName]: StructOf<number> }>(
    limitFields((struct, first) => defaulted(struct, first)),
  ),
  rules: doc(
    defaulted(array(SpawnRule, { max: 100 }), []),
    'Other limits for some starts; where several name one, the last of them counts.',
  ),
})
export type SidechainsConfig = Infer<typeof SidechainsConfig>

/** Flags, and so variables of the environment, of the limits: each has the name of its limit. */
export const sidechainsFlags: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(bounds).map((name) => [name, name.replaceAll('_', '-')]),
)

/** Who starts an agent, as far as limits ask. */
export interface Starter {
  readonly parent_agent_id: string
  readonly session_id: string
  readonly project_id: readonly string[]
  readonly profile: AgentProfile
}

/** The limits to which no rule gives others. */
export const limitsOf = (config: SidechainsConfig): SpawnLimits => {
  const { rules: _, ...limits } = config
  return limits
}

/** The limits of one start, or of all of which so much is known: later rules that fit beat earlier ones. */
export const limitsFor = ({ rules, ...limits }: SidechainsConfig, starter: Partial<Starter>): SpawnLimits =>
  Object.assign(
    { ...limits },
    ...rules
      .filter(({ selector }) =>
        Object.entries(selector).every(
          ([key, value]) => value === undefined || [starter[unsafeCast<keyof Starter>(key)]].flat().includes(value),
        ),
      )
      .map((rule) => Object.fromEntries(Object.entries(rule.limits).filter(([, value]) => value !== undefined))),
  )

/** The limits of starts and the rules that give others to some. */
export const policySection = (config: SidechainsConfig): RuntimeSection => ({
  name: 'subagent_policy',
  schema: object({ ...limitFields((struct) => struct), rules: array(SpawnRule) }),
  collect: () => unsafeCast(config),
})
