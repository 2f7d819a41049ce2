/** Stops that meet a kill: every copy of the root that is taken on the way is started again. */
import test, { type ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { copyRoot, watchedDisk } from '../../../../support/crash.js'
import { createWorld, effectTools } from '../../../../support/effects.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'

const play = () =>
  scriptedProvider(({ messages }) =>
    messages.at(-1)?.role === 'user' ? [callTool('c', 'slow_pay'), done('tool_calls')] : [text('went on'), done()],
  )

/**
 * Plays `stop` against a run that is in the middle of a call, and gives the copies of the root from both sides of every
 * sync.
 */
const stopAndCopy = async (t: ExecutionContext, stop: (daemon: TestDaemon, run_id: string) => Promise<unknown>) => {
  const world = createWorld()
  const copies = await freshRoot()
  const roots: string[] = []
  let watching = false
  const model = play()
  const disk = watchedDisk(() => {
    if (!watching) return
    const to = path.join(copies, String(roots.length))
    copyRoot(daemon.root, to)
    roots.push(to)
  })
  const daemon: TestDaemon = await startTestDaemon(t, {
    plugins: [effectTools(world), model.plugin],
    config: model.config,
    disk,
  })
  await openSession(daemon)
  const entered = new Promise<void>((resolve) => {
    world.entered = resolve
  })
  const { run_id } = await submit(daemon, 's1', 'go')
  const { run_id: behind } = await submit(daemon, 's1', 'behind')
  await entered
  watching = true
  await stop(daemon, run_id)
  watching = false
  return { roots, run_id, behind }
}

const restart = async (t: ExecutionContext, root: string): Promise<TestDaemon> => {
  const model = play()
  return startTestDaemon(t, {
    root,
    plugins: [effectTools(createWorld()), model.plugin],
    config: { ...model.config, runs: { drain_ms: 10, stop_grace_ms: 100 } },
  })
}

const outcomeOf = async (daemon: TestDaemon, run_id: string): Promise<any> =>
  (await daemon.request('GET', '/v1/sessions/s1/events?limit=10000')).body.session.journal.find(
    (entry: any) => entry.type === 'outcome' && entry.run_id === run_id,
  )?.entry

test('a cancel that a kill overtakes ends the run, or has never reached it', async (t) => {
  const { roots, run_id } = await stopAndCopy(t, (daemon, id) => daemon.request('POST', `/v1/runs/${id}/cancel`))
  t.true(roots.length >= 4, `${roots.length} moments`)
  const ends = new Map<string, number>()
  for (const [at, root] of roots.entries()) {
    const daemon = await restart(t, root)
    const { status } = await until(daemon, run_id, 'completed', 'cancelled')
    const { state } = await outcomeOf(daemon, run_id)
    ends.set(`${status} ${state}`, (ends.get(`${status} ${state}`) ?? 0) + 1)
    if (status === 'completed') t.is(state, 'unknown', `moment ${at}`)
    await daemon.stop()
  }
  t.true((ends.get('cancelled failed') ?? 0) > 0, JSON.stringify([...ends]))
})

test('the end of a session ends all of its runs, whatever happens on the way', async (t) => {
  const { roots, run_id, behind } = await stopAndCopy(t, (daemon) =>
    daemon.request('POST', '/v1/sessions/s1/end', { reason: 'enough' }),
  )
  let ended = 0
  for (const [at, root] of roots.entries()) {
    const daemon = await restart(t, root)
    const { snapshot } = (await daemon.request('GET', '/v1/sessions/s1')).body
    if (snapshot.agent.closed_at_ms !== undefined) {
      ended += 1
      t.regex((await until(daemon, run_id, 'interrupted')).error, /^session_ended: .*enough/u, `moment ${at}`)
      t.regex((await until(daemon, behind, 'cancelled')).error, /^session_ended: /u, `moment ${at}`)
    }
    await daemon.stop()
  }
  t.true(ended > 0)
})

test('runs-42: an orderly stop is no death, also when steps may go on for longer than the host waits for a plugin', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const config = { runs: { drain_ms: 3000, stop_grace_ms: 300, max_unclean_boots: 1 } }
  const first = await startTestDaemon(t, { root, config, patienceMs: 2000 })
  await openSession(first)
  const { run_id } = await submit(first, 's1', '/sleep 60000\n/say Over.')
  await until(first, run_id, 'running')
  t.deepEqual(await first.daemon.stop(), { reason: 'stopped', clean: true })
  const second = await startTestDaemon(t, { root, config, patienceMs: 2000 })
  t.is((await until(second, run_id, 'running', 'interrupted')).status, 'running')
})
