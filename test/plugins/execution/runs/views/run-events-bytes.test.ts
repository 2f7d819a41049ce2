import test from 'ava'
import { calledTool, deciderOf } from '../../../../../plugins/execution/runs/record/requests.js'
import type { RunEdit } from '../../../../../plugins/execution/runs/lifecycle/run-changes.js'
import { runEvents } from '../../../../../plugins/execution/runs/views/run-events.js'
import { complete, openRunStore, playRun, runRecord, start } from '../../../../support/run-store.js'

const answers = (edit: RunEdit): void => {
  for (let at = 0; at < 500; at += 1)
    edit.note({
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: `tool_${at}`, input: {} }] },
    })
}

test('a run of any length is read a few entries at a time, whatever is asked of it', async (t) => {
  const parts = await openRunStore(t)
  const run = await playRun(parts, runRecord('r1', 's1', 'queued'), start, answers, complete)
  const limits: number[] = []
  const { journal } = parts.store
  const watched: typeof journal = {
    spec: journal.spec,
    length: (owner) => journal.length(owner),
    first: (owner) => journal.first(owner),
    owners: () => journal.owners(),
    read: (owner, range) => {
      limits.push(range.limit)
      return journal.read(owner, range)
    },
  }
  const store = { ...parts.store, journal: watched }
  t.deepEqual(
    runEvents(store, run).map(({ event }) => event.type),
    ['accepted', 'queued', 'started', 'completed'],
  )
  t.is(calledTool(store, run, 'c1'), 'tool_499', 'the latest call of this id')
  t.is(deciderOf(store, run, 'none'), undefined)
  t.true(Math.max(...limits) <= 100, `${Math.max(...limits)} entries at once`)
})
