/** The routes about the root and the daemon that belong to no plugin. */
import { createBackupRoute, type BackupRouteOptions } from './backup-route.js'
import type { Route } from './http/routes/route.js'
import type { Findings } from './records/findings.js'
import { findingRoutes } from './records/findings-routes.js'
import { releaseRoute, type Hold } from './records/hold.js'
import type { OpenRetention } from './open-retention.js'
import { retentionRoute } from './retention/retention-route.js'

export interface CoreRoutesParts extends BackupRouteOptions {
  readonly hold: Hold
  readonly findings: Findings
  readonly retention: OpenRetention
}

export const coreRoutes = ({ hold, findings, retention, ...backup }: CoreRoutesParts): readonly Route[] => [
  createBackupRoute(backup),
  releaseRoute(hold),
  retentionRoute({ rootId: backup.lock.facts.root_id, retention: retention.get, policy: retention.policyNow }),
  ...findingRoutes(findings),
]
