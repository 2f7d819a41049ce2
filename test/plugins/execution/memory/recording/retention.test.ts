import test from 'ava'
import { createClock, type Clock } from '../../../../../core/base/clock.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const day = 86_400_000
const later = (ms: number): Clock => {
  const clock = createClock()
  return { ...clock, now: () => clock.now() + ms }
}
const runToEnd = async (daemon: TestDaemon, content: string, session_id = 's1'): Promise<string> =>
  (await until(daemon, (await submit(daemon, session_id, content)).run_id, 'completed')).run_id
const found = async ({ request }: TestDaemon, session_id = 's1'): Promise<string[]> =>
  (await request('GET', `/v1/sessions/${session_id}/memory-search?limit=50`)).body.results.map(
    ({ source_id }: any) => source_id,
  )
/** Waits until so many runs are remembered. */
const tracked = async ({ request }: TestDaemon, count: number): Promise<void> => {
  for (;;) {
    const { tracked_count } = (await request('GET', '/v1/status')).body.run_memory
    if (tracked_count === count) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

test.serial(
  'memory-16: what is older than the retention is not shown, is removed at the next start without a ' +
    'tombstone, and does not come back',
  async (t) => {
    const root = await freshRoot()
    const first = await startTestDaemon(t, { root })
    await openSession(first)
    await openSession(first, 'other')
    await runToEnd(first, '/say one')
    t.is((await found(first)).length, 1)
    await first.stop()
    const second = await startTestDaemon(t, { root, clock: later(20 * day) })
    const kept = await runToEnd(second, '/say two')
    t.is((await found(second)).length, 2)
    await second.stop()
    for (const clock of [later(31 * day), later(31 * day)]) {
      const third = await startTestDaemon(t, { root, clock })
      t.deepEqual(await found(third), [kept])
      await tracked(third, 1)
      await third.stop()
    }
  },
)

test.serial('a smaller number of tracked runs holds for what was remembered before', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  await openSession(first)
  const ids: string[] = []
  for (const word of ['one', 'two', 'three']) ids.push(await runToEnd(first, `/say ${word}`))
  t.is((await found(first)).length, 3)
  await first.stop()
  const second = await startTestDaemon(t, { root, config: { memory: { max_tracked_per_session: 2 } } })
  t.deepEqual(await found(second), ids.slice(1).toReversed())
  await tracked(second, 2)
  await second.stop()
})
