import { definePlugin, defineRoute, Host, Metrics, textReply, type Metric } from '../../../core/plugin.js'
import { createLoopDelay } from './loop-delay.js'
import { familyText, textType } from './text.js'

export default definePlugin({
  id: 'metrics',
  version: '1.0.0',
  api: 1,
  summary: 'What the daemon measures, for Prometheus.',
  needs: { host: Host },
  register(ctx, { host }) {
    const { log } = ctx
    const contributed = ctx.view(Metrics)
    const loop = createLoopDelay(ctx.clock)
    const told = (metric: Metric): string => {
      try {
        return familyText(metric)
      } catch (error) {
        log.error('a metric could not be collected', { metric: metric.name, error })
        return ''
      }
    }
    ctx.routes(
      defineRoute({
        id: 'metrics.read',
        method: 'GET',
        path: '/metrics',
        summary: 'What the daemon measures, in the text format of Prometheus.',
        access: 'read',
        reply: textReply(textType),
        handler: () => {
          loop.begin()
          return [...host.metrics(), loop.metric, ...contributed()].map(told).join('')
        },
      }),
    )
  },
})
