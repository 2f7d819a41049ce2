import { blame, definePlugin, defineRoute, Host, Metrics, textReply, type Metric } from '../../../core/plugin.js'
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
        log.error('a metric could not be collected', { metric: metric.name, error: blame(metric, error) })
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
          // Of two with one name the first is told: a second one would make all of the text unreadable.
          const all = new Map<string, Metric>()
          for (const metric of [...host.metrics(), loop.metric, ...contributed()])
            if (!all.has(metric.name)) all.set(metric.name, metric)
          return [...all.values()].map(told).join('')
        },
      }),
    )
  },
})
