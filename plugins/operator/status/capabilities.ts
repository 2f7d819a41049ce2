/** What this daemon can do (runtime-4). */
import { boolean, integer, named, open, string, wellFormedJson, type Infer } from '../../../core/plugin.js'
import type { CapabilityClaim } from './contract.js'

export const CapabilitiesView = named(
  'CapabilitiesView',
  open({
    control_plane_version: string(),
    api_revision: integer({ min: 1 }),
    route_capability_matrix_version: integer({ min: 0 }),
    approvals: boolean(),
    sidechains: boolean(),
    mailboxes: boolean(),
    session_events: boolean(),
    restart_restore: boolean(),
    live_events: boolean(),
    sse_replay: boolean(),
    typed_sse_heartbeat: boolean(),
    openapi: boolean(),
    problem_details: boolean(),
    cursor_pagination: boolean(),
    paginated_lists: boolean(),
    domain_errors: boolean(),
    agent_supervisor_audit: boolean(),
    spawn_policies: boolean(),
  }),
)
export type CapabilitiesView = Infer<typeof CapabilitiesView>

/** What core brings, and what is false until a plugin claims it. */
const before: CapabilitiesView = {
  control_plane_version: 'v1',
  api_revision: 3,
  route_capability_matrix_version: 2,
  approvals: false,
  sidechains: false,
  mailboxes: false,
  session_events: false,
  restart_restore: false,
  live_events: true,
  sse_replay: true,
  typed_sse_heartbeat: true,
  openapi: true,
  problem_details: true,
  cursor_pagination: true,
  paginated_lists: true,
  domain_errors: true,
  agent_supervisor_audit: false,
  spawn_policies: false,
}

export const collectCapabilities = (claims: readonly CapabilityClaim[]): CapabilitiesView => ({
  ...before,
  ...Object.fromEntries(claims.map(({ name, value }) => [name, wellFormedJson(value)])),
})
