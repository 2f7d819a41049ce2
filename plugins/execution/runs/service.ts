/** The engine as other plugins see it. */
import type { Tx } from '../../../core/plugin.js'
import { activeRun } from './activity.js'
import { sessionOfBinding } from './bindings.js'
import type { RunRecord, Runs, WaitingRun } from './contract.js'
import type { OutputDraft } from '../sessions/contract.js'
import type { Dues } from './dues.js'
import { editRun } from './edit.js'
import { runErrors } from './errors.js'
import type { Desk } from './executor.js'
import { createHistory } from './history.js'
import { isSettled } from './machine.js'
import type { EngineParts } from './parts.js'
import { replayed } from './receipts.js'
import type { RunStore } from './store.js'
import { checkSubmission, submitRun } from './submit.js'
import { deciderOf, openApprovals, openQuestions, viewRun } from './views.js'
import { answer, cancelWait, decide } from './waits.js'

type OnSettled = Parameters<Runs['onSettled']>[0]

/** Who waits for runs to come to rest. */
export interface Rests extends Pick<Runs, 'onSettled'> {
  /** Called when a run waits or has ended, and that is durable. */
  rested(run: RunRecord): void
  wait(run_id: string, signal: AbortSignal): Promise<void>
}

export const createRests = (store: RunStore): Rests => {
  const waiting = new Map<string, Set<() => void>>()
  const ends = new Set<OnSettled>()
  return {
    rested(run) {
      for (const resolve of waiting.get(run.run_id) ?? []) resolve()
      waiting.delete(run.run_id)
      if (isSettled(run)) for (const listener of ends) listener(run)
    },
    wait: (run_id, signal) =>
      new Promise((resolve) => {
        const run = store.runs.find(run_id)
        if (run === undefined || isSettled(run) || 'pending' in run || signal.aborted) return resolve()
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
    onSettled: (listener) => (ends.add(listener), () => void ends.delete(listener)),
  }
}

const waitingOf = (run: RunRecord): WaitingRun[] => ('pending' in run ? [run] : [])

export const createRuns = ({ parts, executor }: Desk, { rests, dues }: { rests: Rests; dues: Dues }): Runs => {
  const { store } = parts
  const get = (run_id: string): RunRecord => {
    const run = store.runs.find(run_id)
    if (run === undefined) throw runErrors.run_not_found({ details: { run_id } })
    return run
  }
  return {
    submit: async (submission) => (await submitRun({ parts, executor }, submission)).run,
    check: (submission) => checkSubmission(parts, submission),
    find: (run_id) => store.runs.find(run_id),
    get,
    view: (run, caller) => viewRun(store, run, { caller }),
    sessionOfBinding: (key) => sessionOfBinding(store, key),
    ...createHistory(store),
    active: (session_id) => activeRun(store, session_id),
    latest: (session_id) => store.runs.list({ index: 'session', group: session_id, limit: 1, order: 'desc' })[0],
    waiting: (status) => store.runs.ids('status', status).flatMap((run_id) => waitingOf(get(run_id))),
    openApprovals: (run) => openApprovals(store, run),
    openQuestions: (run) => openQuestions(store, run),
    deciderOf: (run, request_id) => deciderOf(store, run, request_id),
    replayed: (receipt) => replayed(store, receipt),
    decide: (decision) => decide({ parts, executor }, decision),
    answer: (given) => answer({ parts, executor }, given),
    cancelWait: (cancellation) => cancelWait({ parts, executor }, cancellation),
    rest: (run_id, signal) => rests.wait(run_id, signal),
    output: (tx, run_id, output) => addOutput(parts, tx, { run: get(run_id), output }),
    onDue: (status, expire) => dues.join(status, expire),
    onSettled: (listener) => rests.onSettled(listener),
  }
}

const addOutput = (parts: EngineParts, tx: Tx, { run, output }: { run: RunRecord; output: OutputDraft }): void => {
  if (run.status !== 'running' || output.content.trim() === '') return
  const edit = editRun(parts, tx, run)
  edit.output(output)
  edit.save()
}
