/** Events with files through crashes at any moment; docs/rules/ingress.md. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import { kindsPlugin, shippedWithoutKinds } from '../../../support/connector-kinds.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import { connectorOf, createCaught, eventOf, filesOf } from './sending.js'

const [lives, eventsOfLife, mostTurns] = [40, 4, 120]

test.serial('ingress-12: an event with files has one run, wherever a crash comes', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const [faulty, shipped, caught] = [createFaultyDisk(), await shippedWithoutKinds(), createCaught()]
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const files = filesOf(async (_, { id }) => {
    await turn()
    return {
      type: 'file',
      file: { file_name: `${String(id)}.txt`, media_type: 'text/plain', bytes: Buffer.from(String(id)) },
    }
  })
  const plugins = [kindsPlugin(), files, caught.plugin]
  const begin = () => startTestDaemon(t, { root, disk: faulty.disk, shipped, plugins })
  let daemon = await begin()
  await daemon.request('PUT', '/v1/runtime/connectors/external/shop', { platform: 'test' })
  const shop = connectorOf({ ingress_events_per_second: 100_000 })
  const acknowledged = new Set<string>()
  // Behind the cut nothing that the dying life says leaves it.
  let isCut = false
  const send = async (key: string): Promise<void> => {
    const event = eventOf(`text of ${key}`, { key, files: [{ id: key }, { id: `${key} too` }] })
    const { type } = await caught.ingress.receive(shop, event)
    if (!isCut) acknowledged.add(key)
    if (type === 'accepted') throw new TypeError('a run began without its files')
  }
  for (let life = 0; life < lives; life += 1) {
    const sent = Array.from({ length: eventsOfLife }, (_, at) => send(`e${life} ${at}`).catch(() => undefined))
    // What the life before was asked comes again.
    if (life > 0) sent.push(send(`e${life - 1} 0`).catch(() => undefined))
    for (let at = 0; at < (life * 37) % mostTurns; at += 1) await turn()
    faulty.cut()
    isCut = true
    await daemon.stop()
    await Promise.all(sent)
    faulty.heal()
    isCut = false
    daemon = await begin()
  }
  const waiting = async (): Promise<number> =>
    Number(/service_connector_events_waiting (\d+)/u.exec((await daemon.request('GET', '/metrics')).text)?.[1])
  for (const pause = createPause(); (await waiting()) !== 0;) await pause()
  const { body } = await daemon.request('GET', '/v1/runs')
  const texts = body.map(({ request }: any) => String(request.text_preview).split('\n')[0])
  t.is(new Set(texts).size, texts.length, 'no event has two runs')
  for (const key of acknowledged) t.true(texts.includes(`text of ${key}`), key)
  t.true(acknowledged.size > lives, `${acknowledged.size} acknowledged`)
  for (const run of body) t.is(run.input_attachments.length, 2, run.request.text_preview)
  for (const key of acknowledged) {
    const files = [{ id: key }, { id: `${key} too` }]
    t.is((await caught.ingress.receive(shop, eventOf(`text of ${key}`, { key, files }))).type, 'duplicate')
  }
})
