/** The routes about the root and the daemon that belong to no plugin. */
import { createBackupRoute, type BackupRouteOptions } from './backup-route.js'
import type { Route } from './http/routes/route.js'
import type { Findings } from './records/findings.js'
import { findingRoutes } from './records/findings-routes.js'
import { releaseRoute, type Hold } from './records/hold.js'

export interface CoreRoutesParts extends BackupRouteOptions {
  readonly hold: Hold
  readonly findings: Findings
}

export const coreRoutes = ({ hold, findings, ...backup }: CoreRoutesParts): readonly Route[] => [
  createBackupRoute(backup),
  releaseRoute(hold),
  ...findingRoutes(findings),
]
