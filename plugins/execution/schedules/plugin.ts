import { Metrics, createUnreadable, definePlugin, Host } from '../../../core/plugin.js'
import { AssetReferences, Assets } from '../../media/assets/contract.js'
import { Reasons } from '../../operator/explanations/contract.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { TargetKeepers } from '../deliveries/contract.js'
import { Runs } from '../runs/contract.js'
import { SessionAgents, Sessions } from '../sessions/contract.js'
import { Tools } from '../tools/contract.js'
import { schedulesConfig, schedulesFlags } from './dispatch/config.js'
import { ScheduleObservers, SchedulePayloads, SchedulerPolicy } from './contract.js'
import { createScheduleCommits } from './dispatch/schedule-commits.js'
import { scheduleReasons } from './explained.js'
import { scheduleMetrics } from './metrics.js'
import { fileRepair, historyRepair } from './repair.js'
import { scheduleRoutes } from './routes.js'
import { createSchedules } from './service.js'
import { schedulesHealth, schedulesSection } from './status.js'
import { scheduleHolder } from './record/schedule-files.js'
import { scheduleKeeper } from './record/schedule-targets.js'
import { declareStore } from './record/store.js'
import { scheduleTools } from './tools.js'
import { createWorker } from './dispatch/worker.js'

export default definePlugin({
  id: 'schedules',
  version: '1.0.0',
  api: 1,
  summary: 'Runs that begin by the clock: once, at an interval or by a cron expression.',
  needs: { host: Host, runs: Runs, sessions: Sessions },
  wants: { assets: Assets, agents: SessionAgents },
  config: schedulesConfig,
  flags: schedulesFlags,
  register(ctx, { host, runs, sessions, assets, agents }) {
    const { config, clock, ids, log } = ctx
    const parts = {
      store: declareStore(ctx.state),
      runs,
      sessions,
      assets,
      payloads: ctx.view(SchedulePayloads),
      observers: ctx.observers(ScheduleObservers),
      clock,
      ids,
      log,
      config,
    }
    const commits = createScheduleCommits(parts)
    const worker = createWorker(parts, commits)
    const service = createSchedules(parts, commits, worker)
    const unreadable = createUnreadable(log, 'schedules')
    ctx.routes(...scheduleRoutes({ ...parts, service, skip: unreadable.skip }))
    ctx.health(unreadable.health)
    ctx.repair(historyRepair(parts.store))
    ctx.repair(fileRepair(parts.store))
    ctx.contribute(TargetKeepers, scheduleKeeper(parts.store))
    ctx.contribute(AssetReferences, scheduleHolder(parts.store))
    ctx.contribute(Tools, ...scheduleTools({ ...parts, service, agents }))
    ctx.contribute(Reasons, scheduleReasons(parts, sessions))
    ctx.contribute(StatusSections, schedulesSection(parts))
    ctx.contribute(Metrics, ...scheduleMetrics(parts))
    const { dispatch_enabled: _, lag_warning_threshold_ms: __, ...policy } = config
    ctx.contribute(RuntimeSections, {
      name: 'scheduler_policy',
      schema: SchedulerPolicy,
      collect: () => policy,
    })
    ctx.health(schedulesHealth(parts))
    ctx.onStart(() => (config.dispatch_enabled ? host.whenActing(worker.begin) : undefined))
  },
})
