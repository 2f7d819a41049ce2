/** Pictures that other programs drew, and what yet others say of what became of them; docs/rules/normalisers.md. */
import test, { type ExecutionContext } from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { spawnTestDaemon, type Reachable } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy } from '../../../support/judges.js'

const store = async (t: ExecutionContext, daemon: Reachable, file: string): Promise<any> => {
  const media_type = file.endsWith('.png') ? 'image/png' : 'image/jpeg'
  const query = new URLSearchParams({ file_name: path.basename(file), media_type })
  const answer = await fetch(`${daemon.url}/v1/assets/raw?${query.toString()}`, {
    method: 'POST',
    body: readFileSync(file),
  })
  const asset: any = await answer.json()
  t.is(answer.status, 201, `${path.basename(file)}: ${asset.detail}`)
  return asset
}

/** What was stored of it, and its visual preview, as files beside it. */
const madeOf = async (t: ExecutionContext, daemon: Reachable, file: string): Promise<string[]> => {
  const { asset_id } = await store(t, daemon, file)
  const wish = { profile: 'visual_preview', subject: { type: 'asset', asset_id } }
  const { status, body } = await daemon.request('POST', '/v1/derivations', wish)
  t.is(status, 200, path.basename(file))
  return Promise.all(
    [asset_id, body.result_asset_id].map(async (id: string, at) => {
      const made = path.join(path.dirname(file), `made-${at}-${path.basename(file)}`)
      writeFileSync(made, Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${id}/raw`)).arrayBuffer()))
      return made
    }),
  )
}

/** Format, width, height and the direction to turn it, as ImageMagick reads all of a picture. */
const identify = (file: string): string =>
  ask('identify', '-regard-warnings', '-format', '%m %w %h %[orientation]', file)

const drawn = (folder: string, name: string, ...how: readonly string[]): string => {
  const file = path.join(folder, name)
  ask('convert', '-seed', '7', ...how, file)
  return file
}

const png = judgedBy(test, 'convert', 'identify', 'pngcheck')

png('normalisers-1, derivations-4: PNGs of every kind become PNGs in which nothing is wrong', async (t) => {
  const [daemon, folder] = [await spawnTestDaemon(t), freshFolder()]
  const plasma = ['-size', '300x200', 'plasma:red-blue']
  for (const [name, ...how] of [
    ['plain', ...plasma],
    ['wide', ...plasma, '-depth', '16'],
    ['grey', ...plasma, '-colorspace', 'Gray'],
    ['palette', ...plasma, '-colors', '16', '-type', 'Palette'],
    ['two', ...plasma, '-monochrome'],
    ['glass', ...plasma, '-alpha', 'set', '-channel', 'A', '-evaluate', 'set', '40%'],
    ['laced', ...plasma, '-interlace', 'PNG'],
    ['told', ...plasma, '-set', 'Comment', 'hidden words', '-units', 'PixelsPerInch', '-density', '300'],
    ['one', '-size', '1x1', 'xc:blue'],
    ['thin', '-size', '4000x3', 'gradient:'],
  ] as const) {
    for (const made of await madeOf(t, daemon, drawn(folder, `${name}.png`, ...how))) {
      t.notThrows(() => ask('pngcheck', '-q', made), name)
      const size = name === 'one' ? '1 1' : name === 'thin' ? '2048 2' : '300 200'
      t.is(identify(made), `PNG ${size} Undefined`, name)
    }
  }
})

/** Each quality with each size, and how it becomes no longer than 2,048 pixels. */
const sizes = [
  ['16x16', '16 16'],
  ['301x203', '301 203'],
  ['2500x100', '2048 82'],
] as const
const variants = [1, 40, 75, 100].flatMap((quality) =>
  sizes.map(([size, becomes]) => [`${quality}`, size, becomes] as const),
)
const ways = [
  ['-progressive'],
  ['-arithmetic'],
  ['-arithmetic', '-progressive'],
  ['-grayscale'],
  ['-rgb'],
  ['-restart', '1'],
  ['-sample', '4x1'],
  ['-sample', '1x2', '-dct', 'float'],
] as const

const jpeg = judgedBy(test, 'cjpeg', 'jpegtran', 'convert', 'identify')

jpeg('normalisers-1, derivations-4: JPEGs of every kind become JPEGs that ImageMagick reads', async (t) => {
  const [daemon, folder] = [await spawnTestDaemon(t), freshFolder()]
  const source = (size: string): string => drawn(folder, `${size}.ppm`, '-size', size, 'plasma:red-blue')
  const look = async (file: string, becomes: string): Promise<void> => {
    for (const made of await madeOf(t, daemon, file))
      t.is(identify(made), `JPEG ${becomes} Undefined`, path.basename(file))
  }
  for (const [quality, size, becomes] of variants) {
    const file = path.join(folder, `${quality}-${size}.jpg`)
    ask('cjpeg', '-quality', quality, '-progressive', '-outfile', file, source(size))
    await look(file, becomes)
  }
  for (const way of ways) {
    const file = path.join(folder, `${way.join('')}.jpg`)
    ask('cjpeg', ...way, '-outfile', file, source('301x203'))
    await look(file, '301 203')
  }
  const turned = path.join(folder, 'turned.jpg')
  ask('jpegtran', '-rotate', '90', '-arithmetic', '-outfile', turned, path.join(folder, '-restart1.jpg'))
  await look(turned, '203 301')
  await look(drawn(folder, 'ink.jpg', source('301x203'), '-colorspace', 'CMYK'), '301 203')
})
