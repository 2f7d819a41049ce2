/** What became of agents, as it is recorded. */
import test from 'ava'
import { fault } from '../../../../../core/base/assert.js'
import { definePlugin, type JsonObject, type State } from '../../../../../core/plugin.js'
import type { Disk } from '../../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../../core/state/disk/real-disk.js'
import { AgentAudit } from '../../../../../plugins/agents/sidechains/contract.js'
import { call, endless, spawn, startDirected, told, untilAgent } from '../../../../support/agents.js'
import { createCommandLine } from '../../../../support/command-line.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../../support/daemon.js'
import { codeOf, submit, until } from '../../../../support/runs.js'

const auditOf = async ({ request }: Reachable, query = ''): Promise<any> =>
  (await request('GET', `/v1/agents/audit${query}`)).body
const eventsOf = async ({ request }: Reachable, agent_id: string): Promise<any[]> =>
  (await request('GET', `/v1/agents/${agent_id}/audit`)).body.toReversed()
const named = (rows: any[]): string[] => rows.map(({ event }) => event)

test('agents-20: starts, names and ends of agents are recorded, those of an agent with those of its children', async (t) => {
  const root = await freshRoot()
  const daemon = await startDirected(t, {}, { root })
  const { parent } = daemon
  const wish = { permission_mode: 'plan', tool_surface: { allowlist: ['read_file'] }, spawn_request_id: 'first' }
  const { body: child } = await spawn(daemon, parent, { ...wish, nickname: 'Reader', retention: 'close_on_settle' })
  await spawn(daemon, parent, { ...wish, nickname: 'Reader', retention: 'close_on_settle' })
  const at = `/v1/agents/${child.agent_id}/nickname`
  await daemon.request('PUT', at, { nickname: 'Reader' })
  await daemon.request('PUT', at, { nickname: 'Writer' })
  await daemon.request('DELETE', at)
  await daemon.request('DELETE', at)
  await daemon.request('POST', `/v1/sessions/${child.session_id}/end`, { reason: 'enough' })
  const line = call('spawn_agent', { name: 'look', prompt: '/say seen', agent_type: 'verification' })
  const { run_id } = await submit(daemon, 's1', line)
  await until(daemon, run_id, 'completed')
  const rows = await eventsOf(daemon, parent)
  t.deepEqual(named(rows), [
    'agent_started',
    'agent_nickname_set',
    'agent_nickname_removed',
    'agent_closed',
    'agent_started',
  ])
  t.true(rows.every(({ parent_agent_id }) => parent_agent_id === parent))
  const { audit_id, recorded_at_ms, ...first } = rows[0]
  t.deepEqual([typeof audit_id, typeof recorded_at_ms], ['string', 'number'])
  t.deepEqual(first, {
    event: 'agent_started',
    agent_id: child.agent_id,
    parent_agent_id: parent,
    session_id: child.session_id,
    spawn_request_id: 'first',
    profile: 'default',
    permission_mode: 'plan',
    retention: 'close_on_settle',
    narrowed: ['permission_mode', 'tool_surface', 'credential_scope'],
    nickname: 'Reader',
  })
  t.is(rows[1].nickname, 'Writer')
  t.like(rows[3], { agent_id: child.agent_id, session_id: child.session_id, reason: 'enough' })
  t.like(rows[4], { run_id, profile: 'verification', permission_mode: 'default', narrowed: ['credential_scope'] })
  t.deepEqual(await eventsOf(daemon, child.agent_id), rows.slice(0, 4))
  t.deepEqual(await auditOf(daemon), rows.toReversed())
  await daemon.stop()
  const again = await startTestDaemon(t, { root })
  t.deepEqual(await eventsOf(again, parent), rows)
  t.is((await again.request('GET', '/v1/capabilities')).body.agent_supervisor_audit, true)
})

test('agents-20: an agent that ends by itself is recorded as closed, one that nobody started is not', async (t) => {
  const daemon = await startDirected(t)
  const passing = { ...told('/say done'), retention: 'close_on_settle' }
  const { agent_id } = (await spawn(daemon, daemon.parent, passing)).body
  await untilAgent(daemon, agent_id, ({ closed_at_ms }) => closed_at_ms !== undefined)
  await daemon.request('POST', '/v1/sessions/s1/end')
  const rows = await eventsOf(daemon, daemon.parent)
  t.deepEqual(named(rows), ['agent_started', 'agent_closed'])
  t.is(rows[1].reason, 'its work is done')
})

