import test from 'ava'
import type { RunStore } from '../../../../../plugins/execution/runs/record/store.js'
import { createActivity } from '../../../../../plugins/execution/runs/views/session-status.js'
import type { RunEdit } from '../../../../../plugins/execution/runs/lifecycle/run-changes.js'
import {
  changeRun,
  complete,
  fail,
  openRunStore,
  playRun,
  runRecord,
  say,
  start,
} from '../../../../support/run-store.js'

const cancel = (edit: RunEdit): void => edit.step({ to: 'cancelled' }, { type: 'cancelled' })
const emit =
  (content: string) =>
  (edit: RunEdit): void =>
    edit.output({ content, source_kind: 'emit_output' })

test('the last message and the outputs of a session are found however many runs have said nothing since', async (t) => {
  const { store, service, ...parts } = await openRunStore(t, { known: ['s1'] })
  const all = { store, service, ...parts }
  await playRun(all, runRecord('r000', 's1', 'queued'), start, say('the answer'), complete)
  await playRun(all, runRecord('r001', 's1', 'queued'), start, emit('a notice'), complete)
  for (let at = 2; at < 105; at += 1)
    await playRun(all, runRecord(`r${String(at).padStart(3, '0')}`, 's1', 'queued'), start, complete)
  const view = service.view(service.get('s1'))
  t.is(view.snapshot.last_assistant_message, 'the answer')
  t.deepEqual(
    view.outputs.map(({ content }) => content),
    ['the answer', 'a notice'],
  )
  const snapshots = parts.published.filter(({ type }) => type === 'session_snapshot')
  t.true(snapshots.length > 100)
  for (const { snapshot } of snapshots) t.is(snapshot.last_assistant_message, 'the answer')
})

test('a record of an earlier version, which does not say what it answered, is looked into', async (t) => {
  const parts = await openRunStore(t, { known: ['s1'] })
  const run = await playRun(
    parts,
    runRecord('r1', 's1', 'queued'),
    start,
    say('old answer'),
    emit('and a notice'),
    complete,
  )
  const { said: _, ...old } = run
  await parts.store.state.commit((tx) => tx.put(parts.store.runs, old))
  await playRun(parts, runRecord('r2', 's1', 'queued'), start, emit('a notice'), complete)
  t.is(createActivity(parts.store, parts.service).look('s1').facts().last_assistant_message, 'old answer')
})

/** What the newest events, the list and the view say of a session. */
const told = ({ published, service }: Awaited<ReturnType<typeof openRunStore>>) => {
  const session = service.get('s1')
  const view = service.view(session).snapshot
  const state = published.findLast(({ type }) => type === 'session_state_changed')
  const snapshot = published.findLast(({ type }) => type === 'session_snapshot')?.snapshot
  return { list: service.state(session), view, state, snapshot }
}

test('sessions-7: the state of a session is one fact: its events, its view and its row say the same at each moment', async (t) => {
  const parts = await openRunStore(t, { known: ['s1'] })
  const check = (status: string, last_error: string | null): void => {
    const { list, view, state, snapshot } = told(parts)
    t.is<string, string>(list.status, status)
    t.is(view.agent.status, state.status)
    t.is(state.status, status)
    t.is(view.last_error, last_error)
    if (snapshot !== undefined) t.is(snapshot.last_error, last_error)
  }
  const active = await playRun(parts, runRecord('r1', 's1', 'queued'), start)
  const queued = await playRun(parts, runRecord('r2', 's1', 'queued'))
  check('running', null)
  await changeRun(parts, queued, cancel)
  check('running', null)
  await changeRun(parts, active, fail('model_bad_request: no.'))
  check('failed', 'model_bad_request: no.')
  t.deepEqual(told(parts).snapshot, told(parts).view)
  await playRun(parts, runRecord('r3', 's1', 'queued'), cancel)
  check('failed', 'model_bad_request: no.')
  await playRun(parts, runRecord('r4', 's1', 'queued'), start, cancel)
  check('idle', null)
})

test('the cancellation of a queued run leaves what the session waits for in its snapshot', async (t) => {
  const parts = await openRunStore(t, { known: ['s1'] })
  const asked = { id: 'a', tool_call_id: 'c', tool_name: 'x', input: {}, scope: 'session' as const, reason: null }
  await playRun(parts, runRecord('r1', 's1', 'queued'), start, (edit) =>
    edit.wait({ type: 'waiting_for_approval', request_ids: ['a'], requests: [asked] }),
  )
  await playRun(parts, runRecord('r2', 's1', 'queued'), cancel)
  const { snapshot, state } = told(parts)
  t.like(state, { status: 'waiting_for_approval', pending_approvals: 1 })
  t.deepEqual(snapshot.pending_approvals, [asked])
})

test('what a session shows of its runs asks each index once', async (t) => {
  const { store, ...parts } = await openRunStore(t, { known: ['s1'] })
  await playRun({ store, ...parts }, runRecord('r1', 's1', 'queued'), start, say('the answer'), complete)
  const asked: string[] = []
  const runs: RunStore['runs'] = Object.assign(Object.create(store.runs), {
    list(query: Parameters<RunStore['runs']['list']>[0]) {
      asked.push(query.index)
      return store.runs.list(query)
    },
    count: (index: string, group: string) => store.runs.count(index, group),
  })
  const { state, facts } = createActivity({ ...store, runs }, parts.service).look('s1')
  t.is(state.status, 'completed')
  t.is(facts().last_assistant_message, 'the answer')
  t.deepEqual(asked, ['lane', 'ended', 'answered'])
})

test('what became of outputs is looked up of runs of which one went somewhere, and of no other', async (t) => {
  let asked = 0
  const outbox = (): any => ({
    enqueue: () => undefined,
    ofRun: () => {
      asked += 1
      return { views: [], targets: new Map() }
    },
  })
  const both = (edit: RunEdit): void => {
    say('an answer')(edit)
    complete(edit)
  }
  const end = async (session: object): Promise<number> => {
    const { store, ...parts } = await openRunStore(t, { sessions: { find: () => session } })
    await playRun({ ...parts, store: { ...store, outbox } }, runRecord('r1', 's1', 'queued'), start, both)
    return asked
  }
  t.is(await end({}), 0)
  t.is(await end({ reply_targets: [{ plugin: 'http', address: 'a' }] }), 1)
})
