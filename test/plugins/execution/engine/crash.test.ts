import test from 'ava'
import path from 'node:path'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { copyRoot, watchedDisk } from '../../../support/crash.js'
import { createWorld, effectTools, type World } from '../../../support/effects.js'
import { until } from '../../../support/runs.js'
import { volume } from '../../../support/volume.js'

interface Moment {
  readonly root: string
  readonly calls: number
  readonly done: Map<string, string>
}

/** On a connection of its own: one that is kept may be closed just when it is used again. */
const call = async (daemon: TestDaemon, method: string, at: string, body?: unknown): Promise<any> =>
  (await daemon.request(method, at, body)).body

/** Approves whatever waits until the run has ended. */
const finish = async (daemon: TestDaemon, run_id: string): Promise<any> => {
  for (let tries = 0; tries < 100_000; tries += 1) {
    const run = await call(daemon, 'GET', `/v1/runs/${run_id}`)
    if (run.finished_at_ms !== undefined) return run
    if (run.status === 'waiting_for_approval') {
      await call(daemon, 'POST', `/v1/runs/${run_id}/approvals`, {
        resolutions: run.pending_approval_ids.map((request_id: string) => ({ request_id, behavior: 'allow' })),
      })
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('the run did not end')
}

const script = (tool: string): string =>
  `/tool peek {}\n---\n/tool ${tool} {"what":"invoice"}\n---\n/emit paid\n---\n/say All paid.`

/** Plays a whole run and keeps a copy of the root at both sides of every sync. */
const playAndCopy = async (t: any, tool: string): Promise<{ run_id: string; moments: Moment[] }> => {
  const world = createWorld()
  const root = await freshRoot()
  const copies = await freshRoot()
  const moments: Moment[] = []
  let watching = false
  const keep = (): void => {
    if (!watching) return
    const to = path.join(copies, String(moments.length))
    copyRoot(root, to)
    moments.push({ root: to, calls: world.calls.length, done: new Map(world.done) })
  }
  const daemon = await startTestDaemon(t, { root, plugins: [effectTools(world)], disk: watchedDisk(keep) })
  await call(daemon, 'POST', '/v1/sessions', { session_id: 's1' })
  watching = true
  const { run_id } = await call(daemon, 'POST', '/v1/sessions/s1/runs', { content: script(tool) })
  await finish(daemon, run_id)
  watching = false
  await daemon.stop()
  return { run_id, moments }
}

/** Boots on a copy with the world as it was then, and lets the run end. */
const recover = async (
  t: any,
  { root, done }: Moment,
  run_id: string,
): Promise<{ world: World; run: any; events: any; journal: any[]; actions: any[] } | undefined> => {
  const world: World = { ...createWorld(), done: new Map(done) }
  const daemon = await startTestDaemon(t, { root, plugins: [effectTools(world)] })
  const known = await call(daemon, 'GET', `/v1/runs/${run_id}`)
  if (known.code === 'run_not_found') {
    await daemon.stop()
    return undefined
  }
  const run = await finish(daemon, run_id)
  const events = await call(daemon, 'GET', `/v1/runs/${run_id}/events`)
  const log = await call(daemon, 'GET', '/v1/sessions/s1/events')
  const actions = await call(daemon, 'GET', `/v1/runs/${run_id}/external-actions`)
  await daemon.stop()
  return { world, run, events, journal: log.session.journal, actions }
}

for (const tool of ['mcp__pay', 'mcp__put']) {
  test(`a run with an approval that is killed at any step has one effect of ${tool} and the right answer`, async (t) => {
    const { run_id, moments } = await playAndCopy(t, tool)
    t.true(moments.length >= 10, `${moments.length} moments`)
    let unknown = 0
    let repeated = 0
    for (const [at, moment] of moments.entries()) {
      if (at % volume(2, 1) !== 0) continue
      const recovered = await recover(t, moment, run_id)
      if (recovered === undefined) continue
      const { run, world, events, journal, actions } = recovered
      t.is(run.status, 'completed', `moment ${at}: ${run.error ?? ''}`)
      t.is(run.outputs.at(-1).content, 'All paid.')
      t.is(run.outputs.filter((output: any) => output.source_kind === 'emit_output').length, 1)
      t.is(events.filter((entry: any) => entry.event.type === 'completed').length, 1)
      const lost = journal.some((entry: any) => entry.type === 'outcome' && entry.entry.state === 'unknown')
      if (lost) unknown += 1
      if (tool === 'mcp__put') t.is(world.done.size, 1, `moment ${at}`)
      else t.true(world.done.size === 1 || (lost && world.done.size === 0), `moment ${at}: ${world.done.size} effects`)
      t.false(tool === 'mcp__put' && lost)
      // What the ledger says is what the world has seen.
      const [action] = actions
      t.like(
        action,
        { kind: 'tool', target: tool, outcome: lost ? 'unknown' : 'done', approved_by: { type: 'approval' } },
        `moment ${at}`,
      )
      t.is(actions.length, 1)
      t.true(world.calls.filter((made) => made.startsWith(tool)).length <= action.attempts)
      if (tool === 'mcp__put' && action.attempts > 1) repeated += 1
    }
    t.is(unknown > 0, tool === 'mcp__pay')
    t.is(repeated > 0, tool === 'mcp__put')
  })
}

test('runs-42: a daemon that dies three times during a run sets it aside and boots', async (t) => {
  const world = createWorld()
  const plugins = [effectTools(world)]
  let root = await freshRoot()
  let daemon = await startTestDaemon(t, { root, plugins, disk: createDisk() })
  await call(daemon, 'POST', '/v1/sessions', { session_id: 's1' })
  const { run_id } = await call(daemon, 'POST', '/v1/sessions/s1/runs', { content: '/sleep 60000' })
  for (let life = 1; life <= 3; life += 1) {
    await until(daemon, run_id, 'running')
    const next = path.join(await freshRoot(), 'root')
    copyRoot(root, next)
    const dead = daemon
    root = next
    daemon = await startTestDaemon(t, { root, plugins })
    void dead.stop()
  }
  const run = await call(daemon, 'GET', `/v1/runs/${run_id}`)
  t.is(run.status, 'interrupted')
  t.regex(run.error, /^crash_loop_quarantined: /u)
  const { run_id: later } = await call(daemon, 'POST', '/v1/sessions/s1/runs', { content: 'still here' })
  t.is((await finish(daemon, later)).outputs[0].content, 'You said: still here')
})
