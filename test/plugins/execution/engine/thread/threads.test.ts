import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { createThreads, type Threads } from '../../../../../plugins/execution/engine/thread/threads.js'
import type { RunRecord, RunStore } from '../../../../../plugins/execution/runs/contract.js'
import type { RunEdit } from '../../../../../plugins/execution/runs/lifecycle/run-changes.js'
import { partOf } from '../../../../../plugins/execution/engine/prompt/compaction.js'
import { weigh } from '../../../../../plugins/execution/engine/thread/weight.js'
import { foldEntry } from '../../../../../plugins/execution/engine/thread/fold.js'
import { beginThread } from '../../../../../plugins/execution/engine/thread/thread.js'
import type { JournalEntry } from '../../../../../plugins/execution/sessions/contract.js'
import {
  changeRun,
  complete,
  openRunStore,
  type OpenRunStore,
  playRun,
  runRecord,
  start,
} from '../../../../support/run-store.js'
import { unpaired } from '../../../../support/models.js'

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

const never = (): boolean => false

const threadOf = async (parts: OpenRunStore, last: string) => {
  const run = await playRun(parts, runRecord(last, 's1', 'queued'), start)
  return createThreads(parts.store, { resting_bytes: 1e9, max_bytes: 1e9, starts: parts.starts, alone: never }).at(run)
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

/** The journal of a store; tells whose entries are read, and after which. */
const heard = ({ journal }: RunStore, tell: (owner: string, after: number) => void): RunStore['journal'] => ({
  spec: journal.spec,
  length: (owner) => journal.length(owner),
  first: (owner) => journal.first(owner),
  owners: () => journal.owners(),
  read: (owner, range) => {
    tell(owner, range.after)
    return journal.read(owner, range)
  },
})

test('models-29: a model that is shown its run alone is read nothing before it, and both kinds of runs may take turns', async (t) => {
  const parts = await openRunStore(t)
  const { store, starts } = parts
  const alone = ({ run_id }: RunRecord): boolean => run_id.startsWith('alone')
  const create = () => createThreads(store, { resting_bytes: 1e9, max_bytes: 1e9, starts, alone })
  const live = create()
  const users = (threads: Threads, run: RunRecord): number =>
    threads.at(run).messages.filter(({ role }) => role === 'user').length
  for (const [at, name] of ['r0', 'alone1', 'r2', 'r3', 'alone4', 'alone5', 'r6'].entries()) {
    const run = await playRun(parts, runRecord(name, 's1', 'queued'), start, turn(name))
    const shown = alone(run) ? 1 : at + 1
    t.deepEqual(
      [live, create()].map((threads) => users(threads, run)),
      [shown, shown],
      name,
    )
    t.is(live.at(run).progress?.run_id, name)
    await changeRun(parts, run, complete)
    live.rest('s1')
  }
  const last = await playRun(parts, runRecord('alone7', 's1', 'queued'), start, turn('alone7'))
  const read: number[] = []
  const journal = heard(store, (_, after) => read.push(after))
  createThreads({ ...store, journal }, { resting_bytes: 1e9, max_bytes: 1e9, starts, alone }).at(last)
  t.is(read[0], last.first - 1)
})

const compaction = {
  run_id: '',
  at: 1,
  type: 'compaction' as const,
  cause: 'window' as const,
  messages: 1,
  tokens_before: 2,
  tokens_after: 1,
}

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
  const create = () => createThreads(store, { resting_bytes: 1e9, max_bytes: 20_000, starts, alone: never })
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

test('prompt-8: a summary stays where runs behind it are left out, also in a conversation that is read anew', async (t) => {
  const parts = await openRunStore(t)
  const { store, starts } = parts
  const create = () => createThreads(store, { resting_bytes: 1e9, max_bytes: 20_000, starts, alone: never })
  const live = create()
  let [summed, kept] = [0, 0]
  for (let n = 0; n < 120; n += 1) {
    const run = await playRun(
      parts,
      runRecord(`r${n}`, 's1', 'queued'),
      start,
      answer(100 + ((n * 911) % 3_000)),
      complete,
    )
    const thread = live.at(run)
    const part = n % 40 === 5 ? partOf(thread, 2_000, weigh) : undefined
    if (part !== undefined) {
      summed += 1
      const entry = {
        ...compaction,
        from: part.from,
        summary: `Summary ${summed}.`,
        ...(part.lacking && { lacking: true as const }),
      }
      await store.state.commit((tx) => tx.append(store.journal, 's1', entry))
    }
    const { messages, lacking } = live.at(run)
    t.is(JSON.stringify(messages[0]).includes(`Summary ${summed}.`), summed > 0, `run ${n}`)
    if (summed > 0 && lacking) kept += 1
    t.deepEqual(create().at(run).messages, messages, `run ${n}`)
    await store.state.commit((tx) => live.keep(tx, 's1'))
    const anew = create().at(run)
    t.deepEqual([anew.messages, anew.lacking], [messages, lacking], `run ${n}, from where the thread begins`)
  }
  t.is(summed, 3)
  t.true(kept > 30, 'runs behind a summary were left out')
  t.true((starts.find('s1')?.summary ?? 0) > 0)
})

test('conversations of sessions at rest are kept up to a number of bytes, those of sessions that execute in any case', async (t) => {
  const parts = await openRunStore(t)
  const { store, starts } = parts
  const read: string[] = []
  const journal = heard(store, (owner) => read.push(owner))
  const threads = createThreads({ ...store, journal }, { resting_bytes: 25_000, max_bytes: 1e9, starts, alone: never })
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
  const thread = beginThread(0, () => [{ type: 'text', text: 'do it' }], { limit: 1_000 })
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
