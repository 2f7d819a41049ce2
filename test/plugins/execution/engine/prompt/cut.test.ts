import test from 'ava'
import fc from 'fast-check'
import type { Budget } from '../../../../../plugins/execution/engine/prompt/budget.js'
import { leftOut, newestTurn } from '../../../../../plugins/execution/engine/prompt/cut.js'
import { fit } from '../../../../../plugins/execution/engine/prompt/fit.js'
import { foldEntry } from '../../../../../plugins/execution/engine/thread/fold.js'
import { beginThread, shownBytes, type Thread } from '../../../../../plugins/execution/engine/thread/thread.js'
import { weigh } from '../../../../../plugins/execution/engine/thread/weight.js'
import type { ModelMessage } from '../../../../../plugins/execution/models/contract.js'
import type { JournalEntry } from '../../../../../plugins/execution/sessions/contract.js'
import { foldSteps, orphans, steps } from '../../../../support/conversations.js'

const budgetOf = (bytes: number, isGuessed = false): Budget => ({
  bytes,
  beside: 0,
  room: bytes,
  tokens: (n) => n,
  isGuessed,
})
const bytesOf = (messages: readonly ModelMessage[]): number => messages.reduce((sum, one) => sum + weigh(one), 0)
const fitted = (thread: Thread, room: number, isGuessed = false) =>
  fit(thread, { bytes: shownBytes(thread), budget: budgetOf(room, isGuessed), weigh })

test('prompt-5: whatever was said and whatever room there is, no call is sent without its result and none beyond the room', (t) => {
  fc.assert(
    fc.property(steps, fc.nat({ max: 3_000 }), fc.boolean(), (list, room, isGuessed) => {
      foldSteps(list, (thread) => {
        const found = fitted(thread, room, isGuessed)
        if (found.type === 'overflow') {
          const newest = thread.messages.slice(newestTurn(thread))
          t.true(
            bytesOf(newest) + bytesOf([leftOut]) + weigh(thread.messages[thread.starts.at(-1)?.at ?? 0] ?? leftOut) >
              room,
          )
          return
        }
        const { messages, bytes, left_out } = found
        t.deepEqual(orphans(messages), [])
        t.is(bytesOf(messages), bytes)
        t.true(isGuessed || bytes <= room)
        t.is(messages[0]?.role, 'user')
        const told = messages.filter((message) => message !== leftOut)
        t.is(told.length, thread.messages.length - left_out)
        t.deepEqual(
          told,
          thread.messages.filter((message) => told.includes(message)),
        )
        t.deepEqual(messages.includes(leftOut), left_out > 0)
        t.true(thread.messages.slice(newestTurn(thread)).every((message) => told.includes(message)))
        t.true(told.includes(thread.messages[thread.starts.at(-1)?.at ?? 0] ?? leftOut), 'what the run was told stays')
      })
    }),
    { numRuns: 300 },
  )
})

const said = (role: 'user' | 'assistant', text: string): JournalEntry => ({
  run_id: 'r1',
  at: 1,
  type: 'message',
  message: { role, content: [{ type: 'text', text }] },
})
const started: JournalEntry = { run_id: 'r1', at: 1, type: 'event', event: { type: 'started' } }

/** Runs of so many answers of a hundred bytes. */
const threadOf = (...runs: number[]): Thread => {
  const thread = beginThread(0, () => [{ type: 'text', text: 'do it' }])
  let seq = 0
  for (const [run, answers] of runs.entries()) {
    foldEntry(thread, (seq += 1), started)
    for (let n = 0; n < answers; n += 1) foldEntry(thread, (seq += 1), said('assistant', `${run}.${n} `.padEnd(68)))
  }
  return thread
}
const shown = (thread: Thread, room: number): string[] => {
  const found = fitted(thread, room)
  return found.type === 'overflow'
    ? []
    : found.messages.map(({ content: [part] }) =>
        part?.type === 'text' ? part.text.slice(0, part.text.startsWith('<') ? 1 : 5).trim() : '',
      )
}

test('prompt-5: the oldest runs go first, then the oldest turns of the newest run, which keeps what it was told', (t) => {
  const thread = threadOf(2, 2, 4)
  t.deepEqual(shown(thread, 5_000), ['do it', '0.0', '0.1', 'do it', '1.0', '1.1', 'do it', '2.0', '2.1', '2.2', '2.3'])
  t.deepEqual(shown(thread, 850), ['<', 'do it', '1.0', '1.1', 'do it', '2.0', '2.1', '2.2', '2.3'])
  t.deepEqual(shown(thread, 700), ['<', 'do it', '2.0', '2.1', '2.2', '2.3'])
  t.deepEqual(shown(thread, 500), ['<', 'do it', '2.2', '2.3'])
  t.deepEqual(shown(thread, 300), ['<', 'do it', '2.3'])
  t.deepEqual(shown(thread, 200), [])
})

test('prompt-5: what is left out stays the same for a while, and the list that is sent is the one of before', (t) => {
  const thread = threadOf(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
  const lists = new Set<unknown>()
  for (let n = 0; n < 6; n += 1) {
    const found = fitted(thread, 2_400)
    if (found.type === 'fits') lists.add(found.messages)
    foldEntry(thread, 100 + n, said('assistant', 'y'.repeat(68)))
  }
  t.is(lists.size, 2)
})
