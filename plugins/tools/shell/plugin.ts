import { Host, definePlugin, environment } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { bashTool } from './bash.js'
import { childEnvironment } from './child-environment.js'
import { ShellConfig } from './config.js'
import { markerOf, rootTag, stopLeftovers } from './leftovers.js'

/** A start does not wait longer than this for what an earlier one left, milliseconds. */
const startGrace = 1_000

export default definePlugin({
  id: 'shell',
  version: '1.0.0',
  api: 1,
  summary: 'The bash tool: commands in the workspace, stopped with everything they started.',
  needs: { host: Host },
  config: ShellConfig,
  register(ctx, { host }) {
    const { clock, config, ids, log, secrets, signal, state } = ctx
    const tag = rootTag(host.stateRoot)
    ctx.contribute(Tools, bashTool({
      clock, config, signal,
      makeMarker: () => markerOf(tag, state.health.generation, ids.random(8)),
      environment: (marker) => childEnvironment({ environment: environment(), pass: config.pass_environment, redact: secrets.redact, marker }),
    }))
    ctx.onStart(async () => {
      const { found, remaining } = await stopLeftovers({ clock, grace_ms: Math.min(config.grace_ms, startGrace), tag, generation: state.health.generation })
      if (found > 0) log.warn('stopped processes that commands of an earlier start had left', { found, remaining })
    })
  },
})
