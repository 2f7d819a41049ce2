import test from 'ava'
import fc from 'fast-check'
import { withIds } from '../../../../plugins/execution/tasks/todo-write.js'
import { checkTool } from '../../../conform/tool.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'

test('todo_write keeps the contract of tools', async (t) => {
  const { tool, workspace } = await startDaemonTools(t)
  await checkTool(t, {
    tool: tool('todo_write'),
    workspace,
    good: { todos: [{ content: 'a' }] },
    correctable: {
      todos: [
        { id: 'x', content: 'a' },
        { id: 'x', content: 'b' },
      ],
    },
  })
})

test('tasks-25: a list that a run writes is answered with its ids and replaces the one before', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  for (const [line, ids] of [
    ['{"todos":[{"content":"a"},{"id":"todo-1","content":"b","completed":true}]}', ['todo-2', 'todo-1']],
    ['{"todos":[]}', []],
  ] as const) {
    const { run_id } = await submit(daemon, 's1', `/tool todo_write ${line}`)
    t.is((await until(daemon, run_id, 'completed', 'failed')).status, 'completed')
    const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
    for (const id of ids) t.true(JSON.stringify(body).includes(`"${id}"`))
  }
})

test('tasks-25: ids that were given are kept, and those that are made are never one of them', (t) => {
  const drafts = fc
    .uniqueArray(fc.constantFrom('todo-1', 'todo-2', 'todo-3', 'other'), { maxLength: 4 })
    .chain((ids) =>
      fc.shuffledSubarray(
        [
          ...ids.map((id) => ({ id, content: 'x', completed: false })),
          ...Array.from({ length: 4 }, () => ({ content: 'y', completed: false })),
        ],
        { minLength: 1 },
      ),
    )
  fc.assert(
    fc.property(drafts, (list) => {
      const made = withIds(list)
      const kept = list.every((draft, at) => !('id' in draft) || made[at]?.id === draft.id)
      return kept && new Set(made.map(({ id }) => id)).size === list.length
    }),
  )
  t.is(withIds([{ content: 'a', completed: false }])[0]?.id, 'todo-1')
})
