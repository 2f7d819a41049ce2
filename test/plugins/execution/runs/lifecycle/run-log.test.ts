import test from 'ava'
import { rm } from 'node:fs/promises'
import { showStatus } from '../../../../../plugins/operator/status/summary.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const lines = (daemon: TestDaemon, fact: string): Readonly<Record<string, unknown>>[] =>
  daemon.log
    .filter((line) => line.fact === fact)
    .map(({ details }) => Object.fromEntries(Object.entries(details).filter(([name]) => name !== 'plugin')))

test('the log has a line for each run that did not complete, for what a stop left and for what goes on', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await startTestDaemon(t, { root, config: { runs: { drain_ms: 10 } } })
  await openSession(first)
  await until(first, (await submit(first, 's1', 'fine')).run_id, 'completed')
  const failed = await submit(first, 's1', '/fail fatal It is broken.')
  await until(first, failed.run_id, 'failed')
  const asleep = await submit(first, 's1', '/sleep 60000')
  await until(first, asleep.run_id, 'running')
  const queued = await submit(first, 's1', '/say Later.')
  const other = await submit(first, 's1', 'never')
  await first.request('POST', `/v1/runs/${other.run_id}/cancel`)
  await first.stop()
  t.deepEqual(lines(first, 'a run failed'), [
    {
      run_id: failed.run_id,
      session_id: 's1',
      code: 'model_bad_request',
      reason: 'model_bad_request: It is broken.',
    },
  ])
  t.like(lines(first, 'a run was cancelled'), [{ run_id: other.run_id, code: 'cancelled' }])
  t.deepEqual(lines(first, 'runs are left for the next start'), [{ running: 1, queued: 1 }])
  t.deepEqual(
    first.log.filter(({ details }) => details['run_id'] === queued.run_id),
    [],
  )
  t.like(
    first.log.find(({ fact, details }) => fact === 'request' && details['route'] === 'runs.cancel'),
    { level: 'debug', details: { method: 'POST', status: 200 } },
  )
  const second = await startTestDaemon(t, { root })
  t.deepEqual(lines(second, 'a run goes on that an earlier life of the daemon left'), [{ run_id: asleep.run_id }])
  await second.request('POST', `/v1/runs/${asleep.run_id}/cancel`)
  await until(second, queued.run_id, 'completed')
  await second.stop()
})

test('runtime-9: a session whose runs keep failing and a route whose last call failed are warnings with an action', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const status = async (): Promise<any> => (await daemon.request('GET', '/v1/status')).body
  const codes = async (): Promise<string[]> =>
    ((await status()).health.warnings ?? [])
      .filter(({ severity }: any) => severity === 'warning')
      .map(({ code }: any) => code)
  t.deepEqual(await codes(), [])
  // What is to be done stands at the end of an error.
  const broken = `${'It is broken. '.repeat(20)}Mend it.`
  const fail = async (): Promise<string> => {
    const { run_id } = await submit(daemon, 's1', `/fail fatal ${broken}`)
    await until(daemon, run_id, 'failed')
    return run_id
  }
  await fail()
  t.deepEqual(await codes(), ['provider_route_failing'])
  t.notRegex(showStatus(await status()), /Nothing needs you/u)
  await fail()
  const last = await fail()
  t.deepEqual((await codes()).toSorted(), ['provider_route_failing', 'runs_failing'])
  const failing = (await status()).health.warnings.find(({ code }: any) => code === 'runs_failing')
  t.is(failing.related_id, 's1')
  t.regex(failing.message, /Mend it\.$/u)
  t.true(failing.action.includes(`holdfast runs retry ${last}`))
  await until(daemon, (await submit(daemon, 's1', 'fine')).run_id, 'completed')
  t.deepEqual(await codes(), [])
})
