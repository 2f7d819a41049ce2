/** Who waits for runs: for one to wait or end, or for all that end. */
import type { Log } from '../../../../core/plugin.js'
import type { RunRecord, TerminalRun } from '../record/run-record.js'
import { isTerminal } from '../record/machine.js'
import type { RunStore } from '../record/store.js'

type Listener = (run: TerminalRun) => void

export interface Waiters {
  onEnded(listener: Listener): () => void
  /** Called when a run waits or has ended, and that is durable. */
  halted(run: RunRecord): void
  waitFor(run_id: string, signal: AbortSignal): Promise<void>
}

export const createWaiters = (store: RunStore, log: Log): Waiters => {
  const waiting = new Map<string, Set<() => void>>()
  const listeners = new Set<Listener>()
  const tell = (listener: Listener, run: TerminalRun): void => {
    try {
      listener(run)
    } catch (error) {
      log.error('a listener for ended runs threw, which its contract forbids', { run_id: run.run_id, error })
    }
  }
  return {
    halted(run) {
      for (const resolve of waiting.get(run.run_id) ?? []) resolve()
      waiting.delete(run.run_id)
      if (isTerminal(run)) for (const listener of listeners) tell(listener, run)
    },
    waitFor: (run_id, signal) =>
      new Promise((resolve) => {
        const run = store.runs.find(run_id)
        if (run === undefined || isTerminal(run) || 'pending' in run || signal.aborted) return resolve()
        const known = waiting.get(run_id) ?? new Set()
        waiting.set(run_id, known.add(resolve))
        signal.addEventListener(
          'abort',
          () => {
            known.delete(resolve)
            resolve()
          },
          { once: true },
        )
      }),
    onEnded: (listener) => (listeners.add(listener), () => void listeners.delete(listener)),
  }
}
