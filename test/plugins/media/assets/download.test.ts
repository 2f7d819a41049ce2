/** Files of the daemon on the machine of whoever asks for them. */
import test, { type ExecutionContext } from 'ava'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { object, type Client } from '../../../../core/plugin.js'
import { Tools, defineTool } from '../../../../plugins/execution/tools/contract.js'
import { Assets } from '../../../../plugins/media/assets/contract.js'
import { download, safeName } from '../../../../plugins/media/assets/download.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { storeNotes } from '../../../support/sent-files.js'
import { openSession, until } from '../../../support/runs.js'
import { testPlugin } from '../../../support/plugins.js'

const folderOf = (t: ExecutionContext): string => {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-download-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const ran = async (daemon: TestDaemon, content: string): Promise<string> => {
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content })).body
  await until(daemon, run_id, 'completed')
  return run_id
}

test('assets-14: the bytes of an asset become a file, by its own name or as --to says', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  const id = await storeNotes(daemon, '# Grüße')
  t.deepEqual(await holdfast('assets', 'download', id, '--to', folder), {
    code: 0,
    out: `${path.join(folder, 'notes.md')} is written: 9 B.\n`,
    err: '',
  })
  t.is(readFileSync(path.join(folder, 'notes.md'), 'utf8'), '# Grüße')
  t.is((await holdfast('assets', 'download', id, '--to', path.join(folder, 'x'), '--part', 'text')).code, 0)
  t.deepEqual(readdirSync(folder).toSorted(), ['notes.md', 'x'])
})

test('assets-14: a file that is there stays as it is, and what cannot be written leaves nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  const id = await storeNotes(daemon, 'new')
  writeFileSync(path.join(folder, 'notes.md'), 'old')
  const taken = await holdfast('assets', 'download', id, '--to', folder)
  t.is(taken.code, 1)
  t.regex(taken.err, /notes\.md is there already and stays as it is/u)
  t.is(readFileSync(path.join(folder, 'notes.md'), 'utf8'), 'old')
  const nowhere = await holdfast('assets', 'download', id, '--to', path.join(folder, 'no', 'such'))
  t.regex(nowhere.err, /cannot be written: ENOENT[\s\S]*--to/u)
  t.regex((await holdfast('assets', 'download', 'nope', '--to', folder)).err, /nope/u)
  t.regex((await holdfast('assets', 'download', id, '--part', 'half')).err, /--part must be raw, text, preview/u)
  t.deepEqual(readdirSync(folder), ['notes.md'])
})

test('assets-14: bytes that are not those of the asset are not written', async (t) => {
  const folder = folderOf(t)
  const client: Client = {
    baseUrl: 'http://127.0.0.1:1',
    get: async () => ({ asset_id: 'a', file_name: 'a.txt', sha256: '0'.repeat(64), byte_length: 5 }),
    options: async () => ({}),
    bytes: async () => Buffer.from('other'),
    send: async () => null,
    stream: async () => (async function* () {})(),
  }
  await t.throwsAsync(download({ client, flags: { to: folder } }, 'a'), { code: 'answer_unreadable' })
  t.deepEqual(readdirSync(folder), [])
})

test('assets-14: a name of somebody else hides nothing, leaves no folder and is no flag', (t) => {
  const names: readonly (readonly [string, string])[] = [
    ['notes 1.md', 'notes 1.md'],
    ['.bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['a\u202Egnp.exe', 'a_gnp.exe'],
    ['..', 'id'],
    ['x'.repeat(300), 'id'],
  ]
  for (const [given, name] of names) t.is(safeName(given, 'id'), name)
})

test('assets-14: the picture of a board becomes a file, and one that nobody has drawn on says so', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  await openSession(daemon)
  await holdfast('boards', 'create', '--name', 'Plan', '--id', 'plan')
  t.regex((await holdfast('boards', 'download', 'plan', '--to', folder)).err, /Board plan has no picture yet/u)
  await ran(
    daemon,
    `/tool board_draw ${JSON.stringify({ board_id: 'plan', elements: [{ kind: 'text', x: 10, y: 20, text: 'Hi' }] })}\n---\n/say drawn`,
  )
  const to = path.join(folder, 'plan.png')
  t.is((await holdfast('boards', 'download', 'plan', '--to', to)).code, 0)
  t.is(readFileSync(to).subarray(1, 4).toString(), 'PNG')
})

/** A plugin with a tool that gives a file. */
const carder = testPlugin('carder', {
  needs: { assets: Assets },
  register: (ctx, { assets }) => {
    ctx.contribute(
      Tools,
      defineTool({
        name: 'make_card',
        description: 'Makes a card.',
        input: object({}),
        effect: 'idempotent',
        permission: 'allow',
        parallel: false,
        timeout_ms: 1000,
        sandbox: 'read_only',
        run: async () => ({
          type: 'result',
          output: {},
          files: [await assets.add({ media_type: 'text/plain', file_name: 'card.txt', bytes: Buffer.from('card') })],
        }),
      }),
    )
  },
})

test('assets-15: a file that a tool gave is shown of its run, while it is watched, and among its events', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [carder] })
  const holdfast = createCommandLine(daemon)
  await openSession(daemon)
  const run_id = await ran(daemon, '/tool make_card {}')
  const line = /card\.txt, text\/plain, 4 B: holdfast assets download asset_/u
  t.regex((await holdfast('runs', 'get', run_id)).out, new RegExp(` {2}file {5}${line.source}`, 'u'))
  t.regex((await holdfast('runs', 'events', run_id)).out, new RegExp(`make_card: done: ${line.source}`, 'u'))
  t.regex((await holdfast('runs', 'submit', 's1', '/tool make_card {}', '--watch')).out, line)
  t.is((await holdfast('runs', 'get', run_id, '--output', 'json')).out.includes('tool_files'), false)
})

