/** Assets as clients see them; docs/rules/assets.md. */
import test from 'ava'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { definePlugin } from '../../../../core/plugin.js'
import { createWrappedDisk, diskError } from '../../../../core/testing/wrapped-disk.js'
import {
  AssetReferences,
  Assets,
  type AssetNaming,
  type AssetReference,
} from '../../../../plugins/media/assets/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { lender, testPlugin } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64')
const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

const post = (daemon: TestDaemon, content: string | Uint8Array, more: object = {}) =>
  daemon.request('POST', '/v1/assets', {
    file_name: 'a.txt',
    media_type: 'text/plain',
    content_base64: base64(content),
    ...more,
  })
const store = async (daemon: TestDaemon, content: string | Uint8Array, more: object = {}): Promise<any> =>
  (await post(daemon, content, more)).body
const list = async (daemon: TestDaemon, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/assets${query}`)).body

/** The files of the area. */
const blobs = (root: string): string[] => {
  const folder = path.join(root, 'blobs/assets')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map(({ name }) => name)
}
const blobFile = (root: string, digest: string): string => path.join(root, 'blobs/assets', digest.slice(0, 2), digest)

/** Bytes that no record names. */
const leave = (root: string, content: string): void => {
  const file = blobFile(root, sha256(content))
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, content, { mode: 0o600 })
}

/** What names an asset as the test says: the last first. */
const namingOf = (of: (asset_id: string) => readonly Omit<AssetReference, 'domain'>[]): AssetNaming => {
  const keyed = (asset_id: string, hard: boolean) =>
    of(asset_id)
      .flatMap(({ owner_id, role, hard: own, parent_id, detail_id }, at) =>
        own === hard ? [{ key: String(at).padStart(6, '0'), reference: { owner_id, role, parent_id, detail_id } }] : [],
      )
      .reverse()
  return {
    count: (asset_id, hard) => keyed(asset_id, hard).length,
    list: ({ asset_id, hard, limit, beyond = '~' }) =>
      keyed(asset_id, hard)
        .filter(({ key }) => key < beyond)
        .slice(0, limit),
  }
}

/** A plugin that names assets as the test says. */
const holder = () => {
  const held: (Omit<AssetReference, 'domain'> & { readonly asset_id: string })[] = []
  /** How many references were asked for. */
  const asked: number[] = []
  const naming = namingOf((asset_id) => held.filter((one) => one.asset_id === asset_id))
  const plugin = definePlugin({
    id: 'holder',
    version: '1.0.0',
    api: 1,
    summary: 'Names assets.',
    register: (ctx) => {
      ctx.contribute(AssetReferences, {
        domain: 'notes',
        namings: [
          {
            ...naming,
            list(query) {
              asked.push(query.limit)
              return naming.list(query)
            },
          },
        ],
      })
    },
  })
  return { held, asked, plugin }
}

test('assets-1: a file gets an id, and what is shown of it is of the bytes that are stored', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await post(daemon, 'Grüße', { file_name: 'Grüße.md', media_type: 'Text/X-Markdown; charset=utf-8' })
  t.is(made.status, 201)
  const { asset_id, created_at_ms } = made.body
  t.deepEqual(made.body, {
    asset_id,
    media_type: 'text/markdown',
    file_name: 'Grüße.md',
    sha256: sha256('Grüße'),
    byte_length: 7,
    created_at_ms,
    uri: `asset://raw/${asset_id}`,
    text_uri: `asset://text/${asset_id}`,
    text_sha256: sha256('Grüße'),
    text_byte_length: 7,
    derivation_ids: [],
  })
  t.deepEqual((await daemon.request('GET', `/v1/assets/${asset_id}`)).body, made.body)
  const other = await store(daemon, '{"a":1}', { media_type: 'application/json', file_name: 'b.json' })
  const summary = ({ asset_id: id, media_type, file_name, sha256: digest, byte_length, created_at_ms: at }: any) => ({
    asset_id: id,
    media_type,
    file_name,
    sha256: digest,
    byte_length,
    created_at_ms: at,
  })
  t.deepEqual(await list(daemon), [summary(made.body), summary(other)])
  for (const [query, ids] of [
    ['B.JS', [other.asset_id]],
    ['markdown', [asset_id]],
    [sha256('Grüße').slice(3, 40), [asset_id]],
    [other.asset_id.toUpperCase(), [other.asset_id]],
    ['nothing', []],
  ] as const)
    t.deepEqual(
      (await list(daemon, `?query=${encodeURIComponent(query)}`)).map((one) => one.asset_id),
      ids,
      query,
    )
  const page = (await daemon.request('GET', '/v1/assets?page=true&limit=1')).body
  t.like(page.pagination, { limit: 1, total_count: 2, has_more: true, order: 'asset_id_asc' })
})

