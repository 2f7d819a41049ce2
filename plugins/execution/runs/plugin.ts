import { Metrics, createUnreadable, definePlugin, Host } from '../../../core/plugin.js'
import { AssetReferences, Assets } from '../../media/assets/contract.js'
import { Boards } from '../../media/boards/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { UsageBooks } from '../../operator/usage/contract.js'
import { DeliveryObservers, Outbox, TargetKeepers } from '../deliveries/contract.js'
import { ActionListeners, ExternalActions } from '../external-actions/contract.js'
import { Interception } from '../interception/contract.js'
import { Models } from '../models/contract.js'
import { SessionActivity, SessionHolds, Sessions } from '../sessions/contract.js'
import { traceActions, announceDeliveries } from './views/live-events.js'
import { createActivity, runHold } from './views/session-status.js'
import { runsConfig, runsFlags } from './lifecycle/config.js'
import { createRestCarryOver } from './lifecycle/carry-rests.js'
import { CompletionChecks, ReservedKeys, RunEngine, Runs, RunWorkspaces, type RunRecord } from './contract.js'
import { createDeadlines } from './lifecycle/deadlines.js'
import { ownReservedKeys } from './record/origin.js'
import { createExecutor, type ControlContext } from './lifecycle/executor.js'
import type { RunContext } from './lifecycle/run-engine.js'
import { systemPromptSetting } from './lifecycle/prompt-setting.js'
import { runRepair } from './lifecycle/repair.js'
import { isTerminal } from './record/machine.js'
import { runReasons } from './explained/run-reasons.js'
import { runSubjects } from './explained/run-subject.js'
import { runRoutes } from './routes.js'
import { tellEnd, tellingVerdicts, tellLeft } from './lifecycle/run-log.js'
import { createRunMetrics } from './metrics.js'
import { createRuns } from './service.js'
import { holdUnknown, unknownRepair } from './lifecycle/unacknowledged.js'
import { createWaiters } from './lifecycle/waiters.js'
import { sessionRunRoutes } from './session-routes.js'
import { streamRoutes } from './stream-routes.js'
import { runsHealth, runsSection } from './status.js'
import { runHolders } from './record/run-files.js'
import { declareStore, runKeeper } from './record/store.js'

export default definePlugin({
  id: 'runs',
  version: '1.0.0',
  api: 1,
  summary: 'Runs: their acceptance, queues, answers, ends and restart repair.',
  needs: { host: Host, sessions: Sessions, models: Models, engine: RunEngine, settings: Settings },
  wants: {
    outbox: Outbox,
    ledger: ExternalActions,
    interception: Interception,
    books: UsageBooks,
    assets: Assets,
    workspaces: RunWorkspaces,
    boards: Boards,
  },
  provides: [Runs, SessionActivity],
  config: runsConfig,
  flags: runsFlags,
  stopMs: ({ drain_ms, stop_grace_ms }) => drain_ms + stop_grace_ms,
  register(
    ctx,
    { host, sessions, models, engine, settings, outbox, ledger, interception, books, assets, boards, workspaces },
  ) {
    const { config, clock, ids, log, events } = ctx
    const store = declareStore(ctx.state, { journal: sessions.journal, outbox, workspaces })
    const waiters = createWaiters(store, log)
    const deadlines = createDeadlines({ store, clock, log })
    const measured = createRunMetrics(store, clock)
    const halted = (run: RunRecord): void => {
      waiters.halted(run)
      if (isTerminal(run)) {
        tellEnd(log, run)
        measured.ended(run)
      }
      if ('expires_at_ms' in run) deadlines.checkSoon()
    }
    const checks = ctx.view(CompletionChecks)
    const promptSetting = systemPromptSetting(config)
    const prompt = () => settings.get(promptSetting)
    const base: RunContext = {
      store,
      sessions,
      ledger,
      books,
      assets,
      halted,
      models,
      checks,
      clock,
      ids,
      log,
      events,
      config,
      prompt,
    }
    const executor = createExecutor(base, engine)
    const reserved = ctx.view(ReservedKeys)
    const { pin, missing } = engine
    const context: ControlContext = { ...base, executor, reserved, interception, host, boards, pin, missing }
    const runs = createRuns(context, { waiters, deadlines })
    ctx.provide(Runs, runs)
    ctx.provide(SessionActivity, createActivity(store, sessions))
    const unreadable = createUnreadable(log, 'runs')
    const routed = { context, runs, skip: unreadable.skip }
    ctx.routes(...runRoutes(routed), ...sessionRunRoutes(routed), ...streamRoutes(routed))
    ctx.health(unreadable.health)
    ctx.contribute(ReservedKeys, ...ownReservedKeys)
    ctx.contribute(ActionListeners, { ...traceActions(store), ...holdUnknown(store) })
    ctx.contribute(SessionHolds, runHold(store))
    ctx.contribute(AssetReferences, ...runHolders(store))
    ctx.contribute(TargetKeepers, runKeeper(store))
    ctx.contribute(RuntimeSettings, promptSetting)
    ctx.contribute(StatusSections, runsSection({ store, clock, config, deadlines }))
    ctx.contribute(
      Capabilities,
      { name: 'session_events', value: true },
      { name: 'restart_restore', value: true },
      { name: 'session_run_idempotency', value: true },
    )
    ctx.contribute(Subjects, runSubjects(store))
    ctx.contribute(Reasons, runReasons(context))
    ctx.contribute(Metrics, ...measured.metrics)
    ctx.health(runsHealth({ store, clock, config }))
    ctx.repair(tellingVerdicts(log, runRepair(context, config.max_unclean_boots)))
    ctx.repair(unknownRepair(context))
    ctx.onStart(() => host.whenActing(createRestCarryOver({ store, sessions, log })))
    ctx.contribute(DeliveryObservers, { id: 'runs', settled: announceDeliveries(store) })
    ctx.onStart(() => {
      const end = host.whenActing(() => {
        executor.begin()
        return executor.end
      })
      return async () => {
        await deadlines.end()
        await end()
        tellLeft(log, store)
      }
    })
  },
})
