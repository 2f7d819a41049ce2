/** Old deliveries under retention, with whole daemons whose clock leaps. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/base/schema.js'
import type { ReplyPlugin } from '../../../../plugins/execution/deliveries/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lendOutbox } from '../../../support/outbox.js'
import { openSession, until } from '../../../support/runs.js'

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
  return { request, clock, send, until, retain }
}
test('retention-4: a run of which a delivery has not arrived stays until somebody sees to that', async (t) => {
  const clock = createLeapingClock()
  let code: string | undefined = 'gone'
  const deliver = () =>
    Promise.resolve(code === undefined ? { type: 'delivered' as const } : { type: 'terminal' as const, code })
  const { plugin } = lendOutbox({ ...fake, deliver })
  const config = { retention: { kinds: { runs: { max_age: '8d' } } }, deliveries: { max_attempts: 10_000 } }
  const daemon = await startTestDaemon(t, { clock, plugins: [plugin], config })
  const { request } = daemon
  await openSession(daemon)
  const send = async (address: string): Promise<string> => {
    const reply_targets = [{ plugin: 'fake', address }]
    const { run_id } = (await request('POST', '/v1/sessions/s1/runs', { content: 'hello', reply_targets })).body
    await until(daemon, run_id, 'completed')
    return run_id
  }
  const retain = async (): Promise<any> => {
    clock.leap(20 * day)
    return (await request('POST', '/v1/retention', { dry_run: false })).body
  }
  const run_id = await send('dead')
  const findOne = async (status: string): Promise<string> => {
    for (let tries = 0; tries < 2000; tries += 1) {
      const [found] = (await request('GET', `/v1/deliveries?status=${status}`)).body
      if (found !== undefined) return found.delivery_id
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error(`none is ${status}`)
  }
  const delivery_id = await findOne('dead_lettered')
  await request('POST', '/v1/retention', { dry_run: true })
  const { parts, stays } = await retain()
  t.deepEqual(parts, [])
  const held = `^runs: 1 record .* stay: In deliveries, ${delivery_id} is not over, and belongs to what .*`
  t.regex(
    stays[0],
    new RegExp(`${held}: holdfast deliveries replay ${delivery_id}, or .* resolve ${delivery_id}$`, 'u'),
  )
  t.is((await request('GET', `/v1/runs/${run_id}/external-actions`)).status, 200)
  code = undefined
  await request('POST', `/v1/deliveries/${delivery_id}/replay`, {})
  await findOne('delivered')
  t.like((await retain()).parts, [{ kind: 'runs', records: 1 }])
})

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

test('deliveries-5: a delivery that is not there may have fallen, once one did', async (t) => {
  const { request, clock, send, until, retain } = await stand(t, {})
  const rows = await until(() => true)
  const idOf = (status: string): string => rows.find((row) => row.status === status).delivery_id
  const asked = [idOf('delivered'), `${idOf('delivered')}/replay`, `${idOf('delivered')}/resolve`]
  const told = async (path: string): Promise<string> => {
    const { status, body } = await request(path.includes('/') ? 'POST' : 'GET', `/v1/deliveries/${path}`)
    t.deepEqual([status, body.code], [404, 'delivery_not_found'])
    return body.detail
  }
  t.notRegex(await told('none'), /fell/u)
  clock.leap(40 * day)
  await send('arrives')
  await until((all) => all.filter(({ status }) => status === 'delivered').length === 2)
  await retain()
  for (const path of asked)
    t.regex(await told(path), /^There is no .* here, or it fell: .*holdfast state show --archive FILE\)\.$/u)
  t.notRegex(await told(`${idOf('retrying')}/replay`), /fell/u, 'one that is there has not')
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