test('assets-2: the same content under the same media type is one asset, however many come at once', async (t) => {
  const daemon = await startTestDaemon(t)
  const content = randomBytes(40_000).toString('hex')
  const made = await Promise.all(
    Array.from({ length: 200 }, (_, at) => store(daemon, content, { file_name: `${at}.txt` })),
  )
  t.is(new Set(made.map(({ asset_id }) => asset_id)).size, 1)
  t.is(new Set(made.map(({ file_name }) => file_name)).size, 1)
  t.is((await list(daemon)).length, 1)
  const again = await store(daemon, content, { file_name: 'again.txt', media_type: 'TEXT/plain' })
  t.deepEqual(again, made[0])
  const other = await store(daemon, content, { media_type: 'text/csv' })
  t.not(other.asset_id, again.asset_id)
  t.deepEqual(blobs(daemon.root), [again.sha256], 'bytes that are equal are on disk once')
})

test('assets-3: what is empty, too large, of no known type or not what it says is refused, and nothing is stored', async (t) => {
  const daemon = await startTestDaemon(t)
  const largest = 12 * 1024 * 1024
  for (const [content, more] of [
    ['', {}],
    [Buffer.alloc(largest + 1, 'a'), {}],
    [Buffer.from([0x61, 0xff]), {}],
    ['a\0b', {}],
    ['{"a":', { media_type: 'application/json' }],
    ['a', { file_name: '../a.txt' }],
    ['a', { file_name: 'a\nb' }],
    ['a', { file_name: ' ' }],
    ['', { content_base64: 'YWI' }],
    ['', { content_base64: 'YW=j' }],
    ['', { content_base64: 'YW\nI=' }],
    ['', { content_base64: 'YW-_' }],
  ] as const)
    t.deepEqual(codeOf(await post(daemon, content, more)), [400, 'asset_invalid'], JSON.stringify(more))
  for (const media_type of ['image/svg+xml', 'constructor', '*/*', ' '])
    t.deepEqual(codeOf(await post(daemon, 'a', { media_type })), [400, 'asset_type_unsupported'], media_type)
  t.deepEqual(await list(daemon), [])
  t.deepEqual(blobs(daemon.root), [])
  t.is((await post(daemon, Buffer.alloc(largest, 'a'))).status, 201)
  t.is((await post(daemon, Buffer.alloc(20 * 1024 * 1024, 'a'))).status, 413)
})

test('assets-4: a file may be the body itself', async (t) => {
  const daemon = await startTestDaemon(t)
  const send = (query: string, body: Uint8Array): Promise<Response> =>
    fetch(`${daemon.url}/v1/assets/raw?${query}`, { method: 'POST', body })
  const content = randomBytes(3_000_000).toString('base64')
  const made = await send('file_name=a.txt&media_type=text/plain', Buffer.from(content))
  t.is(made.status, 201)
  const asset: any = await made.json()
  t.is(asset.sha256, sha256(content))
  t.deepEqual(await store(daemon, content), asset)
  t.is((await send('file_name=a.txt', Buffer.from('a'))).status, 400)
  const packed = { method: 'POST', body: Buffer.from('a'), headers: { 'content-encoding': 'gzip' } }
  t.is((await fetch(`${daemon.url}/v1/assets/raw?file_name=a.txt&media_type=text/plain`, packed)).status, 415)
  t.is((await send('file_name=a.txt&media_type=text/plain', Buffer.from(''))).status, 400)
  t.is((await send('file_name=a.txt&media_type=text/plain', Buffer.alloc(12 * 1024 * 1024 + 1))).status, 413)
})

