/** What would be started, and how much may be, as text for terminals. */
import {
  array,
  boolean,
  integer,
  open,
  optional,
  record,
  span,
  string,
  visibleLine,
  type Infer,
} from '../../../../core/plugin.js'
import { line } from './agent-text.js'

export const AgentForecast = open({
  allowed: boolean(),
  code: optional(string()),
  reason: optional(string()),
  path: optional(string()),
  permission_mode: optional(string()),
  cwd: optional(string()),
})

export const showForecast = (forecast: Infer<typeof AgentForecast>): string => {
  const { allowed, code, reason, path, permission_mode, cwd } = forecast
  if (!allowed) return `It would be refused: ${visibleLine(reason ?? '')} (${visibleLine(code ?? '')})`
  return ['It would be started.', ...line('path', path), ...line('mode', permission_mode), ...line('folder', cwd)].join(
    '\n',
  )
}

export const AgentQuotas = open({
  limits: open({
    max_live_sidechains_global: integer(),
    max_spawns_global_window: integer(),
    max_spawn_cost_microusd_per_window: integer(),
    max_spawn_cpu_ms_per_window: integer(),
    spawn_rate_window_ms: integer(),
    max_live_children_per_parent: integer(),
    max_child_depth: integer(),
  }),
  live_sidechains: integer(),
  started_in_window: integer(),
  cost_microusd_in_window: integer(),
  cpu_ms_in_window: integer(),
  rules: array(
    open({
      label: optional(string()),
      selector: record(string()),
      limits: record(integer()),
    }),
  ),
  profiles_in_window: array(open({ profile: string(), started: integer(), most: integer() })),
  sessions_in_window: array(open({ session_id: string(), started: integer(), most: integer() })),
})

const members = (of: Readonly<Record<string, string | number>>): string =>
  Object.entries(of)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

const ruleLine = ({ label, selector, limits }: Infer<typeof AgentQuotas>['rules'][number]): string => {
  const whom = members(selector) || 'all'
  return visibleLine(`  ${label === undefined ? '' : `${label}, `}${whom}: ${members(limits)}`)
}

/** Sessions that are shown; JSON has more. */
const mostShown = 5

export const showQuotas = ({ limits, ...used }: Infer<typeof AgentQuotas>): string => {
  const { max_live_children_per_parent: children, max_child_depth: depth, spawn_rate_window_ms: window } = limits
  return [
    `Of ${limits.max_live_sidechains_global} agents with a parent that may work at a time, ${used.live_sidechains} do.`,
    `In the last ${span(window)}:`,
    `  started  ${used.started_in_window} of ${limits.max_spawns_global_window}`,
    ...used.profiles_in_window.map(({ profile, started, most }) => `           ${started} of ${most} as ${profile}`),
    ...used.sessions_in_window
      .slice(0, mostShown)
      .map(({ session_id, started, most }) => `           ${started} of ${most} by session ${visibleLine(session_id)}`),
    `  charged  ${used.cost_microusd_in_window} of ${limits.max_spawn_cost_microusd_per_window} millionths of a dollar`,
    `           ${used.cpu_ms_in_window} of ${limits.max_spawn_cpu_ms_per_window} milliseconds`,
    `An agent may have ${children} children that work, and be ${depth} deep; --output json has all limits.`,
    ...(used.rules.length === 0
      ? []
      : ['Other limits for some starts, of which later ones count before earlier ones:']),
    ...used.rules.map(ruleLine),
  ].join('\n')
}
