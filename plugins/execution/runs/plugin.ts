import { createUnreadable, definePlugin, doc, Host, string } from '../../../core/plugin.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { Outbox } from '../deliveries/contract.js'
import { ActionListeners, ExternalActions } from '../external-actions/contract.js'
import { Models, SystemSections } from '../models/contract.js'
import { SessionActivity, SessionHolds, Sessions } from '../sessions/contract.js'
import { ToolRegistry, Tools } from '../tools/contract.js'
import { actionCommands } from './action-commands.js'
import { actionRoutes } from './action-routes.js'
import { traceActions } from './action-trace.js'
import { createActivity, runHold } from './activity.js'
import { runCommands } from './commands.js'
import { runsConfig, runsFlags } from './config.js'
import { CompletionChecks, ReservedKeys, RunObserver, Runs, type RunRecord } from './contract.js'
import { announceDelivery } from './delivered.js'
import { createDues } from './dues.js'
import { ownReservedKeys } from './origin.js'
import { createExecutor } from './executor.js'
import type { EngineParts } from './parts.js'
import { runRepair } from './repair.js'
import { isSettled } from './machine.js'
import { runRoutes } from './routes.js'
import { tellEnd, tellingVerdicts, tellLeft } from './run-log.js'
import { createRests, createRuns } from './service.js'
import { sessionRunRoutes } from './session-routes.js'
import { runsHealth, runsSection } from './status.js'
import { declareStore } from './store.js'
import { createThreads } from './threads.js'
import { emitOutput } from './tools.js'

/** Conversations kept in memory between runs. */
const keptThreads = 512

export default definePlugin({
  id: 'runs',
  version: '1.0.0',
  api: 1,
  summary: 'The run engine: queues, steps, effects, waits and restart repair.',
  needs: { host: Host, sessions: Sessions, models: Models, tools: ToolRegistry },
  wants: { outbox: Outbox, ledger: ExternalActions, observer: RunObserver },
  provides: [Runs, SessionActivity],
  config: runsConfig,
  flags: runsFlags,
  stopMs: ({ drain_ms, stop_grace_ms }) => drain_ms + stop_grace_ms,
  commands: [...runCommands, ...actionCommands],
  register(ctx, { host, sessions, models, tools, outbox, ledger, observer }) {
    const { config, clock, ids, log, events } = ctx
    const store = declareStore(ctx.state, { journal: sessions.journal, outbox })
    const rests = createRests(store)
    const dues = createDues({ store, clock, log })
    const rested = (run: RunRecord): void => {
      rests.rested(run)
      if (isSettled(run)) tellEnd(log, run)
      if ('expires_at_ms' in run) dues.stir()
    }
    const threads = createThreads(store, { kept: keptThreads, max_bytes: config.context_max_bytes })
    const parts: EngineParts = {
      store,
      sessions,
      ledger,
      observer,
      models,
      tools,
      threads,
      clock,
      ids,
      log,
      events,
      config,
      rested,
      sections: ctx.view(SystemSections),
      reserved: ctx.view(ReservedKeys),
      checks: ctx.view(CompletionChecks),
    }
    const executor = createExecutor(parts)
    const runs = createRuns({ parts, executor }, { rests, dues })
    ctx.provide(Runs, runs)
    ctx.provide(SessionActivity, createActivity(store))
    const unreadable = createUnreadable(log, 'runs')
    const routed = { parts, executor, runs, skip: unreadable.skip }
    ctx.routes(...runRoutes(routed), ...actionRoutes(routed), ...sessionRunRoutes(routed))
    ctx.health(unreadable.health)
    ctx.contribute(ReservedKeys, ...ownReservedKeys)
    ctx.contribute(ActionListeners, traceActions(store))
    ctx.contribute(SessionHolds, runHold(store))
    ctx.contribute(
      Tools,
      emitOutput(() => runs),
    )
    ctx.contribute(RuntimeSections, {
      name: 'system_prompt',
      schema: doc(string(), 'What models are told first, before the sections of plugins.'),
      collect: () => config.system_prompt,
    })
    ctx.contribute(StatusSections, runsSection({ store, clock, config, dues }))
    ctx.contribute(
      Capabilities,
      { name: 'session_events', value: true },
      { name: 'restart_restore', value: true },
      { name: 'session_run_idempotency', value: true },
    )
    ctx.health(runsHealth({ store, clock, config }))
    ctx.repair(tellingVerdicts(log, runRepair(parts, config.max_unclean_boots)))
    ctx.onStart(() => outbox()?.onSettled(announceDelivery(store)))
    ctx.onStart(() => {
      const end = host.whenActing(() => {
        executor.begin()
        return executor.end
      })
      return async () => {
        await dues.end()
        await end()
        tellLeft(log, store)
      }
    })
  },
})