test('assets-15: a run shows the files that it was given, that tools gave and that it put out, each with the line that writes it', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  await openSession(daemon)
  const id = await storeNotes(daemon, 'of an output')
  const line = `notes.md, text/markdown, 12 B: holdfast assets download ${id}`
  const put = { content: 'Here it is', artifact_ids: [id] }
  const run_id = await ran(daemon, `/tool emit_output ${JSON.stringify(put)}\n---\n/say done`)
  t.true(
    (await holdfast('runs', 'get', run_id)).out.includes(`  output   Here it is\n  file     ${line}\n  output   done`),
  )
  mkdirSync(path.join(folder, 'in'))
  writeFileSync(path.join(folder, 'in', 'given.md'), 'given')
  const watched = await holdfast(
    'runs',
    'submit',
    's1',
    '/say ok',
    '--attach',
    path.join(folder, 'in', 'given.md'),
    '--watch',
  )
  t.regex(
    watched.out,
    / {2}input {4}\/say ok\n {2}file {5}given\.md, text\/markdown, 5 B: holdfast assets download asset_/u,
  )
})

test('assets-2: who imports what is stored already is told that it has another name', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  await storeNotes(daemon, 'the same')
  writeFileSync(path.join(folder, 'mine.md'), 'the same')
  const again = await holdfast('assets', 'import', path.join(folder, 'mine.md'))
  t.regex(again.out, /^The same file is stored already, under the name shown here\.\nasset_.* {2}notes\.md\n$/u)
})

test('assets-3: a file of an unknown kind is told by the kinds that are known, and a type that nothing takes by those that are', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  await openSession(daemon)
  const file = path.join(folder, 'q.bin')
  writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0x01]))
  const unknown = await holdfast('runs', 'submit', 's1', 'Look', '--attach', file)
  t.regex(unknown.err, /q\.bin is no text, and its name ends in none of \.txt, .*\.png/u)
  const foreign = await holdfast('assets', 'import', file, '--media-type', 'foo/bar')
  t.regex(foreign.err, /--media-type must be one of .*image\/png/u)
  t.is(foreign.code, 2)
  writeFileSync(path.join(folder, 'x.conf'), 'a = 1')
  t.regex((await holdfast('assets', 'import', path.join(folder, 'x.conf'))).out, /text\/plain/u)
  t.is((await daemon.request('GET', '/v1/assets')).body.length, 1)
})

test('runs-46: a stored file is given by its id, beside words and other files', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  const folder = folderOf(t)
  await openSession(daemon)
  const id = await storeNotes(daemon, 'stored')
  writeFileSync(path.join(folder, 'b.md'), 'beside')
  const { out } = await holdfast(
    'runs',
    'submit',
    's1',
    'Look',
    '--asset',
    id,
    '--attach',
    path.join(folder, 'b.md'),
    '--watch',
  )
  t.regex(out, /You said: Look[^]*notes\.md[^]*stored[^]*b\.md[^]*beside/u)
  t.regex((await holdfast('runs', 'submit', 's1', '--asset', 'nope')).err, /no asset nope/u)
})

test('assets-7, assets-8: numbers agree with their words', async (t) => {
  const daemon = await startTestDaemon(t)
  const holdfast = createCommandLine(daemon)
  await openSession(daemon)
  const file = { file_name: 'n.txt', media_type: 'text/plain', content_base64: 'YQ==' }
  const { asset_id } = (await daemon.request('POST', '/v1/assets', file)).body
  const gc = async () => (await holdfast('assets', 'gc')).out
  t.regex(await gc(), /^Would delete 1 asset and 0 orphaned files: .* 0 assets are in use and stay\./u)
  const item = { type: 'asset_reference', asset_id }
  await daemon.request('POST', '/v1/sessions/s1/runs', { input_items: [item] })
  t.regex(await gc(), /^Would delete 0 assets .* 1 asset is in use and stays\./u)
  t.regex((await holdfast('assets', 'delete', asset_id)).err, /in use 1 time, first by runs/u)
  t.regex((await holdfast('assets', 'delete', asset_id, '--dry-run')).out, /in use 1 time and stays/u)
})

test('assets-5: a picture of a file comes under a name that says that it is one', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = '0\nLINE\n8\n0\n10\n0\n20\n0\n11\n10\n21\n10\n'
  const drawing = `0\nSECTION\n2\nENTITIES\n${line}0\nENDSEC\n0\nEOF\n`
  const content_base64 = Buffer.from(drawing).toString('base64')
  const file = { file_name: 'd.dxf', media_type: 'application/dxf', content_base64 }
  const { asset_id } = (await daemon.request('POST', '/v1/assets', file)).body
  const { headers } = await fetch(`${daemon.url}/v1/assets/${asset_id}/preview`)
  t.is(headers.get('content-type'), 'image/png')
  t.regex(headers.get('content-disposition') ?? '', /filename="d\.dxf\.preview\.png"/u)
})

test('assets-3: what is said of a name that is not taken is what is wrong with it', async (t) => {
  const daemon = await startTestDaemon(t)
  const file = { media_type: 'text/plain', content_base64: 'YQ==' }
  for (const file_name of ['.', '..']) {
    const refused = await daemon.request('POST', '/v1/assets', { ...file, file_name })
    t.is(refused.body.code, 'asset_invalid')
    t.regex(refused.body.errors[0].rule, /not blank, \. or \.\.$/u)
  }
})
