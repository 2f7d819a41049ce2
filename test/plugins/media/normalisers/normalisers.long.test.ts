/** What files become when they are stored; docs/rules/normalisers.md. */
import test, { type ExecutionContext } from 'ava'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy } from '../../../support/judges.js'
import { makePdf, pagesOf, sayingPage, sharedWords } from '../../../support/pdf.js'

const store = async (daemon: TestDaemon, bytes: Uint8Array, media_type: string): Promise<any> => {
  const query = new URLSearchParams({ file_name: 'file', media_type })
  const answer = await fetch(`${daemon.url}/v1/assets/raw?${query.toString()}`, { method: 'POST', body: bytes })
  const body: any = await answer.json()
  return { status: answer.status, code: body.code, detail: body.detail, asset: body }
}
const read = async (daemon: TestDaemon, { asset_id }: any, part = 'raw'): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/${part}`)).arrayBuffer())

const refused = async (
  t: ExecutionContext,
  daemon: TestDaemon,
  [name, bytes, type, why]: readonly [string, Uint8Array, string, RegExp],
) => {
  const { status, code, detail } = await store(daemon, bytes, type)
  t.deepEqual([status, code], [400, 'asset_invalid'], `${name}: ${detail}`)
  t.regex(detail, why, name)
}

const picture = (width: number, height: number, more: object = {}) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 60 }, ...more } })
const noise = (width: number, height: number) =>
  sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } })

test('normalisers-1: pictures are read and written anew, upright, no longer than 2,048 pixels and 4 MiB, without what is hidden in them', async (t) => {
  const daemon = await startTestDaemon(t)
  const hidden = await picture(600, 300)
    .withMetadata({ orientation: 6, exif: { IFD0: { Copyright: 'hidden words' } } })
    .jpeg()
    .toBuffer()
  t.true(hidden.includes('hidden words'))
  const turned = await store(daemon, hidden, 'image/jpg')
  t.is(turned.status, 201, turned.detail)
  t.is(turned.asset.media_type, 'image/jpeg')
  const bytes = await read(daemon, turned.asset)
  t.false(bytes.includes('hidden words'))
  const { width, height, orientation } = await sharp(bytes).metadata()
  t.deepEqual([width, height, orientation], [300, 600, undefined])
  const large = await store(daemon, await picture(5000, 1000).png().toBuffer(), 'image/png')
  const made = await sharp(await read(daemon, large.asset)).metadata()
  t.deepEqual([made.width, made.height, made.format], [2048, 410, 'png'])
  const noisy = await store(daemon, await noise(1900, 1900).png().toBuffer(), 'image/png')
  t.is(noisy.status, 201, noisy.detail)
  t.true(noisy.asset.byte_length <= 4 * 1024 * 1024)
  const again = await store(daemon, await picture(5000, 1000).png().toBuffer(), 'image/png')
  t.is(again.asset.asset_id, large.asset.asset_id)
})

test('normalisers-2: a picture that is none, is broken, or is too large when it is read is refused', async (t) => {
  const daemon = await startTestDaemon(t)
  const png = await picture(400, 400).png().toBuffer()
  const jpeg = await noise(400, 400).jpeg().toBuffer()
  const lying = Buffer.from(png)
  lying.writeUInt32BE(40_000, 16)
  const wide = await picture(16_385, 10).png().toBuffer()
  const many = await picture(7_200, 7_000).png().toBuffer()
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>')
  for (const each of [
    ['SVG', svg, 'image/png', /begin/u],
    ['SVG behind a signature', Buffer.concat([png.subarray(0, 8), svg]), 'image/png', /./u],
    ['JPEG as PNG', jpeg, 'image/png', /begin/u],
    ['GIF', Buffer.from('GIF89a\x01\x00\x01\x00'), 'image/png', /begin/u],
    ['half a PNG', png.subarray(0, png.length - 40), 'image/png', /./u],
    ['half a JPEG', jpeg.subarray(0, jpeg.length / 2), 'image/jpeg', /./u],
    ['a lying head', lying, 'image/png', /./u],
    ['an edge', wide, 'image/png', /edge/u],
    ['50.4 MP', many, 'image/png', /more than 50000000 pixels/u],
    ['0xFF', Buffer.alloc(12 * 1024 * 1024, 0xff), 'image/jpeg', /./u],
  ] as const)
    await refused(t, daemon, each)
  t.is((await store(daemon, png, 'image/png')).status, 201, 'and the next is taken')
})

test('normalisers-3: a PDF is kept as it came, with its text', async (t) => {
  const daemon = await startTestDaemon(t)
  const pdf = makePdf([sayingPage('Hello, assets'), sayingPage('The second page')])
  const { status, asset, detail } = await store(daemon, pdf, 'application/pdf')
  t.is(status, 201, detail)
  t.true((await read(daemon, asset)).equals(pdf))
  t.is((await read(daemon, asset, 'text')).toString(), 'Hello, assets\n\nThe second page')
  const { body: seen } = await daemon.request('GET', '/v1/status')
  const warned = seen.health.warnings.some(({ code: found }: any) => found === 'file_sandbox_unavailable')
  t.is(warned, !seen.sandbox.in_force, 'sandbox-6: the status says whether there are walls')
  t.is(seen.sandbox.reason === undefined, seen.sandbox.in_force)
  const silent = await store(daemon, makePdf([{ content: '0 0 m 10 10 l S' }]), 'application/pdf')
  t.is(silent.status, 201)
  t.false('text_uri' in silent.asset)
})

const deflated = (content: Uint8Array | string) => ({
  dictionary: '/Filter /FlateDecode',
  content: deflateSync(content),
})

/** 100,000 characters, all of them on the page. */
const fullPage = `BT /F1 1 Tf ${Array.from({ length: 1000 }, (_, at) => `1 0 0 1 ${10 + (at % 2) * 300} ${790 - at * 0.75} Tm (${'word '.repeat(20)}) Tj`).join(' ')} ET`

test('normalisers-4: a PDF that costs too much to read is refused, and so is one that is none', async (t) => {
  const daemon = await startTestDaemon(t)
  const page = sayingPage('text')
  const bomb = deflateSync(Buffer.alloc(600 * 1024 * 1024), { level: 9 })
  const twice = { dictionary: '/Filter [/FlateDecode /FlateDecode]', content: deflateSync(bomb, { level: 9 }) }
  const operators = deflated('1 0 0 1 0 0 cm (a) Tj '.repeat(500_000))
  const cases = [
    ['text', Buffer.from('no PDF'), /begin/u],
    ['a head alone', Buffer.from('%PDF-1.7\n'), /read/u],
    ['a bomb', makePdf([page], [{ dictionary: '/Filter /FlateDecode', content: bomb }]), /12 MiB/u],
    ['a bomb in a bomb', makePdf([twice]), /12 MiB/u],
    ['many objects', makePdf([page], Array<string>(10_001).fill('null')), /10000 objects/u],
    [
      'many streams',
      makePdf(
        [page],
        Array.from({ length: 2_048 }, () => ({ content: 'x' })),
      ),
      /2048 streams/u,
    ],
    ['many pages', makePdf(Array.from({ length: 129 }, () => page)), /128 pages/u],
    ['much text', makePdf(Array.from({ length: 50 }, () => deflated(fullPage))), /4 MiB|12 MiB|10 s/u],
  ] as const
  for (const [name, bytes, why] of cases) await refused(t, daemon, [name, bytes, 'application/pdf', why])
  const slow = await store(daemon, makePdf([operators]), 'application/pdf')
  t.true(slow.status === 201 || slow.code === 'asset_invalid', slow.detail)
  const loop = makePdf([page]).toString('latin1').replace('/Kids [4 0 R]', '/Kids [2 0 R]')
  const looped = await store(daemon, Buffer.from(loop, 'latin1'), 'application/pdf')
  t.true(looped.status === 201 || looped.code === 'asset_invalid', looped.detail)
  t.is((await store(daemon, makePdf([page]), 'application/pdf')).status, 201)
})

test('normalisers-5: JSON is read where much of it costs the daemon nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const long = Buffer.from(`[${'1,'.repeat(5_000_000)}1]`)
  t.is((await store(daemon, long, 'application/json')).status, 201)
  const deep = await store(daemon, Buffer.from('['.repeat(12_000_000)), 'application/json')
  t.deepEqual([deep.status, deep.code], [400, 'asset_invalid'])
})

judgedBy(
  test,
  'gs',
  'pdftotext',
)('normalisers-3: the text of a PDF that another program made is what a third one reads in it', async (t) => {
  const folder = freshFolder()
  const [drawn, file] = [path.join(folder, 'a.ps'), path.join(folder, 'a.pdf')]
  writeFileSync(drawn, pagesOf(readFileSync('docs/decisions.md', 'utf8')))
  ask('gs', '-q', '-dBATCH', '-dNOPAUSE', '-sDEVICE=pdfwrite', `-sOutputFile=${file}`, drawn)
  const daemon = await startTestDaemon(t)
  const { status, asset, detail } = await store(daemon, readFileSync(file), 'application/pdf')
  t.is(status, 201, detail)
  const { all, share } = sharedWords(ask('pdftotext', file, '-'), (await read(daemon, asset, 'text')).toString())
  t.true(all > 1000 && share >= 0.98, `${share} of ${all} words`)
})
