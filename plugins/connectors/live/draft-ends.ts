/** Drafts that no delivery takes: their message says how it ended. */
import { backoff, type Clock, type Log, type Tx } from '../../../core/plugin.js'
import type { DeliveryView, Outbox } from '../../execution/deliveries/contract.js'
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import type { Calls } from './calls.js'
import type { LiveKind } from './contract.js'
import { beginningOf, forget } from './drafts.js'
import type { DraftRecord, LiveStore } from './store.js'

/** Attempts at the last edit, and the waits between them. */
const [mostAttempts, firstMs, longestMs] = [5, 1000, 30_000]

export interface DraftEndParts {
  readonly clock: Clock
  readonly log: Log
  readonly calls: Calls
  readonly runs: Runs
  readonly store: LiveStore
  readonly kinds: () => readonly LiveKind[]
  readonly outbox: Outbox
}

export interface DraftEnds {
  /** Ends what no delivery can take any more. `said` is what the run said last, as far as that is known. */
  look(run_id: string, said: string): void
  /** The same for all that is kept, and lets go what deliveries took that are settled: call once, at the start. */
  sweep(): Promise<void>
  /** In the commit in which deliveries come to their end. */
  settled(tx: Tx, deliveries: readonly DeliveryView[]): void
}

export const createDraftEnds = (parts: DraftEndParts): DraftEnds => {
  const { store, runs } = parts
  const ending = new Set<string>()
  const look = (run_id: string, said: string): void => {
    const run = runs.find(run_id)
    if (run !== undefined && !('finished_at_ms' in run)) return
    for (const draft of leftOf(parts, run_id)) {
      if (ending.has(draft.draft_id)) continue
      ending.add(draft.draft_id)
      void end(parts, draft, lastWords(run, said)).finally(() => ending.delete(draft.draft_id))
    }
  }
  return {
    look,
    async sweep() {
      const { drafts } = store
      const all = drafts.list({ index: 'all', group: 'all', limit: drafts.count('all', 'all') })
      for (const draft of all) if (isSettled(parts, draft)) await forget(parts, draft)
      for (const run_id of new Set(all.map((draft) => draft.run_id))) look(run_id, '')
    },
    settled(tx, deliveries) {
      const ended = new Set<string>()
      for (const { delivery_id, run_id } of deliveries) {
        for (const id of store.drafts.ids('taken', delivery_id)) tx.remove(store.drafts, id, 'its delivery is settled')
        if (run_id !== undefined && store.drafts.count('run', run_id) > 0) ended.add(run_id)
      }
      if (ended.size > 0) tx.after(() => ended.forEach((run_id) => look(run_id, '')))
    },
  }
}

const isOpen = ({ status }: DeliveryView): boolean => status === 'pending' || status === 'retrying'

/** It was taken by a delivery that is over: whoever tells of that was not there. */
const isSettled = ({ outbox }: DraftEndParts, { run_id, taken_by }: DraftRecord): boolean =>
  taken_by !== undefined && !outbox.ofRun(run_id).views.some((view) => view.delivery_id === taken_by && isOpen(view))

const leftOf = ({ store, outbox }: DraftEndParts, run_id: string): DraftRecord[] => {
  const { drafts } = store
  const free = drafts
    .list({ index: 'run', group: run_id, limit: drafts.count('run', run_id) })
    .filter(({ taken_by }) => taken_by === undefined)
  if (free.length === 0) return []
  const waiting = outbox.ofRun(run_id).views.filter(isOpen)
  return free.filter(({ plugin }) => !waiting.some((view) => view.plugin === plugin))
}

const sentences: Readonly<Partial<Record<RunRecord['status'], string>>> = {
  failed: 'This was not finished: the run failed.',
  cancelled: 'This was not finished: the run was cancelled.',
  interrupted: 'This was not finished: the run was interrupted.',
}
const elsewhere = 'There is no more of this message.'

interface LastWords {
  readonly said: string
  readonly sentence: string
}
const lastWords = (run: RunRecord | undefined, said: string): LastWords => ({
  said,
  sentence: (run === undefined ? undefined : sentences[run.status]) ?? elsewhere,
})

const textOf = ({ said, sentence }: LastWords, most: number): string =>
  said.trim() === '' ? sentence : `${beginningOf(said, most - sentence.length - 2)}\n\n${sentence}`

const end = async (parts: DraftEndParts, draft: DraftRecord, words: LastWords): Promise<void> => {
  const { calls, clock, kinds } = parts
  const { plugin, address, message_id } = draft
  const kind = kinds().find((one) => one.plugin === plugin)
  for (let attempt = 1; kind !== undefined && attempt <= mostAttempts; attempt += 1) {
    const most = kind.chat(address)?.most_text
    // One that is sent again takes it still.
    if (parts.store.drafts.find(draft.draft_id)?.taken_by !== undefined) return
    if (most === undefined) break
    const message = { purpose: 'draft' as const, text: textOf(words, most), buttons: [] }
    const made = await calls.make({ kind, address }, (signal) => kind.edit(address, { message_id, message }, signal))
    if (made?.type === 'done' || made?.type === 'refused') break
    if (!(await clock.sleep(backoff({ base: firstMs, max: longestMs }, attempt)))) return
  }
  // From then on it is the delivery's, which must find it again.
  if (parts.store.drafts.find(draft.draft_id)?.taken_by === undefined) await forget(parts, draft)
}
