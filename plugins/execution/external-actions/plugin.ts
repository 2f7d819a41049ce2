import { definePlugin, integer, object, doc } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { Runs } from '../runs/contract.js'
import { actionCommands } from './commands.js'
import { ExternalActions } from './contract.js'
import { createLedger } from './ledger.js'
import { actionRoutes } from './routes.js'
import { declareStore } from './store.js'

export default definePlugin({
  id: 'external-actions',
  version: '1.0.0',
  api: 1,
  summary: 'The ledger of what runs did outside the daemon.',
  needs: { runs: Runs },
  provides: [ExternalActions],
  config: object({}),
  commands: actionCommands,
  register(ctx, { runs }) {
    const store = declareStore(ctx.state)
    ctx.provide(ExternalActions, createLedger({ store, agentOf: (run_id) => runs.find(run_id)?.agent_id }))
    ctx.routes(...actionRoutes({ store, runs }))
    ctx.contribute(StatusSections, {
      name: 'external_actions',
      schema: object({
        unknown_run_count: doc(
          integer(),
          'Runs with an effect of which nobody can tell whether it happened: read them with holdfast runs ' +
            'actions RUN_ID.',
        ),
      }),
      collect: () => ({ unknown_run_count: store.ranges.count('unknown', 'unknown') }),
    })
  },
})
