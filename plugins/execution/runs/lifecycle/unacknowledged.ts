/** A run stays as long as somebody has to look what came of its effects (retention-4). */
import type { RepairStep, Tx } from '../../../../core/plugin.js'
import type { ActionListener } from '../../external-actions/contract.js'
import { isTerminal } from '../record/machine.js'
import { changed } from '../record/run-record.js'
import type { RunStore } from '../record/store.js'
import type { ChangeContext } from './run-engine.js'

type Store = Pick<RunStore, 'runs'>

/** An ended run says itself that it is looked for; one that goes on cannot fall, and its end asks again. */
const mark = ({ runs }: Store, tx: Tx, { run_id, isUnknown }: { run_id: string; isUnknown: boolean }): void => {
  const run = runs.find(run_id)
  if (run === undefined || !isTerminal(run) || (run.unacknowledged === true) === isUnknown) return
  const { unacknowledged: _, ...plain } = run
  tx.put(runs, isUnknown ? changed(run, { unacknowledged: true as const }) : plain)
}

export const holdUnknown = (store: Store): Pick<ActionListener, 'unknown'> => ({
  unknown: (tx, run_id, isUnknown) => mark(store, tx, { run_id, isUnknown }),
})

/** Runs of earlier versions do not say it. */
export const unknownRepair = ({ store, ledger }: Pick<ChangeContext, 'store' | 'ledger'>): RepairStep<string> => ({
  id: 'runs.unacknowledged',
  check: () =>
    (ledger()?.unknown() ?? []).filter((run_id) => {
      const run = store.runs.find(run_id)
      return run !== undefined && isTerminal(run) && run.unacknowledged === undefined
    }),
  fix: (found) =>
    store.state.commit((tx) => {
      for (const run_id of found) mark(store, tx, { run_id, isUnknown: true })
    }),
})
