import { bySeverity, type Warning } from '../health.js'
import type { Bus } from '../events/bus.js'
import type { Findings } from '../findings.js'
import type { ControlPlaneReport, HostView, LockReport } from './contract.js'
import type { Story } from './boot.js'
import type { PluginHost } from './host.js'

export interface ViewParts {
  readonly version: string
  readonly stateRoot: string
  readonly workspaceRoot: string
  readonly story: Story
  readonly bus: Bus
  readonly phase: HostView['phase']
  readonly lock: () => LockReport
  readonly controlPlane: () => ControlPlaneReport
  readonly findings: Pick<Findings, 'list' | 'warnings'>
  /** The host exists later than its view, which it lends to the plugins. */
  readonly host: () => PluginHost | undefined
}

/** Core's own warnings about who may call. */
const accessWarnings = ({
  auth_duplicate_token: duplicate,
  auth_token_file_error_count: unreadable,
  externally_exposed_without_auth: exposed,
}: ControlPlaneReport): Warning[] => [
  ...(duplicate
    ? [
        {
          severity: 'error',
          code: 'control_plane_duplicate_token',
          message: 'The admin token and the read-only token are equal, so every token is refused.',
          action: 'Give two different tokens.',
        } as const,
      ]
    : []),
  ...(unreadable > 0
    ? [
        {
          severity: 'error',
          code: 'control_plane_token_file_unreadable',
          message: 'A token file cannot be read.',
          action: 'See control_plane.auth_token_files.',
        } as const,
      ]
    : []),
  ...(exposed
    ? [
        {
          severity: 'warning',
          code: 'control_plane_exposed_without_auth',
          message: 'Other machines can call this daemon without a token.',
          action: 'Give an admin token or bind a loopback address.',
        } as const,
      ]
    : []),
]

export const createView = ({
  version,
  stateRoot,
  workspaceRoot,
  story,
  bus,
  phase,
  lock,
  controlPlane,
  findings,
  host,
}: ViewParts): HostView => ({
  version,
  stateRoot,
  workspaceRoot,
  phase,
  lock,
  controlPlane,
  processId: process.pid,
  startedAtMs: story.report().started_at_ms,
  plugins: () => host()?.reports() ?? [],
  boot: () => story.report(),
  warnings: () =>
    bySeverity([...accessWarnings(controlPlane()), ...findings.warnings(), ...(host()?.warnings() ?? [])]),
  events: () => bus.statistics(),
  findings: findings.list,
})
