/** Old deliveries under retention, with whole daemons whose clock leaps. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/base/schema.js'
import type { ReplyPlugin } from '../../../../plugins/execution/deliveries/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../support/leaping-clock.js'
import { lendOutbox } from '../../../support/outbox.js'
import { openSession } from '../../../support/runs.js'

const day = 86_400_000

const fake: ReplyPlugin = {
  plugin: 'fake',
  address: () => undefined,
  refuse: () => undefined,
  target: (address) => address,
  deliver: ({ address }) =>
    Promise.resolve(
      address === 'arrives'
        ? { type: 'delivered' }
        : address === 'dead'
          ? { type: 'terminal', code: 'gone' }
          : { type: 'retry', code: 'busy' },
    ),
}

/** A daemon with one delivery of each sort, and what became of them by their targets. */
const stand = async (t: ExecutionContext, deliveries: JsonObject) => {
  const clock = createLeapingClock()
  const { plugin, enqueue } = lendOutbox(fake)
  const retention = { kinds: { deliveries: { max_age: '8d' } } }
  const config = { retention, deliveries: { max_attempts: 10_000, ...deliveries } }
  const { request } = await startTestDaemon(t, { clock, plugins: [plugin], config })
  await openSession({ request })
  const send = (address: string) => enqueue([], { targets: [{ plugin: 'fake', address }] })
  const until = async (holds: (rows: any[]) => boolean): Promise<any[]> => {
    for (let tries = 0; tries < 2000; tries += 1) {
      const { body } = await request('GET', '/v1/deliveries?limit=100')
      const rows = body.items ?? body
      if (holds(rows)) return rows
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error('it did not come to that')
  }
  const retain = async () => (await request('POST', '/v1/retention', { dry_run: false })).body.parts
  for (const address of ['arrives', 'dead', 'busy']) await send(address)
  await until(
    (rows) =>
      rows
        .map(({ status }) => status)
        .toSorted()
        .join() === 'dead_lettered,delivered,retrying',
  )
  await request('POST', '/v1/retention', { dry_run: true })
  return { clock, send, until, retain }
}
const statuses = (rows: readonly any[]): string[] => rows.map(({ status }) => status).toSorted()

test('retention-4: a delivery that has not arrived and an unresolved dead letter never fall, however old they are', async (t) => {
  const { clock, send, until, retain } = await stand(t, {})
  clock.leap(40 * day)
  await send('arrives')
  await until((rows) => rows.filter(({ status }) => status === 'delivered').length === 2)
  t.like(await retain(), [{ kind: 'deliveries', records: 1 }])
  const rows = await until(() => true)
  t.deepEqual(statuses(rows), ['dead_lettered', 'delivered', 'retrying'])
})

test('deliveries-31: a dead letter that nobody has seen to in its time is resolved as expired, and then it falls', async (t) => {
  const { clock, send, until, retain } = await stand(t, { dead_letter_max_age_ms: 3 * day })
  clock.leap(20 * day)
  const [dead] = (await until((rows) => rows.some((row) => row.dead_letter_resolution_reason === 'expired'))).filter(
    ({ status }) => status === 'dead_lettered',
  )
  t.true(dead.dead_letter_resolved_at_ms > dead.dead_lettered_at_ms + 3 * day)
  await retain()
  clock.leap(20 * day)
  await send('arrives')
  await until((rows) => rows.filter(({ status }) => status === 'delivered').length === 1)
  await retain()
  t.deepEqual(statuses(await until(() => true)), ['delivered', 'retrying'])
})