test('agents-13, agents-20: one that was to be closed and has not begun is with its parent, and so are those below it', async (t) => {
  const daemon = await startDirected(t)
  const { parent } = daemon
  const passing = { retention: 'close_on_settle' }
  const { body: first } = await spawn(daemon, parent, passing)
  const { body: below } = await spawn(daemon, first.agent_id, passing)
  const { body: kept } = await spawn(daemon, parent)
  await daemon.request('POST', '/v1/sessions/s1/end', { reason: 'enough' })
  const reason = 'its parent was ended before it began'
  for (const { agent_id } of [first, below]) {
    const rows = (await eventsOf(daemon, agent_id)).filter((row) => row.agent_id === agent_id)
    t.deepEqual(named(rows), ['agent_started', 'agent_closed'])
    t.is(rows[1].reason, reason)
  }
  t.deepEqual(named(await eventsOf(daemon, kept.agent_id)), ['agent_started'])
  t.is((await daemon.request('POST', `/v1/sessions/${below.session_id}/runs`, { content: 'x' })).status, 409)
})

test('agents-20: a refused start is recorded once, with its code, and nothing else of the request', async (t) => {
  const daemon = await startDirected(t)
  const { parent } = daemon
  const wide = { permission_mode: 'bypassPermissions', nickname: 'canary', ...told('canary', 'canary') }
  t.deepEqual(codeOf(await spawn(daemon, parent, wide)), [400, 'agent_widened'])
  const { run_id } = await submit(daemon, 's1', call('spawn_agent', { name: 'x', mode: 'bypassPermissions' }))
  await until(daemon, run_id, 'completed')
  await spawn(daemon, 'nobody', wide)
  await daemon.request('POST', `/v1/agents/${parent}/sidechains/explain`, { permission_mode: 'bypassPermissions' })
  const surface = { allowlist: ['read_file'] }
  const { body: child } = await spawn(daemon, parent, { tool_surface: surface })
  await spawn(daemon, child.agent_id, { tool_surface: { allowlist: ['bash'] } })
  const rows = await auditOf(daemon, '?event=agent_start_refused')
  t.deepEqual(
    named(rows),
    Array.from({ length: 3 }, () => 'agent_start_refused'),
  )
  const [byChild, byTool, byHand] = rows
  t.deepEqual(Object.keys(byHand).toSorted(), [
    'agent_id',
    'audit_id',
    'code',
    'event',
    'reason',
    'recorded_at_ms',
    'session_id',
  ])
  t.like(byHand, { agent_id: parent, session_id: 's1', code: 'agent_widened' })
  t.regex(byHand.reason, /bypassPermissions/u)
  t.like(byTool, { agent_id: parent, session_id: 's1', code: 'agent_widened', run_id })
  t.like(byChild, { agent_id: child.agent_id, session_id: child.session_id })
  t.notRegex(JSON.stringify(rows), /canary/u)
  t.deepEqual(named(await eventsOf(daemon, parent)), ['agent_start_refused', 'agent_start_refused', 'agent_started'])
})

test('agents-20: a call that says two things is a refused start', async (t) => {
  const daemon = await startDirected(t)
  for (const more of [
    { wait: true, run_in_background: true },
    { model: 'one', generation: { model: 'two' } },
  ]) {
    const { run_id } = await submit(daemon, 's1', call('spawn_agent', { name: 'x', ...more }))
    await until(daemon, run_id, 'completed')
    const [newest] = await auditOf(daemon, '?event=agent_start_refused')
    t.like(newest, { agent_id: daemon.parent, session_id: 's1', code: 'spawn_conflict', run_id })
  }
})

test('agents-20: questions to parents are recorded when they are asked and when they are settled', async (t) => {
  const daemon = await startDirected(t)
  const question = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] }
  const asks = told(`${call('request_parent_clarification', question)}\n/say I have asked.`)
  const { agent_id, session_id } = (await spawn(daemon, daemon.parent, asks)).body
  await untilAgent(daemon, agent_id, ({ status }) => status === 'waiting_for_user_input')
  const [open] = (await daemon.request('GET', '/v1/questions')).body
  await daemon.request('POST', `/v1/runs/${open.run_id}/questions/${open.request.id}/cancel`)
  for (let n = 0; n < 500 && (await eventsOf(daemon, agent_id)).length < 3; n += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  const rows = await eventsOf(daemon, agent_id)
  t.deepEqual(named(rows), ['agent_started', 'clarification_asked', 'clarification_settled'])
  const of = { agent_id, session_id, parent_agent_id: daemon.parent, run_id: open.run_id }
  t.like(rows[1], { ...of, request_id: open.request.id })
  t.like(rows[2], { ...of, request_id: open.request.id, declined: true, decided_by: 'cancel' })
})

