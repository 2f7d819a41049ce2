/** Lists of agents, and their counts. */
import test from 'ava'
import {
  call,
  does,
  endless,
  openAgent,
  resultsIn,
  rowsOf,
  settled,
  spawn,
  startDirected,
  told,
  agentOf,
} from '../../../support/agents.js'
import { codeOf } from '../../../support/runs.js'

const wide = {
  max_live_children_per_parent: 500,
  max_live_descendants_per_root: 500,
  max_live_sidechains_per_session: 500,
  max_live_sidechains_global: 500,
  max_spawns_per_session_window: 9_999,
  max_spawns_per_profile_window: 9_999,
  max_spawns_global_window: 9_999,
  max_spawn_cpu_ms_per_window: 9_999_999,
}
test('agents-12: in a tree of two hundred the counts are those of a recount, and pages have each agent once', async (t) => {
  const daemon = await startDirected(t, wide)
  await openAgent(daemon, 'aside')
  const ids = [daemon.parent]
  const told_ = ['/say done', '/fail fatal no', '/sleep 3600000', '/ask Which? | A | B', undefined]
  for (let batch = 0; batch < 20; batch += 1) {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => {
        const what = told_[(batch + n) % told_.length]
        const above = ids[Math.floor(batch / 6) * 10 + (n % 5)] ?? daemon.parent
        return spawn(daemon, above, what === undefined ? {} : told(what, `w${batch}-${n}`))
      }),
    )
    for (const { status, body } of made) {
      t.is(status, 200, JSON.stringify(body))
      ids.push(body.agent_id)
    }
  }
  for (let n = 0; n < 2_000; n += 1) {
    const { counts } = await rowsOf(daemon, '?page=true')
    if (counts.completed === 40 && counts.failed === 40 && counts.waiting_for_user_input === 40) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const root = `root_agent_id=${daemon.parent}`
  const both = await daemon.request('GET', `/v1/agents/summaries?${root}&root=${daemon.parent}x`)
  t.deepEqual([both.status, both.body.code], [400, 'agent_root_conflict'])
  t.is((await daemon.request('GET', `/v1/agents/summaries?${root}&root=${daemon.parent}`)).status, 200)
  const rows: any[] = await rowsOf(daemon, `?${root}`)
  t.deepEqual(new Set(rows.map(({ agent_id }) => agent_id)), new Set(ids))
  const { counts, pagination, items } = await rowsOf(daemon, `?page=true&${root}`)
  const recount = (fits: (row: any) => boolean): number => rows.filter(fits).length
  t.deepEqual(counts, {
    total: 201,
    filtered: 201,
    ...Object.fromEntries(
      ['idle', 'running', 'waiting_for_approval', 'waiting_for_user_input', 'failed', 'completed'].map((one) => [
        one,
        recount(({ status }) => status === one),
      ]),
    ),
    with_runtime: recount(({ has_runtime }) => has_runtime),
    without_runtime: recount(({ has_runtime }) => !has_runtime),
  })
  t.is(counts.with_runtime, 80)
  t.deepEqual([pagination.total_count, items.length], [201, 50])
  const walked: any[] = []
  for (let cursor = ''; ;) {
    const page = await rowsOf(daemon, `?page=true&limit=7&${root}${cursor}`)
    walked.push(...page.items)
    if (!page.pagination.has_more) break
    cursor = `&cursor=${encodeURIComponent(page.pagination.next_cursor)}`
  }
  t.deepEqual(
    walked.map(({ agent_id }) => agent_id),
    rows.map(({ agent_id }) => agent_id),
  )
  t.is((await rowsOf(daemon, '?page=true')).counts.total, 202)
  const failed = await rowsOf(daemon, `?page=true&status=failed&has_runtime=false&${root}`)
  t.like(failed.counts, { total: 201, filtered: 40, failed: 40 })
  t.true(failed.items.every(({ status, last_error }: any) => status === 'failed' && String(last_error).endsWith('no')))
  const below = await rowsOf(daemon, `?root=${ids[1]}`)
  const under = (id: string): number => 1 + recount(({ parent_agent_id }) => parent_agent_id === id)
  t.true(below.length >= under(ids[1] ?? ''))
  t.is((await daemon.request('GET', '/v1/agents')).body.length, 202)
})

