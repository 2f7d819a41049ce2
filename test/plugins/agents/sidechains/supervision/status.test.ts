/** How many agents there are, and what they do, in the status. */
import test, { type ExecutionContext } from 'ava'
import { join } from 'node:path'
import {
  call,
  directed,
  endless,
  openAgent,
  rowsOf,
  settled,
  spawn,
  told,
  untilAgent,
} from '../../../../support/agents.js'
import { copyRoot } from '../../../../support/copied-root.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { repository } from '../../../../support/docs.js'

type Asked = Pick<TestDaemon, 'request'>

const start = async (t: ExecutionContext, root: string) => {
  const model = directed()
  const sidechains = { max_live_children_per_parent: 20, max_child_depth: 3 }
  return startTestDaemon(t, { root, plugins: [model.plugin], config: { ...model.config, sidechains } })
}

const sectionOf = async ({ request }: Asked): Promise<any> => (await request('GET', '/v1/status')).body.agents

/** The section, which must say what a walk over all agents says. */
const checked = async (t: ExecutionContext, daemon: Asked): Promise<any> => {
  const { counts } = await rowsOf(daemon, '?page=true')
  const rows: any[] = await rowsOf(daemon)
  const section = await sectionOf(daemon)
  const { total, filtered: _, with_runtime, without_runtime: __, ...statuses } = counts
  const having = (fits: (row: any) => boolean): number => rows.filter(fits).length
  t.like(section, {
    total,
    ...statuses,
    live_runtime_count: with_runtime,
    sidechain_count: having(({ parent_agent_id }) => parent_agent_id !== undefined),
    closed_count: having(({ closed_at_ms }) => closed_at_ms !== undefined),
    terminal_snapshot_count: statuses.completed + statuses.failed,
    mailbox_message_count: rows.reduce((sum, { mailbox_message_count }) => sum + mailbox_message_count, 0),
  })
  return section
}

const ended = async (daemon: Asked, session_id: string, script: string, ...statuses: string[]): Promise<void> => {
  await openSession(daemon, session_id)
  await until(daemon, (await submit(daemon, session_id, script)).run_id, ...statuses)
}

const question = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] }

/** Agents in every state, some of them closed. */
const allKinds = async (daemon: Asked): Promise<{ parent: string; busy: string; asking: string }> => {
  const parent = await openAgent(daemon)
  await openSession(daemon, 'idle')
  await ended(daemon, 'done', '/say done', 'completed')
  await ended(daemon, 'broken', '/fail fatal no', 'failed')
  await ended(daemon, 'asks', '/ask Which? | A | B', 'waiting_for_user_question')
  await ended(daemon, 'wants', call('bash', { command: 'true' }), 'waiting_for_approval')
  await ended(daemon, 'stopped', '/sleep 3600000', 'running')
  await daemon.request('POST', '/v1/sessions/stopped/interrupt')
  for (const [session_id, script] of [
    ['closed', undefined],
    ['closed-done', '/say done'],
    ['closed-broken', '/fail fatal no'],
  ] as const) {
    if (script === undefined) await openSession(daemon, session_id)
    else await ended(daemon, session_id, script, 'completed', 'failed')
    await daemon.request('POST', `/v1/sessions/${session_id}/end`)
  }
  const busy = (await spawn(daemon, parent, endless)).body.agent_id
  await untilAgent(daemon, busy, ({ status }) => status === 'running')
  for (const subject of ['one', 'two'])
    await daemon.request('POST', '/v1/mailboxes', {
      from_agent_id: parent,
      to_agent_id: busy,
      subject,
      payload: {},
    })
  await settled(daemon, (await spawn(daemon, parent, told('/say done'))).body.agent_id)
  const asked = told(`${call('request_parent_clarification', question)}\n/say I have asked.`)
  const asking = (await spawn(daemon, parent, asked)).body.agent_id
  await untilAgent(daemon, asking, ({ status }) => status === 'waiting_for_user_input')
  return { parent, busy, asking }
}

test('agents-19: the status counts agents as a walk over all of them does, also over a restart', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, root)
  t.like(await checked(t, daemon), { total: 0, live_runtime_count: 0, sidechain_count: 0 })
  const { busy, asking } = await allKinds(daemon)
  const section = await checked(t, daemon)
  t.like(section, {
    total: 13,
    sidechain_count: 3,
    closed_count: 3,
    idle: 3,
    running: 1,
    waiting_for_approval: 1,
    waiting_for_user_input: 2,
    failed: 2,
    completed: 4,
    live_runtime_count: 4,
    mailbox_message_count: 2,
  })
  t.is(section.spawn_policy.max_child_depth, 3)
  t.is(section.spawn_policy.max_spawns_per_run, 6)
  t.false('rules' in section.spawn_policy)
  await daemon.request('POST', '/v1/sessions', { session_id: 'closed-done' })
  t.like(await checked(t, daemon), { closed_count: 2, completed: 4 })
  const session_id = (await rowsOf(daemon, '')).find(({ agent_id }: any) => agent_id === asking).session_id
  await daemon.request('POST', `/v1/sessions/${session_id}/end`)
  t.like(await checked(t, daemon), { closed_count: 3 })
  await daemon.stop()
  const again = await start(t, root)
  await untilAgent(again, busy, ({ status }) => status === 'running' || status === 'idle')
  await checked(t, again)
})

test('agents-19: in a root of an earlier version the status counts what sessions rest as by their runs', async (t) => {
  const root = copyRoot(t, join(repository, 'test/core/state/store/roots/one-index'))
  const daemon = await startTestDaemon(t, { root })
  const { counts } = await rowsOf(daemon, '?page=true')
  t.true(counts.completed > 0)
  for (let n = 0; n < 1_000 && (await sectionOf(daemon)).completed !== counts.completed; n += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  await checked(t, daemon)
  await daemon.stop()
  await checked(t, await startTestDaemon(t, { root }))
})