test('agents-20: lists of the audit are pages, newest first, and what they cannot be is refused', async (t) => {
  const daemon = await startDirected(t, { max_live_children_per_parent: 99 })
  const { parent } = daemon
  for (let n = 0; n < 7; n += 1)
    await spawn(daemon, parent, n % 2 === 0 ? {} : { permission_mode: 'bypassPermissions' })
  const all = await auditOf(daemon)
  t.is(all.length, 7)
  for (const path of ['/v1/agents/audit', `/v1/agents/${parent}/audit`]) {
    const walked: any[] = []
    for (let cursor = ''; ;) {
      const { items, pagination } = (await daemon.request('GET', `${path}?page=true&limit=2${cursor}`)).body
      t.like(pagination, { total_count: 7, limit: 2, order: 'recorded_at_desc' })
      walked.push(...items)
      if (!pagination.has_more) break
      cursor = `&cursor=${encodeURIComponent(pagination.next_cursor)}`
    }
    t.deepEqual(walked, all, path)
    t.deepEqual((await daemon.request('GET', `${path}?limit=3`)).body, all.slice(0, 3))
    t.is((await daemon.request('GET', `${path}?page=true`)).body.pagination.limit, 50)
    t.is((await daemon.request('GET', `${path}?page=true&limit=5000`)).body.pagination.limit, 100)
    t.deepEqual(codeOf(await daemon.request('GET', `${path}?limit=0`)), [400, 'invalid_limit'])
    t.deepEqual(codeOf(await daemon.request('GET', `${path}?cursor=x`)), [400, 'invalid_cursor'])
  }
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/agents/nobody/audit')), [404, 'agent_not_found'])
  t.is((await daemon.request('GET', '/v1/agents/audit?event=born')).status, 400)
  const line = createCommandLine(daemon)
  t.is((await line('agents', 'audit')).out.match(/agent_started/gu)?.length, 4)
  t.regex((await line('agents', 'audit', parent, '--limit', '1')).out, /agent_started[^]*There are more, 7 in all/u)
})

/** What a plugin notes, as fast as it can. */
const noter = () => {
  let found: { readonly state: State; readonly audit: AgentAudit } | undefined
  const plugin = definePlugin({
    id: 'noter',
    version: '1.0.0',
    api: 1,
    summary: 'Notes events.',
    needs: { audit: AgentAudit },
    register(ctx, { audit }) {
      found = { state: ctx.state, audit }
    },
  })
  const note = async (event: 'agent_started' | 'agent_start_refused', count: number, more = ''): Promise<void> => {
    for (let done = 0; done < count; done += 500)
      await found?.state.commit((tx) => {
        for (let n = done; n < Math.min(count, done + 500); n += 1)
          found?.audit.note(tx, { event, agent_id: `a${n % 7}`, session_id: 's1', reason: `${n}${more}` })
      })
  }
  return { plugin, note }
}

test('agents-20: the audit is kept in rings, and refused starts push nothing else out', async (t) => {
  const { plugin, note } = noter()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const count = async (event: string): Promise<number> =>
    (await auditOf(daemon, `?page=true&event=${event}`)).pagination.total_count
  await note('agent_started', 20_003)
  await note('agent_start_refused', 2_005)
  t.deepEqual([await count('agent_started'), await count('agent_start_refused')], [20_000, 2_000])
  const [newest] = await auditOf(daemon, '?event=agent_start_refused&limit=1')
  t.is(newest.reason, '2004')
  await note('agent_start_refused', 1, '🌱'.repeat(2_000))
  const [long] = await auditOf(daemon, '?limit=1')
  t.is(long.reason, `0${'🌱'.repeat(249)}`)
})

/** A disk whose log takes nothing while it is full. */
const filling = (disk: Disk, isFull: () => boolean): Disk => ({
  ...disk,
  open: async (path, how) => {
    const file = await disk.open(path, how)
    if (!path.includes('/log/')) return file
    return {
      ...file,
      write: (bytes, position) =>
        isFull() ? Promise.reject(Object.assign(fault('no space'), { code: 'ENOSPC' })) : file.write(bytes, position),
    }
  },
})

test('agents-19, agents-20: the status counts refused starts that could not be recorded', async (t) => {
  let full = false
  const daemon = await startDirected(t, {}, { disk: filling(createDisk(), () => full) })
  const section = async (): Promise<JsonObject> => (await daemon.request('GET', '/v1/status')).body.agents
  t.is((await section())['audit_sink_error_count'], 0)
  t.false('last_audit_sink_error' in (await section()))
  full = true
  t.is((await spawn(daemon, daemon.parent, endless)).status, 503)
  const { audit_sink_error_count, last_audit_sink_error } = await section()
  t.is(audit_sink_error_count, 1)
  t.is(typeof last_audit_sink_error, 'string')
  full = false
})