test('agents-12: agents that were started in one millisecond are all in the lists', async (t) => {
  const daemon = await startDirected(t, wide)
  await Promise.all(
    Array.from({ length: 150 }, (_, n) => daemon.request('POST', '/v1/sessions', { session_id: `m${n}` })),
  )
  await Promise.all(Array.from({ length: 150 }, () => spawn(daemon, daemon.parent)))
  const rows: any[] = await rowsOf(daemon)
  t.is(rows.length, 301)
  t.is((await daemon.request('GET', '/v1/agents')).body.length, 301)
  t.is((await rowsOf(daemon, '?page=true&limit=100')).counts.total, 301)
})

test('agents-12: filters, limits and names that cannot be', async (t) => {
  const daemon = await startDirected(t, wide)
  const { body } = await spawn(daemon, daemon.parent, told('/say ' + 'x'.repeat(499) + '🌱 and more'))
  await settled(daemon, body.agent_id)
  const [row] = await rowsOf(daemon, `?session_id=${body.session_id}`)
  t.like(row, { last_output_preview: 'x'.repeat(499), last_output_truncated: true, subtask_count: 1, path: '/work' })
  t.is((await rowsOf(daemon, '?limit=1')).length, 1)
  t.is((await rowsOf(daemon, '?has_runtime=true')).length, 0)
  for (const path of ['/v1/agents', '/v1/agents/summaries'])
    t.deepEqual(codeOf(await daemon.request('GET', `${path}?limit=0`)), [400, 'invalid_limit'])
  const code = async (query: string) => codeOf(await daemon.request('GET', `/v1/agents/summaries${query}`))
  t.deepEqual(await code('?cursor=hm'), [400, 'invalid_cursor'])
  t.deepEqual(await code('?root=agent_nobody'), [404, 'agent_not_found'])
  t.deepEqual(await code('?status=asleep'), [400, 'bad_request'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/agents/agent_nobody')), [404, 'agent_not_found'])
  const { pagination } = await rowsOf(daemon, '?page=true&limit=5000')
  t.is(pagination.limit, 100)
})

test('agents-16: an agent sees those of its own tree, and no others', async (t) => {
  const daemon = await startDirected(t, wide)
  const other = await openAgent(daemon, 's2')
  const sibling = await spawn(daemon, daemon.parent, { ...told('/say one'), nickname: 'One' })
  await settled(daemon, sibling.body.agent_id)
  const child = await spawn(daemon, daemon.parent)
  const { body } = await daemon.request('GET', `/v1/agents/${child.body.agent_id}`)
  await does(
    daemon,
    body.agent.conversation.session_id,
    call('list_agents'),
    call('list_agent_summaries', { status: 'completed' }),
    call('get_agent', { agent_id: sibling.body.agent_id }),
    call('get_agent', { agent_id: other }),
    call('wait_agent', { agent_ids: [other], timeout_ms: 1 }),
    call('wait_agent', { agent_ids: [sibling.body.agent_id] }),
  )
  const [list, summaries, one, beyond, waits, waited] = resultsIn(daemon.asked.at(-1))
  t.deepEqual(
    list.agents.map(({ agent_id }: any) => agent_id),
    [daemon.parent, sibling.body.agent_id, child.body.agent_id],
  )
  t.is(list.counts.total, 3)
  t.deepEqual(list.you, { agent_id: child.body.agent_id, parent_agent_id: daemon.parent })
  t.deepEqual(
    summaries.items.map(({ nickname, last_output_preview }: any) => [nickname, last_output_preview]),
    [['One', 'one']],
  )
  t.like(one, { status: 'completed', final_output: 'one' })
  t.is(beyond.error.code, 'agent_not_found')
  t.is(waits.error.code, 'agent_not_found')
  t.like(waited, { timed_out: false, agents: [{ final_output: 'one' }] })
})

test('agents-12: has_runtime says that an agent works, waits or is queued', async (t) => {
  const daemon = await startDirected(t, wide)
  const { body } = await spawn(daemon, daemon.parent, endless)
  await daemon.request('POST', `/v1/sessions/${body.session_id}/runs`, { content: '/say later' })
  const [row] = await rowsOf(daemon, '?has_runtime=true')
  t.like(row, { agent_id: body.agent_id, status: 'running', queued_run_count: 1 })
  t.is(typeof row.active_run_id, 'string')
  t.is((await agentOf(daemon, body.agent_id)).settled_at_ms, undefined)
})
