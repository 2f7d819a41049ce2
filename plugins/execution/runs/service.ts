/** Runs as other plugins see them. */
import type { Tx } from '../../../core/plugin.js'
import { askBeside, settleBeside } from './lifecycle/beside.js'
import { activeRun } from './views/session-status.js'
import type { RunRecord, Runs, WaitingRun } from './contract.js'
import type { JournalEntry, OutputDraft } from '../sessions/contract.js'
import type { Deadlines } from './lifecycle/deadlines.js'
import { editRun } from './lifecycle/run-changes.js'
import { getRun } from './record/get-run.js'
import { stopOne } from './lifecycle/stop.js'
import type { ControlContext } from './lifecycle/executor.js'
import type { Waiters } from './lifecycle/waiters.js'
import { settledOutput } from './record/output-draft.js'
import { findReceipt, isUsed, replayed } from './record/receipts.js'
import { sessionOfBinding } from './submission/bindings.js'
import { openStatuses } from './record/run-record.js'
import { activeLane, entryAt, newestOwn, ownEntries, queuedLane, type RunStore } from './record/store.js'
import { keepFiles, storeFiles } from './submission/files.js'
import { admitRun, checkSubmission, prepareRun, submitRun } from './submission/submit.js'
import { viewRun } from './views/shown-run.js'
import { deciderOf, openApprovals, openQuestions, resolutionOf } from './record/requests.js'
import { answer, cancelWait, decide } from './lifecycle/answers.js'

const waitingOf = (run: RunRecord): WaitingRun[] => ('pending' in run ? [run] : [])

export const createRuns = (
  context: ControlContext,
  { waiters, deadlines }: { waiters: Waiters; deadlines: Deadlines },
): Runs => {
  const { store } = context
  const get = (run_id: string): RunRecord => getRun(store, run_id)
  return {
    submit: async (submission) => (await submitRun(context, submission)).run,
    admit: (submission) => admitRun(context, submission),
    prepare: (submission) => prepareRun(context, submission),
    wake: (session_id) => context.executor.wake(session_id),
    check: (submission) => checkSubmission(context, submission),
    keepFiles: (input) => keepFiles(context.assets(), input),
    storeFiles: (submission) => storeFiles(context, submission),
    find: (run_id) => store.runs.find(run_id),
    get,
    view: (run, caller) => viewRun(store, run, { caller }),
    sessionOfBinding: (key) => sessionOfBinding(store, key),
    ...createHistory(store),
    active: (session_id) => activeRun(store, session_id),
    latest: (session_id) => newestOwn(store, session_id, 'session'),
    queued: (session_id) => store.runs.count('lane', queuedLane(session_id)),
    openIn: (session_id) =>
      [activeLane(session_id), queuedLane(session_id)].flatMap((lane) => [...store.runs.ids('lane', lane)]),
    waiting: (status) => store.runs.ids('status', status).flatMap((run_id) => waitingOf(get(run_id))),
    openApprovals: (run) => openApprovals(store, run),
    openQuestions: (run) => openQuestions(store, run),
    deciderOf: (run, request_id) => deciderOf(store, run, request_id),
    resolutionOf: (run, request_id) => resolutionOf(store, run, request_id),
    replayed: (receipt) => replayed(store, receipt),
    isUsed: (receipt) => isUsed(store, receipt),
    used: (named) => findReceipt(store, named),
    decide: (decision) => decide(context, decision),
    answer: (given) => answer(context, given),
    cancelWait: (cancellation) => cancelWait(context, cancellation),
    askBeside: (tx, asked) => askBeside(context, tx, asked),
    settleBeside: (tx, settled) => settleBeside(context, tx, settled),
    cancel: (run_id) => stopOne(context, run_id, { kind: 'cancel' }),
    waitFor: (run_id, signal) => waiters.waitFor(run_id, signal),
    output: (tx, run_id, output) => addOutput(context, tx, { run: get(run_id), output }),
    onDue: (status, expire) => deadlines.watch(status, expire),
    onEnded: (listener) => waiters.onEnded(listener),
  }
}

const addOutput = (context: ControlContext, tx: Tx, { run, output }: { run: RunRecord; output: OutputDraft }): void => {
  if (run.status !== 'running' || settledOutput(output).content.trim() === '') return
  const edit = editRun(context, tx, run)
  edit.output(output)
  edit.save()
}

/** Questions of one run to other sessions that are told of. */
const mostAsked = 1_000

/** What has been, for those who remember runs. */
const createHistory = (
  store: RunStore,
): Pick<Runs, 'texts' | 'newest' | 'inSession' | 'askedBy' | 'failedTurns' | 'entries' | 'open'> => ({
  texts(run) {
    const content = (seq: number, type: 'accepted' | 'output'): string =>
      contentOf(entryAt(store, run.session_id, seq), type)
    const last = run.outputs?.findLast((seq) => content(seq, 'output').trim() !== '')
    return { request: content(run.first, 'accepted'), ...(last !== undefined && { outcome: content(last, 'output') }) }
  },
  newest: ({ limit, before }) =>
    store.runs.list({
      index: 'all',
      group: 'all',
      order: 'desc',
      limit,
      ...(before !== undefined && { beyond: before }),
    }),
  inSession: ({ session_id, limit, beyond }) =>
    store.runs.list({ index: 'session', group: session_id, limit, ...(beyond !== undefined && { beyond }) }),
  askedBy: (run_id) => store.runs.list({ index: 'asker', group: run_id, limit: mostAsked }),
  failedTurns: (group, limit) => store.runs.list({ index: 'failed_turns', group, limit, order: 'desc' }),
  entries: (run, after) => ownEntries(store, run, after),
  open: () => openStatuses.flatMap((status) => [...store.runs.ids('status', status)]),
})

const contentOf = (entry: JournalEntry | undefined, type: 'accepted' | 'output'): string => {
  if (entry?.type !== 'event' || entry.event.type !== type) return ''
  return entry.event.type === 'accepted'
    ? entry.event.content
    : entry.event.type === 'output'
      ? entry.event.output.content
      : ''
}
