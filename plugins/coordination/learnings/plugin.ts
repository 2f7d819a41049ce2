import { commandLine, defineRoute, definePlugin, jsonReply, type Warning } from '../../../core/plugin.js'
import { RuntimeSettings, Settings } from '../../operator/runtime/contract.js'
import { ConfiguredPolicy, LearningPolicy, learningPolicy } from './policy.js'

export default definePlugin({
  id: 'learnings',
  version: '1.0.0',
  api: 1,
  summary: 'What the operator decided about learnings.',
  needs: { settings: Settings },
  config: ConfiguredPolicy,
  register(ctx, { settings }) {
    const setting = learningPolicy(ctx.config)
    ctx.contribute(RuntimeSettings, setting)
    ctx.routes(
      defineRoute({
        id: 'runtime.learning_policy',
        method: 'GET',
        path: '/v1/runtime/learning-policy',
        access: 'read',
        summary: 'What is done about learnings. This daemon has none yet: nothing acts on it.',
        reply: jsonReply(LearningPolicy),
        handler: () => settings.get(setting),
      }),
    )
    ctx.health({ id: 'learning-policy', check: () => (settings.get(setting).mode === 'enabled' ? [unread] : []) })
  },
})

/** Who switches it on expects that something happens. */
const unread: Warning = {
  severity: 'warning',
  code: 'learning_policy_unread',
  message: 'The learning policy is enabled, and this daemon has no learnings yet: nothing acts on it.',
  action: `To hear no more of it: ${commandLine('runtime learning-policy set --mode shadow')}`,
}
