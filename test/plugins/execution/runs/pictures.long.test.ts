/** Pictures that runs are given, as servers of each protocol are sent them; docs/rules/runs.md. */
import test, { type ExecutionContext } from 'ava'
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { startOpenAiServer } from '../../../support/openai-server.js'
import { openSession, until } from '../../../support/runs.js'
import { vendors, type Vendor } from '../../../support/vendors.js'

const picture = async (): Promise<object> => ({
  file_name: 'rose.png',
  media_type: 'image/png',
  content_base64: (
    await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
  ).toString('base64'),
})

const start = async (t: ExecutionContext, vendor: Vendor) => {
  const server = await startOpenAiServer(() => vendor.saying('A red field.'))
  t.teardown(() => server.close())
  const daemon = await startTestDaemon(t, {
    config: { models: { provider: vendor.provider, base_url: server.url, model: 'm', api_key: 'k' } },
  })
  await openSession(daemon)
  return { server, daemon }
}

const ended = async (daemon: TestDaemon, body: object): Promise<any> =>
  until(daemon, (await daemon.request('POST', '/v1/sessions/s1/runs', body)).body.run_id, 'completed')

const stored = async (daemon: TestDaemon, { input_attachments: [file] }: any): Promise<string> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${file.id}/raw`)).arrayBuffer()).toString('base64')

/** What each protocol calls a picture. */
const forms: Readonly<Record<string, (base64: string) => object>> = {
  openai_compatible: (base64) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }),
  anthropic: (base64) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }),
  openai: (base64) => ({ type: 'input_image', image_url: `data:image/png;base64,${base64}` }),
  google: (base64) => ({ inlineData: { mimeType: 'image/png', data: base64 } }),
}

for (const vendor of vendors)
  test(`runs-50: a picture is sent to the model as it is stored, also in later turns: ${vendor.provider}`, async (t) => {
    const { server, daemon } = await start(t, vendor)
    const run = await ended(daemon, { content: 'What is this?', attachments: [await picture()] })
    t.is(run.outputs[0].content, 'A red field.')
    // What stands behind the last part of a message, such as a mark for the cache, does not count.
    const form = JSON.stringify(forms[vendor.provider]?.(await stored(daemon, run))).slice(0, -1)
    const sent = JSON.stringify(server.asked[0]?.body)
    t.true(sent.includes(form), sent)
    t.true(sent.indexOf('What is this?') < sent.indexOf(form))
    t.true(sent.includes(`[file rose.png, image/png, asset ${run.input_attachments[0].id}]`))
    await ended(daemon, { content: 'And now?' })
    t.true(JSON.stringify(server.asked[1]?.body).includes(form))
  })

test('runs-50: the newest pictures that have 16 MiB together are sent, of the others it is told that they are not', async (t) => {
  const [vendor] = vendors
  const { server, daemon } = await start(t, vendor as Vendor)
  const large = async (name: string): Promise<object> => {
    const raw = { width: 1150, height: 1150, channels: 3 } as const
    const bytes = await sharp(randomBytes(1150 * 1150 * 3), { raw })
      .png()
      .toBuffer()
    return { file_name: name, media_type: 'image/png', content_base64: bytes.toString('base64') }
  }
  const first = await ended(daemon, { content: 'one', attachments: [await large('0.png'), await large('1.png')] })
  const rest = await Promise.all(['2.png', '3.png', '4.png'].map(large))
  await ended(daemon, { content: 'two', attachments: rest })
  const sent = JSON.stringify(server.asked[1]?.body)
  t.true(sent.length < 24 * 1024 * 1024)
  t.is(sent.split('data:image/png').length - 1, 4)
  const [gone, stays] = first.input_attachments.map(({ id }: any) => sent.indexOf(`asset ${id}]`))
  t.regex(sent.slice(gone, gone + 200), /It is not shown: newer pictures are/u)
  t.notRegex(sent.slice(stays, stays + 200), /not shown/u)
  const { id } = first.input_attachments[0]
  const again = { input_items: [{ type: 'asset_reference', asset_id: id }] }
  for (let time = 0; time < 3; time += 1) await ended(daemon, again)
  const later = JSON.stringify(server.asked.at(-1)?.body)
  t.is(later.split('data:image/png').length - 1, 4)
  t.regex(later, /It is shown further down/u)
})

test('runs-50: a model that takes no pictures is told so', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const run = await ended(daemon, { content: 'What is this?', attachments: [await picture()] })
  t.true(run.outputs[0].content.includes('This model is shown no pictures.'), run.outputs[0].content)
})
