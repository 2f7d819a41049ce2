import { bySeverity, type Warning } from '../../base/health.js'
import type { Metric } from '../../metrics/contract.js'
import type { Bus } from '../../events/bus.js'
import type { Findings } from '../../records/findings.js'
import type { Hold } from '../../records/hold.js'
import type { Retention } from '../../retention/retention.js'
import type { ControlPlaneReport, HostView, LockReport } from '../contract.js'
import type { Lists } from '../configuration/lists.js'
import type { Boot } from './boot.js'
import type { PluginHost } from './host.js'

export interface ViewParts {
  readonly version: string
  readonly stateRoot: string
  readonly workspaceRoot: string
  readonly boot: Boot
  readonly bus: Bus
  readonly phase: HostView['phase']
  readonly lock: () => LockReport
  readonly controlPlane: () => ControlPlaneReport
  readonly accessWarnings: () => readonly Warning[]
  readonly hold: Pick<Hold, 'whenActing' | 'warnings'>
  readonly delayReady: HostView['delayReady']
  readonly lists: Pick<Lists, 'onApplied'>
  readonly findings: Pick<Findings, 'list' | 'warnings'>
  /** It exists when the plugins have registered. */
  readonly retention: () => Retention
  /** The host exists later than its view, which it lends to the plugins. */
  readonly host: () => PluginHost | undefined
  readonly metrics: () => readonly Metric[]
}

export const createView = ({
  version,
  stateRoot,
  workspaceRoot,
  boot,
  bus,
  phase,
  lock,
  controlPlane,
  accessWarnings,
  hold,
  delayReady,
  lists,
  findings,
  retention,
  host,
  metrics,
}: ViewParts): HostView => ({
  version,
  stateRoot,
  workspaceRoot,
  phase,
  lock,
  controlPlane,
  delayReady,
  onListApplied: lists.onApplied,
  contributor: (point, key) =>
    host()
      ?.registry.owned(point)()
      .find(({ value }) => point.key?.(value) === key)?.owner,
  processId: process.pid,
  leaving: boot.leaving,
  whenActing: hold.whenActing,
  startedAtMs: boot.report().started_at_ms,
  plugins: () => host()?.reports() ?? [],
  boot: () => boot.report(),
  warnings: () =>
    bySeverity([
      ...accessWarnings(),
      ...hold.warnings(),
      ...findings.warnings(),
      ...retention().warnings(),
      ...(host()?.warnings() ?? []),
    ]),
  events: () => bus.statistics(),
  metrics,
  findings: findings.list,
  usage: () => retention().usage.report(),
  retention: () => retention().report(),
})
