import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { createThreads } from '../../../../../plugins/execution/engine/thread/threads.js'
import type { RunEdit } from '../../../../../plugins/execution/runs/lifecycle/run-changes.js'
import { beginThread, foldEntry } from '../../../../../plugins/execution/engine/thread/thread.js'
import type { JournalEntry } from '../../../../../plugins/execution/sessions/contract.js'
import { complete, openRunStore, type OpenRunStore, playRun, runRecord, start } from '../../../../support/run-store.js'
import { unpaired } from '../../../../support/scripted-provider.js'

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

const threadOf = async (parts: OpenRunStore, last: string) => {
  const run = await playRun(parts, runRecord(last, 's1', 'queued'), start)
  return createThreads(parts.store, { resting_bytes: 1e9, max_bytes: 1e9, starts: parts.starts }).at(run)
}

test('runs-39: a conversation that is read anew begins with a whole run, whatever the length of its journal', async (t) => {
  const parts = await openRunStore(t)
  for (const name of ['r1', 'r2', 'r3'])
    await playRun(parts, runRecord(name, 's1', 'queued'), start, turns(name, 700), complete)
  const { messages } = await threadOf(parts, 'r4')
  t.true(parts.store.journal.length('s1') > 10_000)
  t.deepEqual(unpaired(unsafeCast({ messages })), [])
  t.is(messages[0]?.role, 'user')
  t.is(messages.filter(({ role }) => role === 'user').length, 4, 'nothing is left out below the limit')
})

/** A run with an answer of this size. */
const answer =
  (bytes: number) =>
  (edit: RunEdit): void =>
    void edit.note({
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'text', text: 'é'.repeat(bytes / 2) }] },
    })

test('runs-39: a conversation that is read anew is the one of before, whatever was left out by then', async (t) => {
  const parts = await openRunStore(t)
  const { store, starts } = parts
  const create = () => createThreads(store, { resting_bytes: 1e9, max_bytes: 20_000, starts })
  const live = create()
  for (let n = 0; n < 60; n += 1) {
    const sizes = Array.from({ length: (n % 4) + 1 }, (_, at) => 100 + ((n * 37 + at * 911) % 2_000))
    const notes = sizes.map((size) => (edit: RunEdit) => {
      answer(size)(edit)
      live.at(edit.run)
    })
    const run = await playRun(parts, runRecord(`r${n}`, 's1', 'queued'), start, ...notes, complete)
    const { messages } = live.at(run)
    t.deepEqual(create().at(run).messages, messages, `run ${n}`)
    t.is(messages[0]?.role, 'user')
    if (n % 7 === 0) await store.state.commit((tx) => live.keep(tx, 's1'))
    const anew = create()
    await anew.ready(run)
    t.deepEqual(anew.at(run).messages, messages, `run ${n}, from where the thread begins`)
  }
  t.true((starts.find('s1')?.seq ?? 0) > 100)
})

test('conversations of sessions at rest are kept up to a number of bytes, those of sessions that execute in any case', async (t) => {
  const parts = await openRunStore(t)
  const { store, starts } = parts
  const read: string[] = []
  const journal: typeof store.journal = {
    spec: store.journal.spec,
    length: (owner) => store.journal.length(owner),
    first: (owner) => store.journal.first(owner),
    owners: () => store.journal.owners(),
    read: (owner, range) => {
      read.push(owner)
      return store.journal.read(owner, range)
    },
  }
  const threads = createThreads({ ...store, journal }, { resting_bytes: 25_000, max_bytes: 1e9, starts })
  const names = ['s1', 's2', 's3']
  const runs = await Promise.all(
    names.map((name) => playRun(parts, runRecord(`r of ${name}`, name, 'queued'), start, answer(10_000))),
  )
  const readBy = (name: string): boolean => {
    read.length = 0
    threads.at(unsafeCast(runs[names.indexOf(name)]))
    return read.length > 0
  }
  for (const name of names) t.true(readBy(name))
  t.deepEqual(names.map(readBy), [false, false, false], 'all of them execute')
  names.forEach((name) => threads.rest(name))
  t.deepEqual(['s3', 's2', 's1'].map(readBy), [false, false, true], 'the one that rested longest has gone')
  for (const name of names) threads.rest(name)
  t.false(readBy('s2'))
  t.true(readBy('s1'))
})

test('runs-39: a note to a model within a run is no place to cut, and a run above the limit is left whole', (t) => {
  const thread = beginThread(0, () => ['do it'], 1_000)
  const said = (role: 'user' | 'assistant'): JournalEntry => ({
    run_id: 'r1',
    at: 1,
    type: 'message',
    message: { role, content: [{ type: 'text', text: 'x'.repeat(300) }] },
  })
  const started: JournalEntry = { run_id: 'r1', at: 1, type: 'event', event: { type: 'started' } }
  const entries = [started, said('assistant'), started, said('assistant'), said('user'), said('assistant')]
  entries.forEach((entry, at) => foldEntry(thread, at + 1, entry))
  t.deepEqual(
    thread.messages.map(({ role, content }) => `${role} ${JSON.stringify(content).length > 300}`),
    ['user false', 'assistant true', 'user true', 'assistant true'],
  )
  t.is(thread.starts[0]?.seq, 3)
  for (let at = 7; at < 12; at += 1) foldEntry(thread, at, said('assistant'))
  t.is(thread.messages.length, 9)
})
