/** Changes of one run within one commit: entries, steps, events, and the record put once at the end. */
import type { Tx } from '../../../../core/plugin.js'
import { addUsage, countCall, type ToolUse } from '../../../operator/usage/contract.js'
import type { Usage } from '../../models/contract.js'
import type { ReplyHandle } from '../../deliveries/contract.js'
import { shownHandle, type JournalEntry, type OutputDraft, type RunEvent } from '../../sessions/contract.js'
import { callErrors } from './call-errors.js'
import { emitTrace, OutputMade, RunUpdated } from '../views/live-events.js'
import { advance, isTerminal, type Step } from '../record/machine.js'
import { settledOutput } from '../record/output-draft.js'
import { closeRequests, deadlineOf, type Closing } from '../record/requests.js'
import type { ChangeContext } from './run-engine.js'
import { nameGained, namePut, type FileNaming } from '../record/run-files.js'
import { changed, type RunRecord, type WaitingRun } from '../record/run-record.js'
import { restAfter } from '../views/session-status.js'
import { deliveriesOf, noDeliveries, outputRecord, viewRun } from '../views/shown-run.js'

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'run_id' | 'at'> : never) : never

/** What a call cost, and by which price table; empty where it had no price. */
export type Bill = { readonly cost_microusd?: number; readonly price?: string }

export type WaitingEvent = Extract<RunEvent, { type: WaitingRun['status'] }>

/** A run while a commit changes it. */
export interface RunEdit {
  readonly run: RunRecord
  /** Appends a journal entry; returns its sequence. Throws `asset_not_found` for a file of a call that is gone. */
  note(entry: Entry): number
  event(event: RunEvent): number
  /** Appends an output, and publishes it when durable. Throws `asset_not_found` for a file that is gone. */
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
  /**
   * Adds a model call that has ended to what the run used, by what its provider told of it; of the route and model of
   * the run unless a tool asked another.
   */
  bill(usage: Usage | undefined, asked?: Pick<ToolUse, 'route' | 'model'>): Bill
  /** Changes members that are not part of the life cycle. */
  amend(change: (run: RunRecord) => RunRecord): void
  /** Announces the run although its status stays as it is. */
  show(): void
  /** Puts the record and announces what it has become, however many steps that took. Must be called once, last. */
  save(): RunRecord
}

/** The record until it is put: this commit's own copy, unless nothing of it has changed yet. */
type Draft = RunRecord extends infer R ? { -readonly [K in keyof R]: R[K] } : never

/** The one place where records, entries and events of a run are made. */
class Edit implements RunEdit {
  run: RunRecord
  readonly #context: ChangeContext
  readonly #tx: Tx
  readonly #before: RunRecord
  readonly #at: number
  #last: number
  /** Those who watch are told. */
  #isShown = false
  /** No output of the run has gone anywhere. */
  #isUnsent: boolean
  #noted: JournalEntry['type'] | undefined

  constructor(context: ChangeContext, tx: Tx, before: RunRecord) {
    this.#context = context
    this.#tx = tx
    this.#before = before
    this.#at = Math.max(tx.now, before.updated_at_ms)
    this.#last = before.last
    this.#isUnsent = before.outputs === undefined
    this.run = before
  }

  note(entry: Entry): number {
    if (entry.type === 'outcome' && entry.files !== undefined) nameGained(this.#naming(), entry.files)
    return this.#append({ run_id: this.#before.run_id, at: this.#at, ...entry })
  }

  event(event: RunEvent): number {
    return this.#append({ run_id: this.#before.run_id, at: this.#at, type: 'event', event })
  }

  #append(entry: JournalEntry): number {
    this.#noted = entry.type
    this.#last = this.#tx.append(this.#context.store.journal, this.#before.session_id, entry)
    return this.#last
  }

  output(draft: OutputDraft): void {
    const output = settledOutput(draft)
    namePut(this.#naming(), this.run.outputs?.length ?? 0, output)
    const event = { type: 'output' as const, output }
    const seq = this.event(event)
    this.run = withOutput(this.run, seq, output)
    const targets = targetsOf(this.#context, this.run, output)
    if (targets.length > 0) this.#enqueue(seq, output, targets)
    const [first] = targets
    const shown = outputRecord(this.#before, event, first === undefined ? undefined : shownHandle(first))
    this.#tx.emit(OutputMade, keysOf(this.#before), () => ({ output: shown }))
  }

  #naming(): FileNaming {
    const { store, assets } = this.#context
    return { tx: this.#tx, files: store.files, run: this.run, assets }
  }

  /** Hands an output to what takes it to its targets. */
  #enqueue(seq: number, { content, parts, artifacts }: OutputDraft, targets: readonly ReplyHandle[]): void {
    this.#isUnsent = false
    const { session_id, run_id, agent_id } = this.#before
    const thread_id = this.#context.sessions.find(session_id)?.thread_id
    this.#context.store.outbox()?.enqueue(this.#tx, {
      session_id,
      agent_id,
      ...(thread_id !== undefined && { thread_id }),
      run_id,
      output: seq,
      content,
      targets,
      ...(parts !== undefined && { parts }),
      ...(artifacts !== undefined && { artifacts }),
    })
  }

