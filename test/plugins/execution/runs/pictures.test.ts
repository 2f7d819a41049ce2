/** Pictures that runs are given, as servers of each protocol are sent them; docs/rules/runs.md. */
import test, { type ExecutionContext } from 'ava'
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

test('runs-50: a model that takes no pictures is told so', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const run = await ended(daemon, { content: 'What is this?', attachments: [await picture()] })
  t.true(run.outputs[0].content.includes('This model is shown no pictures.'), run.outputs[0].content)
})
