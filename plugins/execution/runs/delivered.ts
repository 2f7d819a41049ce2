/** What the end of a delivery means for its run: those who watch see the run with it. */
import type { Tx } from '../../../core/plugin.js'
import type { DeliveryView } from '../deliveries/contract.js'
import { RunUpdated } from './contract.js'
import type { RunStore } from './store.js'
import { emitTrace } from './trace.js'
import { deliveriesOf, viewRun } from './views.js'

export const announceDelivery =
  (store: RunStore) =>
  (tx: Tx, { run_id, plugin, status }: DeliveryView): void => {
    const run = run_id === undefined ? undefined : store.runs.find(run_id)
    if (run === undefined) return
    const deliveries = deliveriesOf(store, run)
    if (status === 'delivered') emitTrace(tx, run, { type: 'output_dispatched', plugin })
    tx.emit(RunUpdated, { session: run.session_id, run: run.run_id }, () => ({
      run: viewRun(store, run, { deliveries }),
    }))
  }