test('assets-5: bytes come back exactly, whole and in parts; bytes that changed never do', async (t) => {
  const daemon = await startTestDaemon(t)
  const content = `\ufeff${randomBytes(500_000).toString('hex')}`
  const { asset_id, sha256: digest, text_sha256 } = await store(daemon, content)
  const read = (part: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${daemon.url}/v1/assets/${asset_id}/${part}`, { headers })
  const raw = await read('raw')
  t.is(raw.headers.get('etag'), `"${digest}"`)
  t.is(raw.headers.get('content-type'), 'text/plain')
  t.true(Buffer.from(await raw.arrayBuffer()).equals(Buffer.from(content)))
  t.is(text_sha256, sha256(content.slice(1)), 'the text is without its mark')
  t.is(sha256(Buffer.from(await (await read('text')).arrayBuffer())), text_sha256)
  const part = await read('raw', { range: 'bytes=262140-262150' })
  t.is(part.status, 206)
  t.true(Buffer.from(await part.arrayBuffer()).equals(Buffer.from(content).subarray(262_140, 262_151)))
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/assets/${asset_id}/preview`)), [404, 'asset_part_not_found'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/assets/asset_none/raw')), [404, 'asset_not_found'])
  const file = blobFile(daemon.root, digest)
  const stored = readFileSync(file)
  stored[900_000] = (stored[900_000] ?? 0) ^ 1
  writeFileSync(file, stored)
  for (const headers of [{}, { range: 'bytes=0-1' }] as const)
    t.is((await read('raw', headers)).status, 409, 'also a part that is as it was')
  t.is((await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`, { method: 'HEAD' })).status, 409)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/assets/${asset_id}/raw`)), [409, 'asset_integrity_mismatch'])
  t.is((await store(daemon, content)).asset_id, asset_id)
  t.is((await read('raw')).status, 200, 'stored again, they are there again')
})

