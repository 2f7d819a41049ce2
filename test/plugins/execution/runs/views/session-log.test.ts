import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { runEvents } from '../../../../../plugins/execution/runs/views/run-events.js'
import { viewRun } from '../../../../../plugins/execution/runs/views/shown-run.js'
import { sessionLog } from '../../../../../plugins/execution/runs/views/session-log.js'
import {
  changeRun,
  complete,
  openRunStore,
  playRun,
  runRecord,
  say,
  start,
  stillClock,
} from '../../../../support/run-store.js'

const read = (parts: any, range: object = {}): any =>
  sessionLog(parts, unsafeCast({ session_id: 's1' }), { ...range, caller: { role: 'admin' } })

test('events of one type in one millisecond are all shown, each once and in order', async (t) => {
  const parts = await openRunStore(t, { clock: stillClock(), sessions: { metadata: () => ({}) } })
  await playRun(
    parts,
    runRecord('r1', 's1', 'queued'),
    start,
    (edit) => ['a', 'b', 'c'].forEach((said) => say(said)(edit)),
    complete,
  )
  const { run_events, daemon_outputs } = read(parts)
  t.deepEqual(
    run_events.flatMap(({ event }: any) => (event.type === 'output' ? [event.output.content] : [])),
    ['a', 'b', 'c'],
  )
  t.deepEqual(
    run_events.map(({ event }: any) => event.type),
    ['accepted', 'queued', 'started', 'output', 'output', 'output', 'completed'],
  )
  t.is(daemon_outputs.length, 3)
  t.deepEqual(
    read(parts, { after: 4, limit: 2 }).run_events.map(({ event }: any) => event.output.content),
    ['b', 'c'],
  )
})

test('each event shows the run as it was then: status, model, counts and times of that moment', async (t) => {
  const clock = stillClock()
  const parts = await openRunStore(t, { clock })
  const asked = (id: string) => ({
    id,
    tool_call_id: id,
    tool_name: 'x',
    input: {},
    scope: 'session' as const,
    reason: null,
  })
  const tick = (edit: any): void => {
    clock.at += 10
    edit.note({ type: 'audit', audit: {} })
  }
  const run = await playRun(
    parts,
    runRecord('r1', 's1', 'queued', { model: 'first', fallback_model: 'second' }),
    tick,
    start,
    (edit) => {
      edit.note({ type: 'fallback', from: 'first', to: 'second' })
      edit.amend((before) => ({ ...before, model: 'second', approvals: 2 }))
      edit.wait({ type: 'waiting_for_approval', request_ids: ['a', 'b'], requests: [asked('a'), asked('b')] })
    },
    tick,
    (edit) => edit.step({ to: 'cancelled', error: 'enough' }, { type: 'cancelled', error: 'enough' }),
  )
  const shown = runEvents(parts.store, run).map(({ event }: any) => event)
  const at = (type: string): any => shown.find((event) => event.type === type)?.run
  const begun = clock.at - 20
  t.like(at('accepted'), { status: 'queued', updated_at_ms: begun, request: { model: 'first' } })
  t.deepEqual(Object.keys(at('started').request).toSorted(), Object.keys(at('accepted').request).toSorted())
  t.like(at('started'), { status: 'running', started_at_ms: begun + 10, request: { model: 'first' } })
  t.like(at('cancelled'), {
    status: 'cancelled',
    error: 'enough',
    finished_at_ms: begun + 20,
    request: { model: 'second', approval_count: 2 },
  })
  t.deepEqual(at('cancelled'), viewRun(parts.store, run), 'the last one is the run as it is')
})

test('the log of a session with a deep queue is read once for all of its runs, and shows of each what its own events show', async (t) => {
  const parts = await openRunStore(t, { sessions: { metadata: () => ({}) } })
  const waiting = []
  for (let n = 0; n < 40; n += 1) {
    const models = n % 2 === 0 ? {} : { model: 'first', fallback_model: 'second' }
    waiting.push(await playRun(parts, runRecord(`r${n}`, 's1', 'queued', models)))
  }
  const fallsBack = (edit: any): void => {
    edit.note({ type: 'fallback', from: 'first', to: 'second' })
    edit.amend((run: any) => ({ ...run, model: 'second' }))
  }
  const runs = []
  for (const [n, run] of waiting.entries())
    runs.push(await changeRun(parts, run, start, ...(n % 2 === 0 ? [] : [fallsBack]), say(`said ${n}`), complete))
  const { journal } = parts.store
  const length = journal.length('s1')
  let entries = 0
  const watched = unsafeCast<typeof journal>({
    length: () => length,
    first: () => 1,
    read: (owner: string, range: any) => {
      const found = journal.read(owner, range)
      entries += found.length
      return found
    },
  })
  const log = read({ ...parts, store: { ...parts.store, journal: watched } })
  t.true(entries <= 3 * length, `${entries} entries were read of ${length}`)
  const pages = []
  for (let after = 0; after < length; after += 30) pages.push(...read(parts, { after, limit: 30 }).run_events)
  t.deepEqual(pages, log.run_events, 'pages show the same')
  for (const run of runs)
    t.deepEqual(
      log.run_events.filter(({ run_id }: any) => run_id === run.run_id),
      runEvents(parts.store, run),
    )
})
