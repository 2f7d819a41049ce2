import { Metrics, definePlugin } from '../../../core/plugin.js'
import { Assets } from '../../media/assets/contract.js'
import { Settings } from '../../operator/runtime/contract.js'
import { Consultations } from '../consultations/contract.js'
import { Interception } from '../interception/contract.js'
import { Models, SystemSections } from '../models/contract.js'
import { RunEngine, Runs, RunWorkspaces } from '../runs/contract.js'
import { SessionAgents } from '../sessions/contract.js'
import { ToolRegistry, Tools } from '../tools/contract.js'
import { RunObservers } from './contract.js'
import { emitOutput } from './emit-output.js'
import { createEngine } from './engine.js'
import { createStepMetrics } from './metrics.js'
import { smallWindows } from './prompt/shown-tools.js'
import { threadStarts } from './thread/threads.js'

export default definePlugin({
  id: 'engine',
  version: '1.0.0',
  api: 1,
  summary: 'Executes runs: model calls, tool calls, permissions and completion.',
  needs: { tools: ToolRegistry, settings: Settings },
  wants: {
    models: Models,
    runs: Runs,
    interception: Interception,
    consultations: Consultations,
    assets: Assets,
    workspaces: RunWorkspaces,
    agents: SessionAgents,
  },
  provides: [RunEngine],
  register(ctx, { tools, settings, models, runs, interception, consultations, assets, workspaces, agents }) {
    ctx.provide(
      RunEngine,
      createEngine({
        tools,
        settings,
        observers: ctx.view(RunObservers),
        interception,
        consultations,
        sections: ctx.view(SystemSections),
        starts: ctx.state.collection(threadStarts),
        assets,
        workspaces,
        agents,
      }),
    )
    ctx.health(smallWindows(models, tools))
    ctx.contribute(Tools, emitOutput({ runs, assets }))
    const { observer, metrics } = createStepMetrics()
    ctx.contribute(RunObservers, observer)
    ctx.contribute(Metrics, ...metrics)
  },
})
