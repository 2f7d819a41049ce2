/** Runs like the template: other ids, a later time, the next numbers of their session. */
import { hash } from 'node:crypto'
import { digest } from '../../../core/base/text/canonical-json.js'
import type { Ids } from '../../../core/base/ids.js'
import type { DeliveredDelivery, Payload } from '../../../plugins/execution/deliveries/store.js'
import { hashOf, type ActionEntry, type ActionRange } from '../../../plugins/execution/external-actions/store.js'
import type { RunMemory } from '../../../plugins/execution/memory/recording/store.js'
import type { TerminalRun } from '../../../plugins/execution/runs/contract.js'
import type { ReceiptRecord } from '../../../plugins/execution/runs/record/store.js'
import type { JournalEntry } from '../../../plugins/execution/sessions/contract.js'
import type { SessionRecord } from '../../../plugins/execution/sessions/record/store.js'
import type { Template } from './template.js'

/** A session on its way through history. */
export interface Past {
  readonly record: SessionRecord
  runs: number
  /** Of the last entry of its ledger. */
  hash: string
  /** What it remembers, oldest first. */
  memories: RunMemory[]
}

export interface Clone {
  readonly run: TerminalRun
  readonly receipt: ReceiptRecord
  readonly delivery: DeliveredDelivery
  readonly range: ActionRange
  readonly memory: RunMemory
  readonly journal: readonly JournalEntry[]
  readonly actions: readonly ActionEntry[]
  readonly payload: Payload
}

/** When it was submitted, in Unix ms, and under which key. */
export interface Moment {
  readonly at: number
  readonly key: string
}

export const cloneSession = ({ session }: Template, ids: Ids, own: { session_id: string; at: number }): Past => ({
  record: { ...session, session_id: own.session_id, agent_id: ids.make('agent'), created_at_ms: own.at },
  runs: 0,
  hash: '',
  memories: [],
})

/** A spread that adds members gives each copy a hidden class of its own: some microseconds here, and for all readers. */
const copy = <R extends object>(record: R, own: Partial<R>, changes: Partial<R> = {}): R =>
  Object.assign({}, record, own, changes)

interface Shift {
  readonly later: number
  readonly entries: number
}

const cloneRun = ({ run }: Template, own: Partial<TerminalRun>, { later, entries }: Shift): TerminalRun =>
  copy(run, own, {
    submitted_at_ms: run.submitted_at_ms + later,
    updated_at_ms: run.updated_at_ms + later,
    started_at_ms: (run.started_at_ms ?? 0) + later,
    finished_at_ms: run.finished_at_ms + later,
    first: run.first + entries,
    last: run.last + entries,
    outputs: (run.outputs ?? []).map((seq) => seq + entries),
    said: (run.said ?? 0) + entries,
  })

const cloneDelivery = ({ delivery }: Template, own: Partial<DeliveredDelivery>, shift: Shift): DeliveredDelivery => {
  const output = (delivery.output ?? 0) + shift.entries
  const created = delivery.created_at_ms + shift.later
  const name = hash('sha256', JSON.stringify([own.agent_id, own.session_id, output, delivery.address]))
  return copy(delivery, own, {
    delivery_id: `delivery_${name.slice(0, 32)}`,
    place: `${String(created).padStart(16, '0')}:${'1'.padStart(12, '0')}`,
    output,
    created_at_ms: created,
    delivered_at_ms: delivery.delivered_at_ms + shift.later,
  })
}

/** Each entry is linked to the one before it; the session goes on from the last. */
const cloneActions = (
  { actions }: Template,
  past: Past,
  { later, ...own }: { later: number; run_id: string; action_id: string },
): ActionEntry[] => {
  const { session_id, agent_id } = past.record
  return actions.map((action) => {
    const acted = action.type === 'intent' ? { run_id: own.run_id, agent_id } : {}
    const linked = Object.assign({}, action, acted, {
      action_id: own.action_id,
      at: action.at + later,
      prev: past.hash,
    })
    past.hash = hashOf(session_id, linked)
    return Object.assign(linked, { hash: past.hash })
  })
}

/** The next run of a session; the session counts it. */
export const cloneNext = (template: Template, past: Past, ids: Ids, { at, key }: Moment): Clone => {
  const { session_id, agent_id } = past.record
  const run_id = ids.make('run')
  const of = { run_id, session_id, agent_id }
  const later = at - template.run.submitted_at_ms
  const shift = { later, entries: past.runs * template.journal.length }
  const delivery = cloneDelivery(template, { ...of, payload: past.runs + 1 }, shift)
  const { first, last } = template.range
  const acted = past.runs * template.actions.length
  past.runs += 1
  return {
    run: cloneRun(template, of, shift),
    receipt: copy(template.receipt, { id: digest([`runs:${session_id}`, key]), run_id, at }),
    delivery,
    range: copy(template.range, { run_id, session_id, first: first + acted, last: last + acted }),
    memory: copy(template.memory, { run_id, recorded_at_ms: template.memory.recorded_at_ms + later }),
    journal: template.journal.map((entry) => copy(entry, { run_id, at: entry.at + later })),
    actions: cloneActions(template, past, { later, run_id, action_id: delivery.delivery_id }),
    payload: template.payload,
  }
}
