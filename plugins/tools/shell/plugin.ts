import { Host, Supervised, childEnvironment, definePlugin, secretsPassed } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { TaskRunners, Tasks } from '../../execution/tasks/contract.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { createBackground, leaveMs } from './background.js'
import { bashTool } from './bash.js'
import { commandEnvironment } from './child-environment.js'
import { ShellConfig } from './config.js'
import { createSandbox } from './sandbox/sandbox.js'
import { sandboxHealth, ShellView, shellView } from './sandbox/views.js'

export default definePlugin({
  id: 'shell',
  version: '1.0.0',
  api: 1,
  summary: 'The bash tool: commands in the workspace, stopped with everything they started.',
  needs: { host: Host, supervised: Supervised, tasks: Tasks },
  config: ShellConfig,
  flags: { sandbox: 'shell-sandbox' },
  stopMs: ({ grace_ms }) => grace_ms + leaveMs,
  register(ctx, { host, supervised, tasks }) {
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
    })
    const sandbox = createSandbox({ supervised, settings: config, stateRoot: host.stateRoot })
    const shown = { name: 'shell', schema: ShellView, collect: () => shellView(sandbox, config) }
    ctx.contribute(StatusSections, shown)
    ctx.contribute(RuntimeSections, shown)
    ctx.health(sandboxHealth(sandbox))
    ctx.contribute(Tools, bashTool({ supervised, config, signal, background, sandbox, environment }))
    ctx.contribute(TaskRunners, background.runner)
    ctx.onStart(async () => {
      await sandbox.look()
      secretsPassed(config.pass_environment).forEach(secrets.guard)
      if (state.health.mode === 'ok') await background.tidy()
      return background.leave
    })
  },
})
