import { Host, Processes, childEnvironment, definePlugin } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { TaskRunners, Tasks } from '../../execution/tasks/contract.js'
import { createBackground, leaveMs } from './background.js'
import { bashTool } from './bash.js'
import { commandEnvironment } from './child-environment.js'
import { ShellConfig } from './config.js'
import { markerOf, rootTag, stopLeftovers } from './leftovers.js'

/** A start does not wait longer than this for what an earlier one left, milliseconds. */
const startGrace = 1_000

export default definePlugin({
  id: 'shell',
  version: '1.0.0',
  api: 1,
  summary: 'The bash tool: commands in the workspace, stopped with everything they started.',
  needs: { host: Host, processes: Processes, tasks: Tasks },
  config: ShellConfig,
  stopMs: ({ grace_ms }) => grace_ms + leaveMs,
  register(ctx, { host, processes, tasks }) {
    const { clock, config, ids, log, secrets, signal, state } = ctx
    const tag = rootTag(host.stateRoot)
    const makeMarker = (unique: string): string => markerOf(tag, state.health.generation, unique)
    const makeEnvironment = (marker: string) =>
      commandEnvironment(childEnvironment({ pass: config.pass_environment, redact: secrets.redact }), marker)
    const background = createBackground({
      processes,
      state,
      tasks,
      clock,
      log,
      ids,
      config,
      grace_ms: config.grace_ms,
      silence_ms: config.background_silence_ms,
      spools: state.spools('background'),
      makeMarker,
      environment: makeEnvironment,
    })
    ctx.contribute(
      Tools,
      bashTool({
        processes,
        clock,
        config,
        signal,
        background,
        makeMarker: () => makeMarker(ids.random(8)),
        environment: makeEnvironment,
      }),
    )
    ctx.contribute(TaskRunners, background.runner)
    ctx.onStart(async () => {
      const { found, remaining } = await stopLeftovers({
        clock,
        grace_ms: Math.min(config.grace_ms, startGrace),
        tag,
        generation: state.health.generation,
      })
      if (found > 0) log.warn('stopped processes that commands of an earlier start had left', { found, remaining })
      if (state.health.mode === 'ok') await background.tidy()
      return background.leave
    })
  },
})
