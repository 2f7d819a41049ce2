/** What of debug evidence is left when it goes. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { noInterrupts } from '../../../../core/base/interrupts.js'
import { noProgress } from '../../../../core/base/text/progress.js'
import { readConfig } from '../../../../core/retention/policy.js'
import { retainStopped } from '../../../../core/retention/retain-stopped.js'
import { shipped } from '../../../../core/shipped.js'
import { RunObservers } from '../../../../plugins/execution/engine/contract.js'
import { verifyShipped } from '../../../support/copied-root.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { day, retain, statusOf, weekOfRuns } from '../../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext, ahead = 0) => {
  const [root, clock, lent] = [await freshRoot(), createLeapingClock(), lender({})]
  clock.jump(ahead)
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

/** Waits until bytes of so many artifacts are there. */
const left = async ({ blobs }: { blobs: () => number }, count: number): Promise<void> => {
  for (let tries = 0; tries < 500 && blobs() > count; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
  if (blobs() !== count) throw new Error(`${blobs()} of ${count} are there`)
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
  const fallen = await retain(daemon, false)
  t.like(fallen.parts, [{ kind: 'runs', records: 1, behind_bytes: first }])
  t.regex(fallen.parts[0].words, / B more go behind them by themselves$/u)
  await left(daemon, 1)
  t.is((await statusOf(daemon)).retention.fallen[0].behind_bytes, first)
  t.deepEqual([...(await daemon.beside()).parts.values()], [second])
  t.deepEqual(codeOf(await daemon.debugOf(old)), [404, 'run_expired'])
  t.is((await daemon.debugOf(kept)).body.artifacts.length, 1)
  await daemon.stop()
  t.deepEqual((await verifyShipped(daemon.root)).findings, [])
})

test('debug-17: evidence of a run that can still change is no room that a fall makes', async (t) => {
  const daemon = await start(t)
  const waiting = await daemon.run('/ask Well? | A | B', 'waiting_for_user_question')
  await retain(daemon, true)
  t.true(daemon.blobs() > 0)
  t.deepEqual(await daemon.beside(), { gone: 0, parts: new Map() })
  await daemon.request('POST', `/v1/runs/${waiting}/cancel`)
  await until(daemon, waiting, 'cancelled', 'interrupted')
  await retain(daemon, true)
  t.is((await daemon.beside()).parts.size, 1)
})

test('debug-17: where no daemon holds the root, evidence of what fell goes at the next start, and that is told', async (t) => {
  const daemon = await start(t, -20 * day)
  await daemon.run('one')
  await daemon.run('two')
  await daemon.stop()
  const { root } = daemon
  const retained = async (dry_run: boolean) =>
    retainStopped({
      root,
      config: readConfig({ table: { min_age: '1h', kinds: { runs: { max_age: '1h' } } } }, root),
      declared: await shipped.declarations(),
      complete: true,
      dry_run,
      progress: noProgress,
      interrupts: noInterrupts,
    })
  t.deepEqual((await retained(true)).stays, [])
  const { parts, stays } = await retained(false)
  t.like(parts, [{ kind: 'runs', records: 2 }])
  t.regex(
    stays[0] ?? '',
    /^\d+ B that go behind what fell are still there: they go when a daemon starts on this root\.$/u,
  )
  t.like(await retained(false), { parts: [], stays })
  t.is(daemon.blobs(), 2)
  const next = await startTestDaemon(t, { root, config: { debug: { ttl_ms: 365 * day } } })
  await left(daemon, 0)
  t.deepEqual((await retain(next, true)).stays, [])
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
