/** What drawings become; docs/rules/normalisers.md. */
import test from 'ava'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import sharp from 'sharp'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { ask, judgedBy, systemPython } from '../../../support/judges.js'

type Pair = readonly [number, string | number]
const dxf = (entities: readonly Pair[], header: readonly Pair[] = []): string =>
  [
    [0, 'SECTION'],
    [2, 'HEADER'],
    [9, '$ACADVER'],
    [1, 'AC1015'],
    ...header,
    [0, 'ENDSEC'],
    [0, 'SECTION'],
    [2, 'BLOCKS'],
    [0, 'LINE'],
    [10, -1e9],
    [0, 'ENDSEC'],
    [0, 'SECTION'],
    [2, 'ENTITIES'],
    ...entities,
    [0, 'ENDSEC'],
    [0, 'EOF'],
  ]
    .map(([code, value]) => `${String(code).padStart(3)}\r\n${value}\r\n`)
    .join('')
const line = (x1: number, y1: number, x2: number, y2: number): Pair[] => [
  [0, 'LINE'],
  [8, '0'],
  [10, x1],
  [20, y1],
  [11, x2],
  [21, y2],
]

const store = async (daemon: TestDaemon, content: string | Buffer): Promise<any> => {
  const query = 'file_name=a.dxf&media_type=image/vnd.dxf'
  const answer = await fetch(`${daemon.url}/v1/assets/raw?${query}`, { method: 'POST', body: content })
  const asset: any = await answer.json()
  return { ...asset, status: answer.status }
}
const read = async (daemon: TestDaemon, asset_id: string, part: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/${part}`)).arrayBuffer())

test('normalisers-8: a drawing stays as it came, with a summary in words and a picture of its lines', async (t) => {
  const daemon = await startTestDaemon(t)
  const content = dxf(
    [
      ...line(0, 0, 100, 0),
      [0, 'LWPOLYLINE'],
      [90, 3],
      [70, 1],
      [10, 0],
      [20, 0],
      [10, 100],
      [20, 0],
      [10, 0],
      [20, 50],
      [0, 'TEXT'],
      [10, 5],
      [20, 6],
      [1, 'Ground floor'],
      [0, 'DIMENSION'],
      [1, '12 m'],
      [0, 'CIRCLE'],
      [10, 1],
      [40, 9],
    ],
    [
      [9, '$EXTMIN'],
      [10, 0],
      [20, 0],
      [9, '$EXTMAX'],
      [10, 100],
      [20, 50],
    ],
  )
  const asset = await store(daemon, content)
  t.is(asset.status, 201, asset.detail)
  t.is(asset.media_type, 'application/dxf')
  t.is((await read(daemon, asset.asset_id, 'raw')).toString(), content)
  t.is(
    (await read(daemon, asset.asset_id, 'text')).toString(),
    [
      'DXF drawing',
      'Version: AC1015',
      'Extents: (0, 0) to (100, 50)',
      'Entities: CIRCLE 1, DIMENSION 1, LINE 1, LWPOLYLINE 1, TEXT 1',
      'Dimension: 12 m',
      'Text at (5, 6): Ground floor',
      'LINE (0, 0) to (100, 0)',
      'LWPOLYLINE (0, 0) (100, 0) (0, 50)',
    ].join('\n'),
  )
  t.is(asset.preview_image_media_type, 'image/png')
  const picture = sharp(await read(daemon, asset.asset_id, 'preview'))
  const { width, height } = await picture.metadata()
  t.deepEqual([width, height], [1024, 1024])
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true })
  const dark = (x: number, y: number): boolean => (data[(y * info.width + x) * info.channels] ?? 255) < 128
  // 976 pixels wide, half as high, in the middle: from (24, 756) at the lower left to (1000, 268).
  for (const [x, y] of [
    [24, 756],
    [1000, 756],
    [512, 756],
    [24, 268],
    [24, 512],
    [512, 512],
  ] as const)
    t.true(dark(x, y), `${x} ${y}`)
  for (const [x, y] of [
    [10, 756],
    [512, 600],
    [800, 300],
    [512, 770],
  ] as const)
    t.false(dark(x, y), `${x} ${y}`)
})

test('normalisers-8: what has no lines, or too many, has no picture; what is no drawing is refused', async (t) => {
  const daemon = await startTestDaemon(t)
  const many = Array.from({ length: 20_001 }, (_, at) => line(at, 0, at, 1)).flat()
  const long = [
    [0, 'LWPOLYLINE'],
    ...Array.from({ length: 30_000 }, (_, at): Pair[] => [
      [10, at],
      [20, at % 7],
    ]).flat(),
  ] as const
  for (const [name, content, shown] of [
    ['none', dxf([[0, 'CIRCLE']]), false],
    ['many', dxf(many), false],
    ['long', dxf(long), true],
    [
      'no numbers',
      dxf([
        [0, 'LINE'],
        [10, 'x'],
        [20, '1e999'],
        [11, 'NaN'],
        [21, '-'],
      ]),
      true,
    ],
    ['far', dxf([...line(-1e308, 0, 1e308, 0)]), false],
    ['a point', dxf(line(5, 5, 5, 5)), true],
  ] as const) {
    const asset = await store(daemon, content)
    t.is(asset.status, 201, `${name}: ${asset.detail}`)
    t.is('preview_image_uri' in asset, shown, name)
  }
  for (const content of [
    'no drawing',
    dxf([]).replace('EOF', 'END'),
    `${dxf([])}\0`,
    Buffer.from('AutoCAD Binary DXF\r\n\x1a\0'),
  ])
    t.like(await store(daemon, content), { status: 400, code: 'asset_invalid' })
})

test('normalisers-8: letters are read as the code page of the drawing says, and escaped ones as what they are', async (t) => {
  const daemon = await startTestDaemon(t)
  const saying = (page: string): string =>
    dxf(
      [
        [0, 'TEXT'],
        [1, String.raw`K@che \U+2265\U+0000 1`],
      ],
      [
        [9, '$DWGCODEPAGE'],
        [3, page],
      ],
    )
  for (const [page, letter, said] of [
    ['ANSI_1252', 'fc', 'ü'],
    ['ANSI_1251', 'fe', 'ю'],
    ['ANSI_932', '83 4c', 'キ'],
    ['ANSI_1252', 'c3 bc', 'ü'],
    ['ANSI_9999', 'fc', 'ü'],
    ['none', 'fc', 'ü'],
  ] as const) {
    const content = Buffer.from(
      saying(page).replace(
        '@',
        letter.replace(/(..) ?/gu, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16))),
      ),
      'latin1',
    )
    const asset = await store(daemon, content)
    t.is(asset.status, 201, asset.detail)
    t.regex((await read(daemon, asset.asset_id, 'text')).toString(), new RegExp(`K${said}che ≥  1`, 'u'), page)
  }
})

test('normalisers-8: a polyline whose corners are entities of their own is drawn, and a surface is not', async (t) => {
  const daemon = await startTestDaemon(t)
  const corner = (x: number, y: number): Pair[] => [
    [0, 'VERTEX'],
    [10, x],
    [20, y],
  ]
  const polyline = (bits: number): string =>
    dxf([
      [0, 'POLYLINE'],
      [66, 1],
      [10, 0],
      [20, 0],
      [70, bits],
      ...[corner(0, 0), corner(100, 0), corner(100, 100)].flat(),
      [0, 'SEQEND'],
    ])
  const asset = await store(daemon, polyline(1))
  const drawn = await sharp(await read(daemon, asset.asset_id, 'preview'))
    .raw()
    .toBuffer({ resolveWithObject: true })
  const dark = (x: number, y: number): boolean => (drawn.data[(y * 1024 + x) * drawn.info.channels] ?? 255) < 128
  t.deepEqual([dark(512, 1000), dark(1000, 512), dark(512, 512), dark(24, 512)], [true, true, true, false])
  for (const surface of [16, 64]) t.false('preview_image_uri' in (await store(daemon, polyline(surface))))
})

test('normalisers-8: extents that nobody measured are not told', async (t) => {
  const daemon = await startTestDaemon(t)
  const unset = dxf(line(0, 0, 1, 1), [
    [9, '$EXTMIN'],
    [10, '1e+20'],
    [20, '1e+20'],
    [9, '$EXTMAX'],
    [10, '-1e+20'],
    [20, '-1e+20'],
  ])
  t.notRegex((await read(daemon, (await store(daemon, unset)).asset_id, 'text')).toString(), /Extents/u)
})

judgedBy(test, 'python3-ezdxf')('normalisers-8: a drawing that another program wrote is told and drawn', async (t) => {
  const folder = freshFolder()
  const daemon = await startTestDaemon(t)
  for (const version of ['R12', 'R2000', 'R2018']) {
    const file = path.join(folder, `${version}.dxf`)
    writeFileSync(
      `${file}.py`,
      `import ezdxf\nd = ezdxf.new('${version}')\nm = d.modelspace()\nm.add_line((0, 0), (10, 5))\nm.add_circle((1, 1), 3)\nm.add_text('Kitchen')\nd.saveas('${file}')\n`,
    )
    ask(systemPython, `${file}.py`)
    const asset = await store(daemon, readFileSync(file))
    t.is(asset.status, 201, asset.detail)
    t.true('preview_image_uri' in asset)
    const text = (await read(daemon, asset.asset_id, 'text')).toString()
    t.regex(text, /Entities: CIRCLE 1, LINE 1, TEXT 1/u)
    t.regex(text, /: Kitchen/u)
  }
})
