import { definePlugin, Host, Metrics } from '../../../core/plugin.js'
import { UsageBooks } from '../../operator/usage/contract.js'
import { Models } from '../models/contract.js'
import { Sessions } from '../sessions/contract.js'
import { createConsult } from './consult.js'
import { ConsultationObservers, Consultations } from './contract.js'
import { createPurposes } from './purposes.js'
import { checkRoute } from './routes.js'

export default definePlugin({
  id: 'consultations',
  version: '1.0.0',
  api: 1,
  summary: 'Asks models outside of runs, within the budgets and scopes of sessions.',
  needs: { host: Host, models: Models },
  wants: { sessions: Sessions, books: UsageBooks },
  provides: [Consultations],
  register(ctx, { host, models, sessions, books }) {
    const observers = ctx.view(ConsultationObservers)
    const ask = createConsult({ models, sessions, books, observers, state: ctx.state, log: ctx.log, clock: ctx.clock })
    const { observer, metrics } = createPurposes()
    ctx.contribute(ConsultationObservers, observer)
    ctx.contribute(Metrics, ...metrics)
    ctx.routes(checkRoute({ models, ask, clock: ctx.clock, redact: ctx.secrets.redact, leaving: host.leaving }))
    ctx.provide(Consultations, {
      ask,
      routes: () => models.list().map(({ route_id }) => route_id),
    })
  },
})
