/** What the daemon leaves behind for one run with a key and a delivery: read from a root where it did just that. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fault } from '../../../core/base/assert.js'
import { unsafeCast } from '../../../core/base/schema.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { listState, showEntries, showRecords } from '../../../core/state/inspect/show.js'
import type { DeliveredDelivery, Payload } from '../../../plugins/execution/deliveries/store.js'
import type { ActionEntry, ActionRange } from '../../../plugins/execution/external-actions/store.js'
import type { MarkRecord, MemoryRecord, RunMemory } from '../../../plugins/execution/memory/recording/store.js'
import type { TerminalRun } from '../../../plugins/execution/runs/contract.js'
import type { ReceiptRecord } from '../../../plugins/execution/runs/record/store.js'
import type { JournalEntry } from '../../../plugins/execution/sessions/contract.js'
import type { SessionRecord } from '../../../plugins/execution/sessions/record/store.js'
import { programOf, startDaemon } from '../bench.js'
import { startServer } from '../server.js'

/** An entry of the ledger before it is linked to the others. */
export type Unlinked = ActionEntry extends infer E ? (E extends ActionEntry ? Omit<E, 'hash'> : never) : never

const unlinked = (action: ActionEntry): Unlinked => {
  const { hash: _, ...entry } = action
  return entry
}

/** Its numbers are those of the first run of a session. */
export interface Template {
  /** The body of its request, without the key. */
  readonly input: object
  readonly session: SessionRecord
  readonly run: TerminalRun
  readonly receipt: ReceiptRecord
  readonly delivery: DeliveredDelivery
  readonly range: ActionRange
  readonly memory: RunMemory
  readonly mark: MarkRecord
  readonly journal: readonly JournalEntry[]
  readonly actions: readonly Unlinked[]
  readonly payload: Payload
}

const session_id = 'template'
const known = {
  collections: [
    'deliveries',
    'external_action_heads',
    'external_action_runs',
    'receipts',
    'run_memories',
    'run_memory_marks',
    'runs',
    'sessions',
    // Sums by day, which are not repeated: they do not grow with the runs of a day.
    'usage_days',
    'usage_sessions',
  ],
  streams: ['delivery_payloads', 'external_actions', 'session_journal'],
}

const post = async (url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<void> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw fault(`${url} answered ${answer.status} ${await answer.text()}`)
  await answer.body?.cancel()
}

/** Resolves when a delivery has arrived and the daemon knows. */
const delivered = async (url: string): Promise<void> => {
  for (let tries = 0; tries < 1000; tries += 1) {
    const answer = await fetch(`${url}/v1/deliveries?status=delivered`)
    if ((await answer.text()).includes('delivery_id')) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw fault('the delivery of the template did not arrive')
}

/** One run of a real daemon, and an orderly end of both. */
const play = async (root: string): Promise<object> => {
  const receiver = await startServer([programOf('receiver')])
  const daemon = await startDaemon(root)
  const address = JSON.stringify({ url: `${receiver.url}/history`, allow_private_network: true })
  const input = { content: 'hello', reply_targets: [{ plugin: 'http', address }] }
  try {
    await post(`${daemon.url}/v1/sessions`, { session_id })
    await post(`${daemon.url}/v1/sessions/${session_id}/runs`, input, { 'idempotency-key': 'template' })
    await delivered(daemon.url)
  } finally {
    await daemon.stop()
    await receiver.stop()
  }
  return input
}

/** Throws if a run leaves something behind that the generator does not know. */
const checkKnown = (root: string): void => {
  const { collections, streams } = listState({ root, disk: createDisk() }).value
  const found = JSON.stringify({ collections: Object.keys(collections), streams: Object.keys(streams) })
  if (found !== JSON.stringify(known)) throw fault(`a run leaves behind ${found}, not ${JSON.stringify(known)}`)
}

const readTemplate = (root: string, input: object): Template => {
  const place = { root, disk: createDisk() }
  const only = <R>(collection: string): R => {
    const [record] = showRecords(place, collection).value?.values() ?? []
    return unsafeCast<R>(record)
  }
  const entries = <E>(stream: string): readonly E[] => unsafeCast(showEntries(place, stream, session_id).value)
  const [memory] = only<MemoryRecord>('run_memories').memories
  const [payload] = entries<Payload>('delivery_payloads')
  if (memory === undefined || payload === undefined) throw fault('the template is not whole')
  return {
    input,
    session: only('sessions'),
    run: only('runs'),
    receipt: only('receipts'),
    delivery: only('deliveries'),
    range: only('external_action_runs'),
    memory,
    mark: only('run_memory_marks'),
    journal: entries('session_journal'),
    actions: entries<ActionEntry>('external_actions').map(unlinked),
    payload,
  }
}

export const makeTemplate = async (): Promise<Template> => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-template-'))
  try {
    const input = await play(root)
    checkKnown(root)
    return readTemplate(root, input)
  } finally {
    rmSync(root, { recursive: true })
  }
}
