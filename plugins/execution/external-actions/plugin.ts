import { definePlugin, integer, object, doc } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { ActionListeners, ExternalActions } from './contract.js'
import { createLedger } from './ledger.js'
import { unknownCheck } from './unknown.js'
import { declareStore } from './store.js'

export default definePlugin({
  id: 'external-actions',
  version: '1.0.0',
  api: 1,
  summary: 'The ledger of what runs did outside the daemon.',
  provides: [ExternalActions],
  config: object({}),
  register(ctx) {
    const store = declareStore(ctx.state)
    const ledger = createLedger({ store, listeners: ctx.observers(ActionListeners) })
    ctx.provide(ExternalActions, ledger)
    ctx.health(unknownCheck(ledger))
    ctx.contribute(StatusSections, {
      name: 'external_actions',
      schema: object({
        unknown_run_count: doc(
          integer(),
          'Runs with an effect of which nobody can tell whether it happened, and that nobody has acknowledged: ' +
            'GET /v1/runs?unknown=true.',
        ),
      }),
      collect: () => ({ unknown_run_count: store.ranges.count('unknown', 'unknown') }),
    })
  },
})
