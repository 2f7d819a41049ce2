/** What of debug evidence is left when it goes. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { RunObservers } from '../../../../plugins/execution/engine/contract.js'
import { verifyShipped } from '../../../support/copied-root.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { day, retain, weekOfRuns } from '../../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext) => {
  const [root, clock, lent] = [await freshRoot(), createLeapingClock(), lender({})]
  const config = { retention: weekOfRuns, debug: { debug_level: 'on', ttl_ms: 365 * day } }
  const daemon = await startTestDaemon(t, { root, clock, config, plugins: [lent.plugin] })
  await openSession(daemon)
  const run = async (content: string, status = 'completed'): Promise<string> => {
    const { run_id } = await submit(daemon, 's1', content)
    await until(daemon, run_id, status)
    return run_id
  }
  const debugOf = (run_id: string) => daemon.request('GET', `/v1/runs/${run_id}/debug`)
  const blobs = (): number =>
    readdirSync(join(root, 'blobs/debug'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
      .length
  const capture = () =>
    lent
      .context()
      .view(RunObservers)()
      .find(({ name }) => name === 'debug')
  const beside = () => lent.context().state.retention.beside('runs')
  return { ...daemon, root, clock, run, debugOf, blobs, capture, beside }
}

test('debug-17: evidence goes with its run when that falls; that of a run that is kept stays', async (t) => {
  const daemon = await start(t)
  const old = await daemon.run('one')
  t.is((await daemon.debugOf(old)).body.artifacts.length, 1)
  await retain(daemon, true)
  daemon.clock.leap(20 * day)
  const kept = await daemon.run('two')
  t.is((await daemon.debugOf(kept)).body.artifacts.length, 1)
  t.is(daemon.blobs(), 2)
  await retain(daemon, true)
  const { gone, parts } = await daemon.beside()
  t.is(gone, 0)
  const [first = 0, second = 0] = [...parts.values()]
  t.true(parts.size === 2 && first > 0 && second > 0, 'each of its partition')
  t.like((await retain(daemon, false)).parts, [{ kind: 'runs', records: 1 }])
  const left = await daemon.beside()
  t.deepEqual([left.gone, [...left.parts.values()]], [first, [second]], 'it is on its way out')
  daemon.clock.leap(3_600_000)
  for (let tries = 0; tries < 500 && daemon.blobs() > 1; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  t.is(daemon.blobs(), 1)
  t.deepEqual(codeOf(await daemon.debugOf(old)), [404, 'run_expired'])
  t.is((await daemon.debugOf(kept)).body.artifacts.length, 1)
  await daemon.stop()
  t.deepEqual((await verifyShipped(daemon.root)).findings, [])
})

test('debug-17: what was pruned leaves no tombstone, and a piece that comes late is not kept', async (t) => {
  const daemon = await start(t)
  const run_id = await daemon.run('one')
  t.is((await daemon.debugOf(run_id)).status, 200)
  daemon.clock.leap(day)
  const { body } = await daemon.request('POST', '/v1/runs/prune', { older_than_ms: 1000 })
  t.deepEqual(body.pruned_debug_run_ids, [run_id])
  daemon
    .capture()
    ?.observe(
      unsafeCast({ kind: 'model', name: 'demo', run_id, session_id: 's1', request: 'asked', answer: 'answered' }),
    )
  t.deepEqual(codeOf(await daemon.debugOf(run_id)), [404, 'run_debug_not_found'])
  t.is(daemon.blobs(), 0)
  await retain(daemon, true)
  await daemon.stop()
  t.false(existsSync(join(daemon.root, 'tombstones/debug_runs.ndjson')))
  t.deepEqual((await verifyShipped(daemon.root)).findings, [])
})
