import test from 'ava'
import {
  begunAt,
  type RunBase,
  type RunRecord,
  type RunStatus,
  runStatuses,
} from '../../../../../plugins/execution/runs/contract.js'
import {
  advance,
  allowed,
  isTerminal,
  requeue,
  type Step,
} from '../../../../../plugins/execution/runs/record/machine.js'

const base: RunBase = {
  run_id: 'run_1',
  session_id: 's',
  agent_id: 'a',
  kind: 'input',
  submitted_at_ms: 10,
  updated_at_ms: 20,
  source_plugin: 'http',
  source_kind: 'api',
  actor_id: 'operator',
  text_preview: 'x',
  provider: 'demo',
  model: 'demo',
  first: 1,
  last: 4,
  owner: 1,
  outputs: [4],
  repairs: 1,
  answer_ended: 'cut',
  approvals: 1,
  questions: 2,
  unclean_boots: 1,
  active_ms: 5,
  pinned: { revision: 3, permission_mode: 'default' },
  usage: { calls: 1, input_tokens: 2, output_tokens: 3 },
}

const inStatus = (status: RunStatus): RunRecord => {
  switch (status) {
    case 'queued':
      return { ...base, status }
    case 'running':
      return { ...base, status, started_at_ms: 15 }
    case 'waiting_for_approval':
    case 'waiting_for_user_question':
      return { ...base, status, started_at_ms: 15, waiting: 3, pending: ['r'] }
    default:
      return { ...base, status, started_at_ms: 15, finished_at_ms: 20 }
  }
}

const stepTo = (to: RunStatus): Step | undefined => {
  switch (to) {
    case 'queued':
      return undefined
    case 'running':
      return { to }
    case 'waiting_for_approval':
    case 'waiting_for_user_question':
      return { to, waiting: 7, pending: ['p'] }
    default:
      return { to, error: 'code: text' }
  }
}

/** The table of steps, written out a second time (runs-26). */
const expected: Record<RunStatus, string> = {
  queued: 'running failed cancelled',
  running: 'waiting_for_approval waiting_for_user_question completed failed interrupted cancelled',
  waiting_for_approval: 'running failed interrupted cancelled',
  waiting_for_user_question: 'running completed failed interrupted cancelled',
  completed: '',
  failed: '',
  interrupted: '',
  cancelled: '',
}

test('runs-25, runs-26: a run takes exactly the steps of the table, and a refused one names both statuses', (t) => {
  for (const from of runStatuses) {
    for (const to of runStatuses) {
      const legal = from === to || expected[from].split(' ').includes(to)
      t.is(allowed(from, to), legal, `${from} to ${to}`)
      const step = stepTo(to)
      if (step === undefined) continue
      if (legal) t.is(advance(inStatus(from), step, 30).status, to)
      else
        t.like(
          t.throws(() => advance(inStatus(from), step, 30)),
          { code: 'run_state_conflict', message: `Run run_1 is ${from} and cannot become ${to}.` },
        )
    }
  }
})

test('a step keeps what does not depend on the status and sets what does', (t) => {
  const waiting = advance(inStatus('running'), { to: 'waiting_for_approval', waiting: 9, pending: ['x'] }, 30)
  t.deepEqual(waiting, {
    ...base,
    status: 'waiting_for_approval',
    started_at_ms: 15,
    updated_at_ms: 30,
    waiting: 9,
    pending: ['x'],
  })
  const running = advance(waiting, { to: 'running' }, 40)
  t.deepEqual(running, { ...base, status: 'running', started_at_ms: 15, updated_at_ms: 40 })
  t.deepEqual(advance(running, { to: 'completed' }, 50), {
    ...base,
    status: 'completed',
    started_at_ms: 15,
    updated_at_ms: 50,
    finished_at_ms: 50,
  })
})

test('runs-28: times never go back within a run', (t) => {
  t.is(advance(inStatus('running'), { to: 'completed' }, 1).updated_at_ms, 20)
  t.is(advance(inStatus('queued'), { to: 'running' }, 1).updated_at_ms, 20)
  t.like(advance(inStatus('running'), { to: 'failed', error: 'code: text' }, 1), {
    updated_at_ms: 20,
    finished_at_ms: 20,
  })
  t.is(requeue(inStatus('running'), 1).updated_at_ms, 20)
})

test('runs-28: only ended runs are settled, and recovery alone puts a run back into the queue', (t) => {
  t.deepEqual(
    runStatuses.filter((status) => isTerminal(inStatus(status))),
    ['completed', 'failed', 'interrupted', 'cancelled'],
  )
  const again = requeue(inStatus('running'), 30)
  t.is(again.status, 'queued')
  t.false('started_at_ms' in again)
  const twice = requeue(advance(again, { to: 'running' }, 40), 50)
  const done = advance(advance(twice, { to: 'running' }, 60), { to: 'completed' }, 70)
  t.like(done, { begun_at_ms: 15, started_at_ms: 60 }, 'when it began first is kept')
  t.deepEqual([again, twice, done, inStatus('running'), inStatus('queued')].map(begunAt), [15, 15, 15, 15, undefined])
})
