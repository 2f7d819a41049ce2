import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createThreads } from '../../../../plugins/execution/engine/threads.js'
import type { RunEdit } from '../../../../plugins/execution/runs/run-changes.js'
import type { ChangeContext } from '../../../../plugins/execution/runs/run-engine.js'
import { complete, openRunStore, playRun, runRecord, start } from '../../../support/run-store.js'
import { unpaired } from '../../../support/scripted-provider.js'

/** One model answer with two calls, and their results: seven entries. */
const turn =
  (name: string) =>
  (edit: RunEdit): void => {
    const ids = [`${name}a`, `${name}b`]
    edit.note({
      type: 'message',
      message: { role: 'assistant', content: ids.map((id) => ({ type: 'tool_call', id, name: 'peek', input: {} })) },
    })
    for (const tool_call_id of ids) {
      edit.note({
        type: 'intent',
        tool_call_id,
        tool_name: 'peek',
        effect: 'read',
        key: tool_call_id,
        input_digest: '',
      })
      edit.note({ type: 'outcome', tool_call_id, tool_name: 'peek', state: 'done', output: {} })
    }
  }
const turns =
  (name: string, count: number) =>
  (edit: RunEdit): void => {
    for (let at = 0; at < count; at += 1) turn(`${name}-${at}-`)(edit)
  }

const threadOf = async (parts: ChangeContext, last: string) => {
  const run = await playRun(parts, runRecord(last, 's1', 'queued'), start)
  return createThreads(parts.store, { kept: 8, max_bytes: 1e9 }).at(run)
}

test('runs-39: a conversation that is read anew begins with a whole run, whatever the length of its journal', async (t) => {
  const parts = await openRunStore(t)
  for (const name of ['r1', 'r2', 'r3'])
    await playRun(parts, runRecord(name, 's1', 'queued'), start, turns(name, 700), complete)
  const { messages } = await threadOf(parts, 'r4')
  t.true(parts.store.journal.length('s1') > 10_000)
  t.deepEqual(unpaired(unsafeCast({ messages })), [])
  t.is(messages[0]?.role, 'user')
  t.is(messages.filter(({ role }) => role === 'user').length, 3, 'the run that the limit cuts is there whole')
})

test('an answer whose run began before the part that is read is left out with its results', async (t) => {
  const parts = await openRunStore(t)
  const notes = (edit: RunEdit): void => {
    for (let at = 0; at < 6000; at += 1) edit.note(unsafeCast({ type: 'session', run_id: '', change: 'opened' }))
  }
  await playRun(parts, runRecord('r1', 's1', 'queued'), start, notes, turns('r1', 100), complete)
  const { messages } = await threadOf(parts, 'r2')
  t.deepEqual(unpaired(unsafeCast({ messages })), [])
  t.deepEqual(
    messages.map(({ role }) => role),
    ['user'],
  )
})
