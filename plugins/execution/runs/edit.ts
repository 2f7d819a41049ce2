/** Changes of one run within one commit: entries, steps, events, and the record put once at the end. */
import type { Tx } from '../../../core/plugin.js'
import { OutputMade, RunUpdated } from './contract.js'
import type { JournalEntry, OutputDraft, RunEvent, RunRecord, WaitingRun } from './contract.js'
import type { Sessions } from '../sessions/contract.js'
import { advance } from './machine.js'
import type { Step } from './machine.js'
import { outputRecord, viewRun } from './views.js'
import type { RunStore } from './store.js'

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'run_id' | 'at'> : never) : never

export interface RunEdit {
  readonly run: RunRecord
  /** Appends a journal entry of the run; returns its sequence. */
  note(entry: Entry): number
  event(event: RunEvent): number
  /** Appends an output, and publishes it when durable. */
  output(output: OutputDraft): void
  /** Takes a step and records the event that belongs to it. */
  step(step: Step, event: RunEvent): void
  /** Records the place of a new run in its queue. */
  enqueue(position: number): void
  /** Waits for people: the event with their requests is what the record points to. */
  wait(status: WaitingRun['status'], pending: readonly string[], event: RunEvent): void
  /** Goes on after an answer, which is recorded by an event of its own. */
  resume(): void
  /** Changes members that are not part of the life cycle. */
  amend(change: (run: RunRecord) => RunRecord): void
  /** Puts the record and announces what changed. Must be called once, last. */
  save(): RunRecord
}

export interface EditParts {
  readonly store: RunStore
  readonly sessions: Sessions
  /** Called when a commit is durable that made this run wait or end. */
  readonly rested: (run: RunRecord) => void
}

export const editRun = ({ store, sessions, rested }: EditParts, tx: Tx, before: RunRecord, isNew = false): RunEdit => {
  let run = before
  let moved = isNew
  const note = (entry: Entry): number => {
    const seq = tx.append(store.journal, run.session_id, { run_id: run.run_id, at: tx.now, ...entry })
    run = { ...run, first: run.first === 0 ? seq : run.first, last: seq }
    return seq
  }
  const publish = (): void => {
    const shown = run
    tx.emit(RunUpdated, { session: run.session_id, run: run.run_id }, () => ({ run: viewRun(store, shown) }))
  }
  const event = (happened: RunEvent): number => note({ type: 'event', event: happened })
  return {
    get run() { return run },
    note,
    event,
    output(output) {
      const made = { type: 'output' as const, output }
      const seq = event(made)
      run = { ...run, outputs: [...(run.outputs ?? []), seq] }
      const { session_id, run_id } = run
      tx.emit(OutputMade, { session: session_id, run: run_id }, () => ({ output: outputRecord(session_id, run_id, made) }))
    },
    step(step, happened) {
      run = advance(run, step, tx.now)
      event(happened)
      moved = true
      publish()
    },
    enqueue(position) {
      event({ type: 'queued', position })
      publish()
    },
    wait(status, pending, happened) {
      const waiting = event(happened)
      run = advance(run, { to: status, waiting, pending }, tx.now)
      moved = true
      publish()
    },
    resume() {
      run = { ...advance(run, { to: 'running' }, tx.now), owner: store.state.health.generation }
      moved = true
      publish()
    },
    amend(change) { run = change(run) },
    save() {
      tx.put(store.runs, run)
      const rests = run.status !== 'queued' && run.status !== 'running'
      if (moved) sessions.announce(tx, run.session_id, rests)
      if (rests) tx.after(() => rested(run))
      return run
    },
  }
}
