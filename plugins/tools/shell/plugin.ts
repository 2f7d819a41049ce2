import { Supervised, childEnvironment, definePlugin, secretsPassed } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { TaskRunners, Tasks } from '../../execution/tasks/contract.js'
import { createBackground, leaveMs } from './background.js'
import { bashTool } from './bash.js'
import { commandEnvironment } from './child-environment.js'
import { ShellConfig } from './config.js'

export default definePlugin({
  id: 'shell',
  version: '1.0.0',
  api: 1,
  summary: 'The bash tool: commands in the workspace, stopped with everything they started.',
  needs: { supervised: Supervised, tasks: Tasks },
  config: ShellConfig,
  stopMs: ({ grace_ms }) => grace_ms + leaveMs,
  register(ctx, { supervised, tasks }) {
    const { clock, config, ids, log, secrets, signal, state } = ctx
    const environment = () =>
      commandEnvironment(childEnvironment({ pass: config.pass_environment, redact: secrets.redact }))
    const background = createBackground({
      supervised,
      state,
      tasks,
      clock,
      log,
      ids,
      config,
      grace_ms: config.grace_ms,
      silence_ms: config.background_silence_ms,
      spools: state.spools('background'),
      environment,
    })
    ctx.contribute(Tools, bashTool({ supervised, config, signal, background, environment }))
    ctx.contribute(TaskRunners, background.runner)
    ctx.onStart(async () => {
      secretsPassed(config.pass_environment).forEach(secrets.guard)
      if (state.health.mode === 'ok') await background.tidy()
      return background.leave
    })
  },
})