  step(step: Step, event: RunEvent, closing?: Closing): void {
    closeRequests(this.#context.store, this, closing)
    this.event(event)
    this.#become(step)
  }

  #become(step: Step): void {
    this.run = advance(this.run, step, this.#tx.now)
    this.#isShown = true
  }

  enqueue(position: number): void {
    this.event({ type: 'queued', position })
    this.#isShown = true
  }

  wait(event: WaitingEvent): void {
    const waiting = this.event(event)
    const { type: to, request_ids: pending, requests } = event
    this.#become({ to, waiting, pending, expires_at_ms: deadlineOf(requests) })
  }

  resume(): void {
    this.#become({ to: 'running' })
    this.run = { ...this.run, owner: this.#context.store.state.health.generation }
  }

  bill(usage: Usage | undefined, asked?: Pick<ToolUse, 'route' | 'model'>): Bill {
    const { session_id, provider } = this.run
    const { route, model } = asked ?? { route: provider, model: this.run.model }
    const { sums, price } = this.#context.books()?.book(this.#tx, { session_id, route, model, usage }) ?? {
      sums: countCall(usage),
    }
    this.run = changed(this.run, { usage: addUsage(this.run.usage, sums) })
    const { cost_microusd } = sums
    return cost_microusd === undefined || price === undefined ? {} : { cost_microusd, price }
  }

  amend(change: (run: RunRecord) => RunRecord): void {
    this.run = change(this.run)
  }

  show(): void {
    this.#isShown = true
  }

  save(): RunRecord {
    const run: Draft = this.run === this.#before ? { ...this.run } : this.run
    run.last = this.#last
    this.run = run
    const { store, sessions } = this.#context
    this.#tx.put(store.runs, run)
    if (isTerminal(run)) sessions.rest(this.#tx, run.session_id, restAfter(store, run.session_id))
    this.#tell(run)
    return run
  }

  #tell(run: RunRecord): void {
    const [context, tx, before] = [this.#context, this.#tx, this.#before]
    if (this.#noted !== undefined) emitTrace(tx, run, { type: 'session_persisted', record_type: this.#noted })
    if (run.status !== before.status && (isTerminal(run) || run.status === 'queued'))
      context.ledger()?.abandon(tx, run.run_id, callErrors.call_outcome_lost.code)
    if (!this.#isShown) return
    const deliveries = this.#isUnsent ? noDeliveries : deliveriesOf(context.store, run)
    tx.emit(RunUpdated, keysOf(before), () => ({ run: viewRun(context.store, run, { deliveries }) }))
    announce(context, tx, run)
  }
}

export const editRun = (context: ChangeContext, tx: Tx, before: RunRecord): RunEdit => new Edit(context, tx, before)

const keysOf = ({ session_id, run_id }: RunRecord) => ({ session: session_id, run: run_id })

/**
 * Where the outputs of a run go: what its submission named, else the targets of its session. The operator is reached
 * through those of the session alone.
 */
const targetsOf = ({ sessions }: ChangeContext, run: RunRecord, { source_kind }: OutputDraft): readonly ReplyHandle[] =>
  (source_kind === 'operator_notification' ? undefined : run.reply_targets) ??
  sessions.find(run.session_id)?.reply_targets ??
  []

/** Remembers which output is the model's last answer, as far as that is known of the ones before. */
const withOutput = (run: RunRecord, seq: number, { source_kind }: OutputDraft): RunRecord => {
  const outputs = [...(run.outputs ?? []), seq]
  if (source_kind === 'assistant_text') return changed(run, { outputs, said: seq })
  return run.outputs === undefined ? changed(run, { outputs, said: 0 }) : { ...run, outputs }
}

/** Tells those who watch the session, and those who wait for the run. */
const announce = ({ sessions, halted }: ChangeContext, tx: Tx, run: RunRecord): void => {
  const isHalted = run.status !== 'queued' && run.status !== 'running'
  sessions.announce(tx, run.session_id, { snapshot: isHalted })
  if (isHalted) tx.after(() => halted(run))
}