test('assets-6: the bytes and the references of an asset; the bytes take the admin token', async (t) => {
  const { held, plugin } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const { asset_id } = await store(daemon, 'a')
  t.deepEqual((await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body, {
    asset_id,
    hard_reference_count: 0,
    soft_reference_count: 0,
    references: [],
    pagination: { limit: 1000, total_count: 0, has_more: false, order: 'hard_desc,domain_asc,newest_first' },
  })
  const soft = { asset_id, owner_id: 'n2', role: 'source', hard: false }
  const hard = { asset_id, owner_id: 'n1', role: 'picture', hard: true, parent_id: 's1', detail_id: 'part:0' }
  held.push(soft, hard)
  const { asset_id: _asset_id, ...named } = hard
  t.like((await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body, {
    asset_id,
    hard_reference_count: 1,
    soft_reference_count: 1,
    references: [
      { ...named, domain: 'notes' },
      { owner_id: 'n2', role: 'source', hard: false, domain: 'notes' },
    ],
  })
  const { paths } = (await daemon.request('GET', '/v1/openapi.json')).body
  for (const part of ['raw', 'text', 'preview'])
    t.is(paths[`/v1/assets/{asset_id}/${part}`].get['x-access'], 'admin', part)
})

test('assets-6: very many references are told in pages, the hard ones first, and no more are looked at', async (t) => {
  const { held, plugin, asked } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const { asset_id } = await store(daemon, 'a')
  for (let at = 0; at < 2500; at += 1) held.push({ asset_id, owner_id: `n${at}`, role: 'source', hard: at % 5 > 0 })
  const url = `/v1/assets/${asset_id}/references`
  const read = async (query = ''): Promise<any> => (await daemon.request('GET', `${url}${query}`)).body
  const first = await read()
  t.like(first, { hard_reference_count: 2000, soft_reference_count: 500 })
  t.like(first.pagination, { limit: 1000, total_count: 2500, has_more: true })
  t.is(first.references.length, 1000)
  t.is(
    asked.reduce((sum, limit) => sum + limit, 0),
    1001,
  )
  const all = [...first.references]
  for (let { pagination } = first; pagination.has_more;) {
    const next = await read(`?limit=700&cursor=${pagination.next_cursor}`)
    all.push(...next.references)
    pagination = next.pagination
  }
  t.is(new Set(all.map(({ owner_id }) => owner_id)).size, 2500)
  t.is(all.length, 2500)
  t.is(
    all.findIndex(({ hard }) => !hard),
    2000,
  )
  const holdfast = createCommandLine(daemon)
  const told = (await holdfast('assets', 'references', asset_id)).out.trim().split('\n')
  const cursor = /^There are more, 2500 in all: --cursor (\S+)$/u.exec(told.at(-1) ?? '')?.[1] ?? ''
  t.deepEqual([told.length, told[0]], [1001, `notes  ${all[0].owner_id}  source`])
  const further = (await holdfast('assets', 'references', asset_id, '--cursor', cursor)).out
  t.true(further.startsWith(`notes  ${all[1000].owner_id}  source\n`))
  t.is((await read('?limit=5000')).references.length, 1000)
  t.deepEqual(codeOf(await daemon.request('GET', `${url}?limit=0`)), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', `${url}?cursor=made-up`)), [400, 'invalid_cursor'])
})

test('assets-7: of very many references a plan tells some, and a deletion that is refused looks at one', async (t) => {
  const { held, plugin, asked } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const { asset_id } = await store(daemon, 'a')
  for (let at = 0; at < 500; at += 1) held.push({ asset_id, owner_id: `n${at}`, role: 'source', hard: true })
  const url = `/v1/assets/${asset_id}`
  const plan = (await daemon.request('DELETE', `${url}?dry_run=true`)).body
  t.is(plan.references.length, 100)
  t.like(plan, { blocked: true, hard_reference_count: 500 })
  t.deepEqual(asked.splice(0), [100])
  const refused = await daemon.request('DELETE', url)
  t.deepEqual(codeOf(refused), [409, 'asset_delete_blocked'])
  t.regex(refused.body.detail, /in use 500 times, first by notes n499/u)
  t.deepEqual(asked, [1])
})

test('assets-8: of very many references a report tells a thousand', async (t) => {
  const { held, plugin, asked } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  for (let at = 0; at < 12; at += 1) {
    const { asset_id } = await store(daemon, `content ${at}`)
    for (let n = 0; n < 300; n += 1) held.push({ asset_id, owner_id: `n${n}`, role: 'source', hard: true })
  }
  const { plans, blocked_count } = (await daemon.request('POST', '/v1/assets/gc')).body
  t.is(blocked_count, 12)
  t.deepEqual(
    plans.map(({ references, hard_reference_count }: any) => [references.length, hard_reference_count]),
    Array.from({ length: 12 }, (_, at) => [at < 10 ? 100 : 0, 300]),
  )
  t.is(
    asked.reduce((sum, limit) => sum + limit, 0),
    1000,
  )
})

test('assets-7: a plan says what a deletion takes, and only what nothing needs is deleted, for good', async (t) => {
  const { held, plugin } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const { asset_id, sha256: digest } = await store(daemon, 'shared')
  const { asset_id: twin } = await store(daemon, 'shared', { media_type: 'text/csv' })
  const url = `/v1/assets/${asset_id}`
  held.push({ asset_id, owner_id: 'n1', role: 'picture', hard: true })
  const blocked = (await daemon.request('DELETE', `${url}?dry_run=true`)).body
  t.like(blocked, { asset_id, dry_run: true, blocked: true, deleted: false, hard_reference_count: 1 })
  t.deepEqual(codeOf(await daemon.request('DELETE', url)), [409, 'asset_delete_blocked'])
  t.is((await list(daemon)).length, 2)
  held.splice(0, 1, { asset_id, owner_id: 'n1', role: 'picture', hard: false })
  const planned = (await daemon.request('DELETE', `${url}?dry_run=true`)).body
  t.deepEqual(
    planned.files.map(({ kind }: any) => kind),
    ['metadata'],
    'the twin has the same bytes',
  )
  t.deepEqual((await daemon.request('DELETE', url)).body, { ...planned, dry_run: false, deleted: true })
  t.deepEqual(codeOf(await daemon.request('GET', url)), [404, 'asset_not_found'])
  t.deepEqual(codeOf(await daemon.request('DELETE', url)), [404, 'asset_not_found'])
  t.deepEqual(blobs(daemon.root), [digest])
  const last = (await daemon.request('DELETE', `/v1/assets/${twin}?dry_run=true`)).body
  t.deepEqual(
    last.files.map(({ kind, exists }: any) => [kind, exists]),
    [
      ['raw', true],
      ['metadata', true],
    ],
  )
  t.is((await daemon.request('DELETE', `/v1/assets/${twin}`)).status, 200)
  t.deepEqual(blobs(daemon.root), [])
  const again = await store(daemon, 'shared')
  t.false([asset_id, twin].includes(again.asset_id), 'an id is never used again')
})

test('assets-8: a dry run counts bytes that deletable assets share once, as the run does', async (t) => {
  const { held, plugin } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  for (const media_type of ['text/plain', 'text/csv', 'text/markdown']) await store(daemon, 'shared', { media_type })
  const kept = await store(daemon, 'kept')
  await store(daemon, 'kept', { media_type: 'text/csv' })
  held.push({ asset_id: kept.asset_id, owner_id: 'n', role: 'picture', hard: true })
  const gc = async (dry_run: boolean): Promise<any> => (await daemon.request('POST', '/v1/assets/gc', { dry_run })).body
  const [dry, run] = [await gc(true), await gc(false)]
  const sizes = ({ plans }: any) => plans.map(({ reclaimable_bytes }: any) => reclaimable_bytes)
  t.deepEqual([run.reclaimable_bytes, ...sizes(run)], [dry.reclaimable_bytes, ...sizes(dry)])
  t.is(sizes(run).length, 5)
})

test('assets-8: a collection takes what nothing needs and bytes that no asset has; a dry run tells exactly that', async (t) => {
  const { held, plugin } = holder()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  const made: any[] = []
  for (let at = 0; at < 70; at += 1) made.push(await store(daemon, `content ${at}`))
  for (const at of [3, 40]) held.push({ asset_id: made[at].asset_id, owner_id: 'n', role: 'picture', hard: true })
  held.push({ asset_id: made[5].asset_id, owner_id: 'n', role: 'source', hard: false })
  const orphan = 'nobody has these'
  leave(daemon.root, orphan)
  const dry = (await daemon.request('POST', '/v1/assets/gc')).body
  t.like(dry, {
    dry_run: true,
    inspected_count: 70,
    candidate_count: 68,
    blocked_count: 2,
    deleted_count: 0,
    orphan_file_count: 1,
    orphan_deleted_count: 0,
    orphan_reclaimable_bytes: orphan.length,
  })
  t.is(blobs(daemon.root).length, 71)
  const run = (await daemon.request('POST', '/v1/assets/gc', { dry_run: false })).body
  t.deepEqual(run, {
    ...dry,
    dry_run: false,
    deleted_count: 68,
    orphan_deleted_count: 1,
    plans: dry.plans.map((plan: any) => ({ ...plan, dry_run: false, deleted: !plan.blocked })),
    orphan_files: dry.orphan_files.map((file: any) => ({ ...file, exists: false })),
  })
  t.deepEqual(
    (await list(daemon)).map(({ asset_id }) => asset_id),
    [made[3].asset_id, made[40].asset_id],
  )
  t.is(blobs(daemon.root).length, 2)
})

test('assets-9: a start finishes deletions, makes texts again, and says which bytes are missing', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  const marked = await store(first, '\ufeffmarked')
  const [gone, short, whole] = [await store(first, 'gone'), await store(first, 'short'), await store(first, 'whole')]
  await first.stop()
  truncateSync(blobFile(root, short.sha256), 2)
  unlinkSync(blobFile(root, gone.sha256))
  unlinkSync(blobFile(root, marked.text_sha256))
  const daemon = await startTestDaemon(t, { root })
  const status = async (): Promise<any> => (await daemon.request('GET', '/v1/status')).body
  const report = async (): Promise<any> => (await status()).storage.asset_repair
  while ((await report()).skipped_asset_count < 2) await new Promise((resolve) => setTimeout(resolve, 10))
  const { diagnostics, ...counts } = await report()
  t.deepEqual(counts, {
    repaired_count: 1,
    skipped_asset_count: 2,
    skipped_raw_missing_count: 1,
    skipped_raw_integrity_mismatch_count: 1,
    invalid_tombstone_count: 0,
    completed_tombstone_delete_count: 0,
    restored_derived_text_count: 1,
    restored_derived_preview_count: 0,
    integrity_backfilled_count: 0,
  })
  t.deepEqual(
    diagnostics.map(({ asset_id, reason }: any) => [asset_id, reason]),
    [
      [marked.asset_id, 'missing'],
      [gone.asset_id, 'raw_missing'],
      [short.asset_id, 'raw_integrity_mismatch'],
    ],
  )
  const codes = (await status()).health.warnings.map(({ code, severity }: any) => [code, severity])
  t.true(codes.some(([code, severity]: any) => code === 'assets_restored' && severity === 'info'))
  t.true(codes.some(([code, severity]: any) => code === 'assets_skipped' && severity === 'warning'))
  const text = await fetch(`${daemon.url}/v1/assets/${marked.asset_id}/text`)
  t.is(await text.text(), 'marked')
  for (const { asset_id } of [gone, short])
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/assets/${asset_id}/raw`)), [409, 'asset_integrity_mismatch'])
  t.is((await fetch(`${daemon.url}/v1/assets/${whole.asset_id}/raw`)).status, 200)
  for (const content of ['gone', 'short']) await store(daemon, content)
})

test('assets-7: what is about to be named is not deleted, and what is deleted is not named, whoever is first', async (t) => {
  const named = new Set<string>()
  const naming = testPlugin('naming', {
    register: (ctx) => {
      ctx.contribute(AssetReferences, {
        domain: 'names',
        namings: [namingOf((asset_id) => (named.has(asset_id) ? [{ owner_id: 'n', role: 'r', hard: true }] : []))],
      })
    },
  })
  const lending = lender({ assets: Assets })
  const daemon = await startTestDaemon(t, { plugins: [naming, lending.plugin] })
  const { state } = lending.context()
  const { assets } = lending.services()
  let [deleted, kept] = [0, 0]
  const races = 1000
  for (let at = 0; at < races; at += 1) {
    const { asset_id } = await assets.add({
      file_name: 'a.txt',
      media_type: 'text/plain',
      bytes: Buffer.from(`content ${at}`),
    })
    const name = (): Promise<boolean> =>
      state.commit(() => {
        if (assets.find(asset_id) === undefined) return false
        named.add(asset_id)
        return true
      })
    const remove = async (): Promise<number> => (await daemon.request('DELETE', `/v1/assets/${asset_id}`)).status
    const later = async (): Promise<boolean> => {
      for (let turns = at % 40; turns > 0; turns -= 1) await new Promise(setImmediate)
      return name()
    }
    const [status, taken] = await Promise.all([remove(), later()])
    t.is(status, taken ? 409 : 200)
    if (taken) {
      kept += 1
      const opened = await assets.open(asset_id, 'raw')
      await opened.close()
    } else deleted += 1
  }
  t.true(deleted > races / 20 && kept > races / 20, `${deleted} deleted, ${kept} kept`)
})

test('assets-16: what was made of a file names it softly, until it is gone; what was there before names nothing', async (t) => {
  const lending = lender({ assets: Assets })
  const daemon = await startTestDaemon(t, { plugins: [lending.plugin] })
  const { assets } = lending.services()
  const [one, two] = [await store(daemon, 'one'), await store(daemon, 'two')]
  const make = (content: string, asset_ids: readonly string[], maker = 'edited') => {
    const made_of = { maker, asset_ids }
    return assets.add({ file_name: 'b.txt', media_type: 'text/plain', bytes: Buffer.from(content), made_of })
  }
  const namesOf = async ({ asset_id }: { asset_id: string }): Promise<unknown[]> =>
    (await daemon.request('GET', `/v1/assets/${asset_id}/references`)).body.references
  const made = await make('made', [one.asset_id, two.asset_id, one.asset_id, 'asset_none'])
  const named = {
    domain: 'assets',
    owner_id: made.asset_id,
    role: 'provenance_source_asset',
    hard: false,
    detail_id: 'edited',
  }
  t.deepEqual([await namesOf(one), await namesOf(two)], [[named], [named]])
  for (const known of ['one', 'two', 'made']) await make(known, [one.asset_id], 'again')
  t.deepEqual([await namesOf(one), await namesOf(made)], [[named], []])
  const remove = async ({ asset_id }: { asset_id: string }): Promise<any> =>
    (await daemon.request('DELETE', `/v1/assets/${asset_id}`)).body
  t.like(await remove(two), { deleted: true, soft_reference_count: 1, references: [named] })
  t.like(await remove(made), { deleted: true })
  t.deepEqual(await namesOf(one), [])
})

test('assets-9: a deletion that could not take its bytes is done all the same, and finished by the next start', async (t) => {
  const root = await freshRoot()
  let refusing = false
  const { disk } = createWrappedDisk((_call, file) => {
    if (refusing && file.includes('blobs')) throw diskError('EIO')
  })
  const first = await startTestDaemon(t, { root, disk })
  const { asset_id, sha256: digest } = await store(first, 'leaving')
  refusing = true
  t.is((await first.request('DELETE', `/v1/assets/${asset_id}`)).status, 200)
  t.deepEqual(codeOf(await first.request('GET', `/v1/assets/${asset_id}`)), [404, 'asset_not_found'])
  t.deepEqual(blobs(root), [digest])
  await first.stop()
  const daemon = await startTestDaemon(t, { root })
  const report = async (): Promise<any> => (await daemon.request('GET', '/v1/status')).body.storage.asset_repair
  while ((await report()).repaired_count < 1) await new Promise((resolve) => setTimeout(resolve, 10))
  t.is((await report()).completed_tombstone_delete_count, 1)
  t.deepEqual(blobs(root), [])
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/assets/${asset_id}`)), [404, 'asset_not_found'])
})
