/** Deliveries of outputs with files; docs/rules/deliveries.md. */
import test from 'ava'
import { startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { deliveriesNaming, sendFiles, storeNotes } from '../../../support/sent-files.js'
import { startReceiver, type Receiver } from '../../../support/receiver.js'
import { day, retain, stand } from '../../../support/retention.js'
import { codeOf, openSession, until } from '../../../support/runs.js'

const firstOf = async ({ request }: Pick<Reachable, 'request'>, status: string): Promise<any> =>
  (await request('GET', `/v1/deliveries?status=${status}`)).body[0]
const isReceived = (receiver: Receiver, path: string, count = 1) =>
  receiver.until(() => receiver.at(path).length >= count, `${count} at ${path}`)

test('deliveries-37: over HTTP an output has its parts and artifacts as they are, and again with where their bytes are', async (t) => {
  const receiver = await startReceiver(t)
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const [a, b] = [await storeNotes(daemon, '# A'), await storeNotes(daemon, '# B')]
  const input = { content: 'See', parts: [{ type: 'asset', asset_id: a }], artifact_ids: [b] }
  const run_id = await sendFiles(daemon, { input, address: receiver.address('/in') })
  const [output] = (await until(daemon, run_id, 'completed')).outputs
  await isReceived(receiver, '/in')
  const body: any = receiver.at('/in')[0]?.body
  t.deepEqual([body.content, body.parts, body.artifacts], [output.content, output.parts, output.artifacts])
  t.is(body.content, 'See\n[file notes.md, text/markdown]')
  const described = (id: string) => {
    const { media_type, file_name, sha256, byte_length } = [...output.artifacts, output.parts[1].attachment].find(
      (file) => file.id === id,
    )
    return { id, media_type, file_name, sha256, byte_length, download_path: `/v1/assets/${id}/raw` }
  }
  t.deepEqual(body.resolved_parts, [
    { type: 'text', text: 'See' },
    { type: 'attachment', attachment: described(a) },
  ])
  t.deepEqual(body.artifact_attachments, [described(b)])
  t.is((await fetch(daemon.url + body.artifact_attachments[0].download_path)).status, 200)
  await receiver.until(async () => (await firstOf(daemon, 'delivered')) !== undefined, 'a delivery')
  t.like(await firstOf(daemon, 'delivered'), { parts_count: 2, artifacts_count: 1 })
})

test('deliveries-36: a delivery names its files whether it is on its way or has arrived', async (t) => {
  const receiver = await startReceiver(t)
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const a = await storeNotes(daemon, '# A')
  receiver.on('/in', () => {})
  const input = { artifact_ids: [a] }
  await sendFiles(daemon, { input, address: receiver.address('/in') })
  await isReceived(receiver, '/in')
  const of = (delivery: any) =>
    ['delivery_part', 'delivery_artifact'].map((role) => ({
      domain: 'deliveries',
      owner_id: delivery.delivery_id,
      role,
      hard: true,
      parent_id: 's1',
      detail_id: delivery.status,
    }))
  const pending = await firstOf(daemon, 'pending')
  t.deepEqual(await deliveriesNaming(daemon, a), of(pending))
  t.deepEqual(codeOf(await daemon.request('DELETE', `/v1/assets/${a}`)), [409, 'asset_delete_blocked'])
  const other = await storeNotes(daemon, '# B')
  await sendFiles(daemon, { input: { artifact_ids: [other] }, address: receiver.address('/other') })
  await receiver.until(async () => (await firstOf(daemon, 'delivered')) !== undefined, 'an arrival')
  t.deepEqual(await deliveriesNaming(daemon, other), of(await firstOf(daemon, 'delivered')))
})

test('deliveries-36: a dead letter and its replay both name the files, and fall with them', async (t) => {
  const receiver = await startReceiver(t)
  const daemon = await stand(t, { kinds: { runs: { max_age: '8d' }, deliveries: { max_age: '8d' } } })
  await openSession(daemon)
  const a = await storeNotes(daemon, '# A')
  let status = 410
  receiver.on('/in', (_received, response) => void ((response.statusCode = status), response.end()))
  await sendFiles(daemon, { input: { artifact_ids: [a] }, address: receiver.address('/in') })
  await receiver.until(async () => (await firstOf(daemon, 'dead_lettered')) !== undefined, 'a dead letter')
  const dead = await firstOf(daemon, 'dead_lettered')
  t.deepEqual([...new Set((await deliveriesNaming(daemon, a)).map(({ detail_id }) => detail_id))], ['dead_lettered'])
  status = 200
  await daemon.request('POST', `/v1/deliveries/${dead.delivery_id}/replay`)
  await receiver.until(async () => (await firstOf(daemon, 'delivered')) !== undefined, 'an arrival')
  t.deepEqual(receiver.at('/in').at(-1)?.body.artifacts, receiver.at('/in')[0]?.body.artifacts)
  const named = (await deliveriesNaming(daemon, a)).map(({ owner_id }) => owner_id)
  t.is(new Set(named).size, 2)
  // The output at the end of the run is a dead letter too: as long as nobody has seen to it, the run does not fall.
  const left = (await daemon.request('GET', '/v1/deliveries?status=dead_lettered')).body
  for (const { delivery_id } of left)
    await daemon.request('POST', `/v1/deliveries/${delivery_id}/resolve`, { reason: 'seen' })
  await retain(daemon, true)
  daemon.clock.leap(20 * day)
  await retain(daemon, false)
  await retain(daemon, false)
  t.deepEqual((await daemon.request('GET', `/v1/assets/${a}/references`)).body.references, [])
  t.is((await daemon.request('DELETE', `/v1/assets/${a}`)).status, 200)
})
