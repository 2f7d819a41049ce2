import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { checkTool } from '../../../conform/tool.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'
import { openSession } from '../../../support/runs.js'
import { codeOf } from '../../../support/tools.js'

/** A daemon with the session `s1`, and the tools of tasks. */
const setUp = async (t: ExecutionContext, config: { max_open_tasks?: number } = {}) => {
  const tools = await startDaemonTools(t, { config: { tasks: config } })
  const { daemon, call } = tools
  await openSession(daemon)
  const make = async (title: string, more: object = {}): Promise<string> =>
    (await call('task_create', { title, ...more })).output.task.id
  const read = async (task_id: string): Promise<any> => (await call('task_get', { task_id })).output
  return { ...tools, make, read }
}

test('the tools of tasks keep the contract of tools', async (t) => {
  const { workspace, tool, make } = await setUp(t)
  const task_id = await make('first')
  await checkTool(t, { tool: tool('task_create'), workspace, good: { title: 'a' }, correctable: { title: 'first' } })
  for (const name of ['task_get', 'task_update', 'task_stop', 'task_delete'])
    await checkTool(t, { tool: tool(name), workspace, good: { task_id }, correctable: { task_id: 'none' } })
  await checkTool(t, { tool: tool('task_list'), workspace, good: { status: 'pending' } })
  await checkTool(t, {
    tool: tool('task_output'),
    workspace,
    good: { task_id, timeout_ms: 10 },
    correctable: { task_id: 'none' },
    slow: { task_id, timeout_ms: 110_000 },
  })
})

test('a new task is pending, carries its run, and leaves out what is empty', async (t) => {
  const { call } = await setUp(t)
  const { output } = await call('task_create', { title: '  Dig  ' })
  const { id, created_at_ms, updated_at_ms, ...rest } = output.task
  t.deepEqual(rest, { title: 'Dig', description: '', status: 'pending', metadata: { created_by_run_id: 'r1' } })
  t.is(created_at_ms, updated_at_ms)
  t.regex(id, /^task_/u)
  t.is(output.task_count, 1)
  const second = (
    await call('task_create', {
      title: 'Plant',
      description: 'Beans',
      owner_agent_id: 'a1',
      metadata: { row: 1 },
      blocked_by: [id],
    })
  ).output
  t.deepEqual(
    [
      second.task.description,
      second.task.owner_agent_id,
      second.task.metadata,
      second.task.blocked_by,
      second.task_count,
    ],
    ['Beans', 'a1', { row: 1, created_by_run_id: 'r1' }, [id], 2],
  )
})

test('tasks-19: a title is taken as long as its task is open, in its own session only', async (t) => {
  const { daemon, call, make } = await setUp(t)
  const id = await make('Dig')
  t.is(codeOf(await call('task_create', { title: ' Dig ' })), 'task_title_taken')
  await openSession(daemon, 's2')
  t.false((await call('task_create', { title: 'Dig' }, 's2')).is_error)
  await call('task_update', { task_id: id, status: 'completed' })
  const again = await make('Dig')
  t.is(
    codeOf(await call('task_update', { task_id: id, status: 'pending' })),
    'task_title_taken',
    'a task that is opened again takes its title again',
  )
  const other = await make('Plant')
  t.is(codeOf(await call('task_update', { task_id: other, title: 'Dig' })), 'task_title_taken')
  t.false((await call('task_update', { task_id: again, title: 'Dig' })).is_error)
})

test('both ends of a dependency say the same, whichever is changed', async (t) => {
  const { call, make, read } = await setUp(t)
  const [a, b, c] = [await make('a'), await make('b'), await make('c')]
  await call('task_update', { task_id: a, blocked_by: [b, b], add_blocks: [c] })
  t.deepEqual(
    [(await read(a)).blocked_by, (await read(a)).blocks, (await read(b)).blocks, (await read(c)).blocked_by],
    [[b], [c], [a], [a]],
  )
  await call('task_update', { task_id: c, remove_blocked_by: [a] })
  t.is((await read(a)).blocks, undefined)
  await call('task_update', { task_id: b, blocks: [c] })
  t.deepEqual([(await read(a)).blocked_by, (await read(c)).blocked_by], [undefined, [b]])
  const d = await make('d', { blocks: [a], blocked_by: [c] })
  t.deepEqual([(await read(a)).blocked_by, (await read(c)).blocks], [[d], [d]])
  await call('task_delete', { task_id: d })
  t.deepEqual([(await read(a)).blocked_by, (await read(c)).blocks], [undefined, undefined])
})

