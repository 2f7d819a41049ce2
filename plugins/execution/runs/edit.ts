/** Changes of one run within one commit: entries, steps, events, and the record put once at the end. */
import type { ReplyHandle } from '../deliveries/contract.js'
import type { Tx } from '../../../core/plugin.js'
import { OutputMade, RunUpdated, type RunRecord, type WaitingRun } from './contract.js'
import { type JournalEntry, type OutputDraft, type RunEvent, shownHandle, type Sessions } from '../sessions/contract.js'
import type { ExternalActions } from '../external-actions/contract.js'
import { callErrors } from './call-errors.js'
import { closeRequests, type Closing } from './close-requests.js'
import { advance, isSettled, type Step } from './machine.js'
import { emitTrace } from './trace.js'
import { deliveriesOf, outputRecord, viewRun } from './views.js'
import type { RunStore } from './store.js'

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'run_id' | 'at'> : never) : never

export type WaitingEvent = Extract<RunEvent, { type: WaitingRun['status'] }>

/** The earliest deadline of some requests; undefined if none has one. */
export const deadlineOf = (requests: readonly { readonly expires_at_ms?: number }[]): number | undefined =>
  requests.reduce<number | undefined>(
    (least, { expires_at_ms: at }) => (at === undefined || (least !== undefined && least <= at) ? least : at),
    undefined,
  )

export interface RunEdit {
  readonly run: RunRecord
  /** Appends a journal entry of the run; returns its sequence. */
  note(entry: Entry): number
  event(event: RunEvent): number
  /** Appends an output, and publishes it when durable. */
  output(output: OutputDraft): void
  /**
   * Takes a step and records the event that belongs to it. What a run still asks when it ends is closed before, in the
   * name of a cancellation if `closing` does not say otherwise.
   */
  step(step: Step, event: RunEvent, closing?: Closing): void
  /** Records the place of a new run in its queue. */
  enqueue(position: number): void
  /** Waits for people: the event with their requests is what the record points to. */
  wait(event: WaitingEvent): void
  /** Goes on after an answer, which is recorded by an event of its own. */
  resume(): void
  /** Changes members that are not part of the life cycle. */
  amend(change: (run: RunRecord) => RunRecord): void
  /** Announces the run although its status stays as it is. */
  show(): void
  /** Puts the record and announces what it has become, however many steps that took. Must be called once, last. */
  save(): RunRecord
}

export interface EditParts {
  /** Knows what was done outside; absent while no plugin keeps it. */
  readonly ledger: () => ExternalActions | undefined
  readonly store: RunStore
  readonly sessions: Sessions
  /** Called when a commit is durable that made this run wait or end. */
  readonly rested: (run: RunRecord) => void
}

export const editRun = (parts: EditParts, tx: Tx, before: RunRecord): RunEdit => {
  const { store } = parts
  const { session_id, run_id } = before
  const keys = { session: session_id, run: run_id }
  let run = before
  let { last } = before
  let moved = false
  const at = Math.max(tx.now, before.updated_at_ms)
  let noted: JournalEntry['type'] | undefined
  const note = (entry: Entry): number => {
    noted = entry.type
    return (last = tx.append(store.journal, session_id, { run_id, at, ...entry }))
  }
  const event = (happened: RunEvent): number => note({ type: 'event', event: happened })
  const become = (step: Step): void => {
    run = advance(run, step, tx.now)
    moved = true
  }
  return {
    get run() {
      return run
    },
    note,
    event,
    output(output) {
      const made = { type: 'output' as const, output }
      const seq = event(made)
      run = withOutput(run, seq, output)
      const targets = targetsOf(parts, run, output)
      const thread_id = parts.sessions.find(session_id)?.thread_id
      store.outbox()?.enqueue(tx, {
        session_id,
        agent_id: before.agent_id,
        ...(thread_id !== undefined && { thread_id }),
        run_id,
        output: seq,
        content: output.content,
        targets,
        ...(output.parts !== undefined && { parts: output.parts }),
      })
      const [first] = targets
      const shown = outputRecord(before, made, first === undefined ? undefined : shownHandle(first))
      tx.emit(OutputMade, keys, () => ({ output: shown }))
    },
    step(step, happened, closing) {
      closeRequests(store, { run, event }, closing)
      event(happened)
      become(step)
    },
    enqueue(position) {
      event({ type: 'queued', position })
      moved = true
    },
    wait: (happened) =>
      become({
        to: happened.type,
        waiting: event(happened),
        pending: happened.request_ids,
        expires_at_ms: deadlineOf(happened.requests),
      }),
    resume() {
      become({ to: 'running' })
      run = { ...run, owner: store.state.health.generation }
    },
    amend(change) {
      run = change(run)
    },
    show() {
      moved = true
    },
    save() {
      run = { ...run, last }
      tx.put(store.runs, run)
      if (noted !== undefined) emitTrace(tx, run, { type: 'session_persisted', record_type: noted })
      if (run.status !== before.status && (isSettled(run) || run.status === 'queued'))
        parts.ledger()?.abandon(tx, run_id, callErrors.call_outcome_lost.code)
      if (!moved) return run
      const shown = run
      const deliveries = deliveriesOf(store, run)
      tx.emit(RunUpdated, keys, () => ({ run: viewRun(store, shown, { deliveries }) }))
      announce(parts, tx, run)
      return run
    },
  }
}

/**
 * Where the outputs of a run go: what its submission named, else the targets of its session. The operator is reached
 * through those of the session alone.
 */
const targetsOf = ({ sessions }: EditParts, run: RunRecord, { source_kind }: OutputDraft): readonly ReplyHandle[] =>
  (source_kind === 'operator_notification' ? undefined : run.reply_targets) ??
  sessions.find(run.session_id)?.reply_targets ??
  []

/** Remembers which output is the model's last answer, as far as that is known of the ones before. */
const withOutput = (run: RunRecord, seq: number, { source_kind }: OutputDraft): RunRecord => {
  const next = { ...run, outputs: [...(run.outputs ?? []), seq] }
  if (source_kind === 'assistant_text') return { ...next, said: seq }
  return run.outputs === undefined ? { ...next, said: 0 } : next
}

/** Tells those who watch the session, and those who wait for the run. */
const announce = ({ sessions, rested }: EditParts, tx: Tx, run: RunRecord): void => {
  const rests = run.status !== 'queued' && run.status !== 'running'
  sessions.announce(tx, run.session_id, { snapshot: rests })
  if (rests) tx.after(() => rested(run))
}
