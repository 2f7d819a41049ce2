import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { createCalls } from '../../../../plugins/connectors/live/calls.js'
import { createDraftEnds, type DraftEndParts } from '../../../../plugins/connectors/live/draft-ends.js'
import type { DraftRecord } from '../../../../plugins/connectors/live/store.js'
import { seen } from '../../../support/live-chat.js'

test('live-8: a draft that a delivery takes while it is told to be over stays that of the delivery', async (t) => {
  const [clock, removed, ended] = [createLeapingClock({ still: true }), [] as string[], [] as string[]]
  const records = new Map<string, DraftRecord>(
    ['taken', 'free'].map((draft_id) => [
      draft_id,
      { draft_id, run_id: 'run_1', plugin: 'telegram', address: draft_id, message_id: 'm1' },
    ]),
  )
  const drafts = { count: () => records.size, list: () => [...records.values()], find: (id: string) => records.get(id) }
  const remove = (_: unknown, id: string): void => void removed.push(id)
  const state = { commit: async (change: (tx: object) => void) => change({ remove }) }
  const kind = {
    plugin: 'telegram',
    chat: () => ({ connector: 'main', most_text: 4096 }),
    edit: async (address: string) => {
      const draft = records.get(address)
      if (address === 'taken' && draft !== undefined) records.set(address, { ...draft, taken_by: 'delivery_1' })
      ended.push(address)
      return { type: 'done' }
    },
  }
  const log = unsafeCast<DraftEndParts['log']>({})
  const parts = {
    clock,
    log,
    calls: createCalls({ clock, log, connectors: () => undefined }),
    runs: { find: () => undefined },
    outbox: { ofRun: () => ({ views: [] }) },
    store: { state, drafts },
    kinds: () => [kind],
  }
  createDraftEnds(unsafeCast<DraftEndParts>(parts)).look('run_1', '')
  await seen('the end of both', () => ended.length === 2 && removed.length > 0)
  t.deepEqual(removed, ['free'])
})