test('a dependency that is unknown, its own, of another session or in a circle is refused, and nothing is changed', async (t) => {
  const { daemon, call, make, read } = await setUp(t)
  const [a, b] = [await make('a'), await make('b')]
  const c = await make('c', { blocked_by: [b] })
  await call('task_update', { task_id: b, blocked_by: [a] })
  const before = [await read(a), await read(b), await read(c)]
  t.is(codeOf(await call('task_update', { task_id: a, add_blocked_by: ['none'] })), 'task_dependency_not_found')
  t.is(codeOf(await call('task_create', { title: 'x', blocks: ['none'] })), 'task_dependency_not_found')
  t.is(codeOf(await call('task_update', { task_id: a, blocks: [a] })), 'task_self_dependency')
  t.is(codeOf(await call('task_update', { task_id: a, add_blocked_by: [c] })), 'task_dependency_cycle')
  t.is(codeOf(await call('task_update', { task_id: a, blocks: [b], blocked_by: [b] })), 'task_dependency_cycle')
  t.is(codeOf(await call('task_create', { title: 'x', blocked_by: [c], blocks: [a] })), 'task_dependency_cycle')
  await openSession(daemon, 's2')
  t.is(codeOf(await call('task_create', { title: 'x', blocked_by: [a] }, 's2')), 'task_dependency_not_found')
  t.deepEqual([await read(a), await read(b), await read(c)], before)
})

test('tasks-23: metadata is merged, its keys can be removed, and those of the daemon cannot be set', async (t) => {
  const { call, make } = await setUp(t)
  const task_id = await make('a', { metadata: { x: 1, y: 2 } })
  const merged = await call('task_update', {
    task_id,
    metadata: { y: 3, z: [4] },
    remove_metadata_keys: ['x'],
    output: 'done',
    owner_agent_id: 'a1',
  })
  t.deepEqual(
    [merged.output.task.metadata, merged.output.task.output, merged.output.task.owner_agent_id],
    [{ y: 3, z: [4], created_by_run_id: 'r1' }, 'done', 'a1'],
  )
  const cleared = await call('task_update', { task_id, output: '', owner_agent_id: '' })
  t.deepEqual(['output' in cleared.output.task, 'owner_agent_id' in cleared.output.task], [false, false])
  for (const key of ['kind', 'exit_code', 'terminal_reason', 'process_tree_remaining_pids', 'created_by_run_id']) {
    t.is(codeOf(await call('task_update', { task_id, metadata: { [key]: 0 } })), 'task_metadata_reserved', key)
    t.is(codeOf(await call('task_update', { task_id, remove_metadata_keys: [key] })), 'task_metadata_reserved', key)
    t.is(codeOf(await call('task_create', { title: 'b', metadata: { [key]: 0 } })), 'task_metadata_reserved', key)
  }
  t.is(codeOf(await call('task_update', { task_id, metadata: { big: 'x'.repeat(17_000) } })), 'task_metadata_too_large')
})

test('tasks-21: a deleted task is hidden from every read and keeps the reason', async (t) => {
  const { daemon, call, make } = await setUp(t)
  const [a, b] = [await make('a'), await make('b')]
  t.is((await call('task_delete', { task_id: a, reason: 'a mistake' })).output.task_count, 1)
  t.is(codeOf(await call('task_get', { task_id: a })), 'task_not_found')
  t.is(codeOf(await call('task_delete', { task_id: a })), 'task_not_found')
  t.deepEqual(
    (await call('task_list')).output.map(({ id }: { id: string }) => id),
    [b],
  )
  t.is((await daemon.request('GET', `/v1/sessions/s1/tasks/${a}`)).status, 404)
  t.is((await daemon.request('GET', '/v1/status')).body.tasks.total, 1)
  t.true((await call('task_create', { title: 'a' })).output.task.id !== a, 'its title is free')
})

