/** What is in order stays so over lives whose wall clocks disagree, and one wrong clock leaves nothing behind. */
import test from 'ava'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { showRecords } from '../../core/state/inspect/show.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { createLeapingClock } from '../../core/testing/leaping-clock.js'
import { lendOutbox } from '../support/outbox.js'
import { openSession, submit, until } from '../support/runs.js'

const hour = 3_600_000
const fifteenYears = 15 * 365 * 24 * hour
const off = (ms: number) => {
  const clock = createLeapingClock()
  clock.jump(ms)
  return clock
}

test('with a clock one hour behind at a restart a new run waits behind those that were queued before', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const asking = await submit(first, 's1', '/tool bash {"command":"true"}')
  await until(first, asking.run_id, 'waiting_for_approval')
  const queued = await submit(first, 's1', 'queued first')
  await first.stop()
  const second = await startTestDaemon(t, { root, clock: off(-hour) })
  const late = await submit(second, 's1', 'came late')
  await second.request('POST', `/v1/runs/${asking.run_id}/cancel`)
  const [before, after] = [
    await until(second, queued.run_id, 'completed'),
    await until(second, late.run_id, 'completed'),
  ]
  const ids = (await second.request('GET', '/v1/runs')).body.map((run: any) => run.run_id)
  t.deepEqual(ids, [asking.run_id, before.run_id, after.run_id])
  const journal = (await second.request('GET', '/v1/sessions/s1/events')).body.session.journal
  const starts = journal.filter((entry: any) => entry.entry.event?.type === 'started').map((entry: any) => entry.run_id)
  t.deepEqual(starts, [asking.run_id, queued.run_id, late.run_id])
})

test('deliveries of a lane go on in their order, whatever the clock of the next life says', async (t) => {
  const root = await freshRoot()
  const target = 'https://holdfast.invalid/x'
  for (const [life, ms] of [0, -hour, fifteenYears, 0].entries()) {
    const { plugin, get } = lendOutbox()
    const daemon = await startTestDaemon(t, { root, plugins: [plugin], clock: off(ms) })
    if (life === 0) await openSession(daemon)
    for (const output of [1, 2, 3])
      await get().state.commit((tx) =>
        get().outbox.enqueue(tx, {
          session_id: 's1',
          agent_id: 'agent_1',
          output: life * 3 + output,
          content: String(life * 3 + output),
          targets: [{ plugin: 'http', address: target }],
        }),
      )
    await daemon.stop()
  }
  const records: any[] = [...(showRecords({ root, disk: createDisk() }, 'deliveries').value?.values() ?? [])]
  const inOrder = records.toSorted((a, b) => (a.place < b.place ? -1 : 1)).map(({ payload }) => payload)
  t.deepEqual(
    inOrder,
    Array.from({ length: 12 }, (_, at) => at + 1),
  )
})

test('a run that was made under a clock far ahead never goes back, and everything else has the right time', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root, clock: off(fifteenYears) })
  await openSession(first)
  const asking = await submit(first, 's1', '/tool bash {"command":"true"}')
  await until(first, asking.run_id, 'waiting_for_approval')
  await first.stop()
  const second = await startTestDaemon(t, { root })
  await second.request('POST', `/v1/runs/${asking.run_id}/cancel`)
  const ended = await until(second, asking.run_id, 'cancelled')
  t.true(ended.updated_at_ms >= ended.submitted_at_ms)
  const entries = (await second.request('GET', `/v1/runs/${asking.run_id}/events`)).body
  const times = entries.map((entry: any) => entry.timestamp_ms)
  t.deepEqual(times.toSorted(), times)
  await openSession(second, 's2')
  const { run_id } = await submit(second, 's2', 'hello')
  const run = await until(second, run_id, 'completed')
  t.true(run.submitted_at_ms < Date.now() + hour && run.updated_at_ms < Date.now() + hour)
})
