import test from 'ava'
import { Tasks, type SessionTask } from '../../../../plugins/execution/tasks/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession } from '../../../support/runs.js'
import { lender } from '../../../support/plugins.js'

const setUp = async (t: Parameters<typeof startTestDaemon>[0]) => {
  const { plugin, context, services } = lender({ tasks: Tasks })
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const [{ state }, { tasks }] = [context(), services()]
  await openSession(daemon)
  const add = (id: string): Promise<SessionTask> =>
    state.commit((tx) =>
      tasks.add(tx, {
        id,
        session_id: 's1',
        runner: 'spying',
        title: 'a',
        description: '',
        metadata: { kind: 'spying' },
      }),
    )
  return { daemon, tasks, state, add }
}

test('a task that a runner adds is in progress; what it tells is merged until the task has ended', async (t) => {
  const { tasks, state, add } = await setUp(t)
  const task = await add('t1')
  t.is(task.status, 'in_progress')
  await add('t2')
  t.deepEqual(
    tasks.listOpen({ runner: 'spying' }).map(({ id }) => id),
    ['t1', 't2'],
  )
  const tell = (news: Parameters<typeof tasks.tell>[2]): Promise<void> =>
    state.commit((tx) => tasks.tell(tx, task, news))
  await tell({ metadata: { a: 1, b: 2 } })
  await tell({ metadata: { a: null, c: 3 }, status: 'completed' })
  const ended = tasks.find('s1', 't1')
  t.deepEqual([ended?.status, ended?.metadata], ['completed', { kind: 'spying', b: 2, c: 3 }])
  await tell({ metadata: { late: true }, status: 'failed' })
  t.deepEqual(tasks.find('s1', 't1'), ended)
  t.deepEqual(
    tasks.listOpen({ session_id: 's1' }).map(({ id }) => id),
    ['t2'],
  )
  t.deepEqual(tasks.newest('spying', 1), ['t2'])
})

test('an ended session gets no task of a runner', async (t) => {
  const { daemon, add } = await setUp(t)
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  await t.throwsAsync(add('t1'), { code: 'task_session_ended' })
  await openSession(daemon)
  t.is((await add('t1')).status, 'in_progress')
})