test('tasks-24: a session has a bounded number of open tasks and of dependencies of one', async (t) => {
  const { call, make } = await setUp(t, { max_open_tasks: 102 })
  const ids: string[] = []
  for (let n = 0; n < 102; n += 1) ids.push(await make(`task ${n}`))
  const [first = '', second = '', ...rest] = ids
  t.is(codeOf(await call('task_create', { title: 'one more' })), 'task_limit_reached')
  await call('task_update', { task_id: first, blocks: rest })
  t.is(codeOf(await call('task_update', { task_id: first, add_blocks: [second] })), 'task_dependency_limit')
  await call('task_stop', { task_id: second })
  t.false((await call('task_create', { title: 'one more' })).is_error)
})

test('tasks-24: a task that is opened again is held to the limit of open tasks', async (t) => {
  const { call, make, read } = await setUp(t, { max_open_tasks: 2 })
  const task_id = await make('a')
  await call('task_update', { task_id, status: 'completed' })
  const [, other] = [await make('b'), await make('c')]
  t.is(codeOf(await call('task_update', { task_id, status: 'pending' })), 'task_limit_reached')
  t.is((await read(task_id)).status, 'completed')
  t.false((await call('task_update', { task_id, output: 'done' })).is_error, 'it can be edited')
  t.false((await call('task_update', { task_id: other, status: 'blocked' })).is_error, 'so can one that is open')
  await call('task_stop', { task_id: other })
  t.is((await call('task_update', { task_id, status: 'pending' })).output.task.status, 'pending')
})

test('a task that is stopped is cancelled with its reason, and one that has ended stays as it is', async (t) => {
  const { call, make } = await setUp(t)
  const task_id = await make('a')
  const stopped = (await call('task_stop', { task_id, reason: 'enough' })).output.task
  t.deepEqual(
    [stopped.status, stopped.metadata.terminal_reason, stopped.metadata.stop_reason],
    ['cancelled', 'stopped', 'enough'],
  )
  t.deepEqual((await call('task_stop', { task_id, reason: 'again' })).output.task, stopped)
})

test('tasks-20: whatever is done to dependencies, they stay free of circles and say the same at both ends', async (t) => {
  const { call, make } = await setUp(t)
  const names = ['a', 'b', 'c', 'd', 'e']
  const ids: string[] = []
  for (const name of names) ids.push(await make(name))
  const refs = fc.array(
    fc.nat(4).map((n) => ids[n] ?? ''),
    { maxLength: 3 },
  )
  const change = fc.record({ task_id: fc.nat(4).map((n) => ids[n] ?? '') }, {}).chain(({ task_id }) =>
    fc.record(
      {
        task_id: fc.constant(task_id),
        blocked_by: refs,
        blocks: refs,
        add_blocked_by: refs,
        remove_blocked_by: refs,
        add_blocks: refs,
        remove_blocks: refs,
      },
      { requiredKeys: ['task_id'] },
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
      for (const one of changes) await call('task_update', one)
      const tasks: { id: string; blocked_by?: string[]; blocks?: string[] }[] = (await call('task_list')).output
      const links = (side: 'blocked_by' | 'blocks') =>
        tasks
          .flatMap((task) =>
            (task[side] ?? []).map((other) => (side === 'blocks' ? `${task.id}>${other}` : `${other}>${task.id}`)),
          )
          .toSorted()
      const free = new Set<string>()
      for (let before = -1; before !== free.size;) {
        before = free.size
        for (const task of tasks) if ((task.blocked_by ?? []).every((other) => free.has(other))) free.add(task.id)
      }
      return (
        JSON.stringify(links('blocks')) === JSON.stringify(links('blocked_by')) &&
        new Set(links('blocks')).size === links('blocks').length &&
        free.size === tasks.length
      )
    }),
    { numRuns: 60 },
  )
  t.pass()
})
