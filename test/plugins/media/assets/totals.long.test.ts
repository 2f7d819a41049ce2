/** How much all assets may be; docs/rules/assets.md. */
import test from 'ava'
import { freshRoot, startTestDaemon, type Answer, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit } from '../../../support/runs.js'

const start = (t: any, assets: object, root?: string): Promise<TestDaemon> =>
  startTestDaemon(t, { config: { assets: { ...assets } }, ...(root !== undefined && { root }) })
const body = (text: string, media_type = 'text/plain') => ({
  file_name: 'a.txt',
  media_type,
  content_base64: Buffer.from(text).toString('base64'),
})
const store = ({ request }: TestDaemon, text: string, media_type?: string): Promise<Answer> =>
  request('POST', '/v1/assets', body(text, media_type))
const totalsOf = async ({ request }: TestDaemon): Promise<any> =>
  (await request('GET', '/v1/status')).body.storage.assets

test('assets-10: assets beyond max_count are refused, what is stored is taken still, and a deletion makes room', async (t) => {
  const root = await freshRoot()
  const first = await start(t, { max_count: 2 }, root)
  const { asset_id } = (await store(first, 'one')).body
  t.is((await store(first, 'two')).status, 201)
  const full = await store(first, 'three')
  t.deepEqual(codeOf(full), [507, 'asset_store_full'])
  t.is(full.body.title, 'Insufficient Storage')
  t.is(
    full.body.detail,
    'A file of 5 bytes is not taken: there are 2 assets of 6 bytes, and max_count = 2 is the limit.',
  )
  t.is((await store(first, 'one')).body.asset_id, asset_id)
  t.is((await first.request('POST', '/v1/assets/gc')).body.orphan_file_count, 0)
  await first.stop()
  const daemon = await start(t, { max_count: 2 }, root)
  t.is((await store(daemon, 'three')).status, 507)
  await daemon.request('DELETE', `/v1/assets/${asset_id}`)
  t.is((await store(daemon, 'three')).status, 201)
  t.deepEqual(await totalsOf(daemon), { count: 2, bytes: 8, max_count: 2, max_bytes: 0 })
})

test('assets-10: of files that come at once no more than max_bytes are taken, and a run is refused with its file', async (t) => {
  const daemon = await start(t, { max_bytes: 50 })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => store(daemon, String(at).padStart(10, '.'))))
  t.is(answers.filter(({ status }) => status === 201).length, 5)
  t.is(answers.filter(({ status }) => status === 507).length, 7)
  t.deepEqual(await totalsOf(daemon), { count: 5, bytes: 50, max_count: 0, max_bytes: 50 })
  t.is((await daemon.request('POST', '/v1/assets/gc')).body.orphan_file_count, 0)
  await openSession(daemon)
  const run = { content: 'x', attachments: [body('more')] }
  const answer = await daemon.request('POST', '/v1/sessions/s1/runs', run)
  t.deepEqual(
    [...codeOf(answer), answer.body.errors[0].path],
    [507, 'asset_store_full', 'body.attachments.0.content_base64'],
  )
  t.is((await submit(daemon, 's1', 'no file')).status, 'running')
})

test('assets-11: the status counts assets and the bytes of their files, and warns near a limit', async (t) => {
  const daemon = await start(t, { max_count: 10 })
  const codes = async (): Promise<string[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.map(({ code }: any) => code)
  t.deepEqual(await totalsOf(daemon), { count: 0, bytes: 0, max_count: 10, max_bytes: 0 })
  // A text and the text in it are the same bytes; JSON has its own.
  for (let at = 0; at < 8; at += 1) await store(daemon, `number ${at}`)
  t.is((await totalsOf(daemon)).bytes, 64)
  t.false((await codes()).includes('assets_nearly_full'))
  const other = (await store(daemon, 'number 0', 'text/markdown')).body
  t.deepEqual(await totalsOf(daemon), { count: 9, bytes: 72, max_count: 10, max_bytes: 0 })
  t.true((await codes()).includes('assets_nearly_full'))
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text()
  t.regex(metrics, /^service_assets 9$/mu)
  t.regex(metrics, /^service_asset_bytes 72$/mu)
  await daemon.request('DELETE', `/v1/assets/${other.asset_id}`)
  t.is((await daemon.request('POST', '/v1/assets/gc', { dry_run: false })).body.deleted_count, 8)
  t.deepEqual(await totalsOf(daemon), { count: 0, bytes: 0, max_count: 10, max_bytes: 0 })
})
