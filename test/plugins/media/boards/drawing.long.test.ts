/** What models see of boards and draw on them; docs/rules/boards.md. */
import test from 'ava'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import sharp from 'sharp'
import { parse } from '../../../../core/base/parse.js'
import { authorOf, colorOf } from '../../../../plugins/media/boards/drawing/author.js'
import { frameOf } from '../../../../plugins/media/boards/drawing/canvas.js'
import { markOf } from '../../../../plugins/media/boards/drawing/elements.js'
import { occupancyOf } from '../../../../plugins/media/boards/drawing/occupancy.js'
import { checkTool } from '../../../conform/tool.js'
import { board, history, picture, read, revise, stateOf, upload } from '../../../support/boards.js'
import type { TestDaemon } from '../../../support/daemon.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'
import { likeness } from '../../../support/likeness.js'
import { openSession } from '../../../support/runs.js'

const bytesOf = async (daemon: TestDaemon, asset_id: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(`${daemon.url}/v1/assets/${asset_id}/raw`)).arrayBuffer())
const jsonOf = async (daemon: TestDaemon, asset_id: string): Promise<any> =>
  JSON.parse((await bytesOf(daemon, asset_id)).toString())

const text = (words: string, more: object = {}): any => ({ kind: 'text', x: 100, y: 100, text: words, ...more })
const every = [
  {
    kind: 'path',
    points: [
      [100, 200],
      [300, 260],
      [260, 420],
      [420, 380],
    ],
  },
  { kind: 'line', from: [500, 200], to: [700, 420], color: '#DC2626' },
  { kind: 'arrow', from: [800, 420], to: [1000, 200], stroke_width: 6 },
  { kind: 'rect', x: 100, y: 550, w: 300, h: 200, color: '#1E212B' },
  { kind: 'ellipse', x: 500, y: 550, w: 300, h: 200, stroke_width: 10 },
  { kind: 'text', x: 900, y: 560, text: 'Ferns & moss\n<b>in the shade</b>', font_size: 36 },
]

test('boards-11, boards-13: both tools keep what every tool must', async (t) => {
  const { daemon, tool, workspace } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  await board(daemon, 'owned', { owner_session_id: 's1' })
  await checkTool(t, { tool: tool('board_view'), workspace, good: { board_id: 'b' } })
  const good = { board_id: 'b', elements: [text('a')] }
  await checkTool(t, { tool: tool('board_draw'), workspace, good })
  t.like(tool('board_view'), { effect: 'read', parallel: true, timeout_ms: 30_000, in_plan_mode: true })
  t.like(tool('board_draw'), { effect: 'idempotent', parallel: false, timeout_ms: 60_000, permission: 'allow' })
  t.is(tool('board_draw').in_plan_mode, undefined)
})

test('boards-11: a view tells the elements, the map and what is free', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const empty = (await call('board_view', { board_id: 'b' })).output
  t.deepEqual(empty, {
    board: { board_id: 'b', display_name: 'Board b', revision_count: 0, canvas: { width: 1600, height: 1000 } },
    canvas: { width: 1600, height: 1000 },
    elements: [],
    occupancy: `${'................\n'.repeat(10)}legend: (empty)`,
    free_hint: 'the whole board is free',
    last_author: null,
    note: 'Nothing has been drawn yet.',
  })
  const ada = { kind: 'human', name: 'Ada', color: '#112233' }
  const state_asset_id = await stateOf(daemon, {
    canvas: { width: 160, height: 100 },
    elements: [
      { kind: 'rect', x: 0, y: 0, w: 39, h: 19, color: '#ff0000', author: ada },
      { kind: 'line', from: [5, 95], to: [155, 95], author: { kind: 'human' } },
      { kind: 'text', x: 85, y: 45.25, text: `${'x'.repeat(60)}\u001b[31m\n`, author: { name: ' ' } },
      {
        kind: 'path',
        points: [
          [1e308, -1e308],
          [1e308, 5],
          ['a', 2],
        ],
      },
      { kind: 'sticker', image: 7 },
      17,
    ],
  })
  const { revision_id } = (await revise(daemon, 'b', { render_asset_id: await picture(daemon), state_asset_id })).body
  const seen = (await call('board_view', { board_id: 'b' })).output
  t.deepEqual(seen.elements, [
    { n: 1, kind: 'rect', at: '0,0', size: '39×19', color: '#ff0000', author: 'Ada' },
    { n: 2, kind: 'line', at: '5,95→155,95', color: '#1E212B', author: 'human' },
    { n: 3, kind: 'text', at: '85,45.3', text: `${'x'.repeat(47)}…`, color: '#1E212B', author: 'unknown' },
    { n: 4, kind: 'path', at: '1e+308,-1e+308', color: '#1E212B', author: 'unknown' },
    { n: 5, kind: 'sticker', color: '#1E212B', author: 'unknown' },
    { n: 6, kind: 'unknown', color: '#1E212B', author: 'unknown' },
  ])
  t.deepEqual(seen.occupancy.split('\n'), [
    'AAAA...........U',
    'AAAA............',
    '................',
    '................',
    '........U.......',
    ...Array.from({ length: 4 }, () => '................'),
    'HHHHHHHHHHHHHHHH',
    'legend: A=Ada, H=human, U=unknown',
  ])
  t.is(seen.free_hint, 'mostly free: the top half')
  t.deepEqual(seen.last_author, { name: 'unknown', color: '#1E212B' })
  t.like(seen.board, { revision_count: 1, tip_revision_id: revision_id })
})

test('boards-11: a view tells the canvas that a drawing has, also of a board that is a picture alone', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  await revise(daemon, 'b', { render_asset_id: await picture(daemon) })
  const seen = (await call('board_view', { board_id: 'b' })).output
  t.deepEqual(
    [seen.canvas, seen.board.canvas],
    Array.from({ length: 2 }, () => ({ width: 64, height: 64 })),
  )
  const drawn = (await call('board_draw', { board_id: 'b', elements: [text('a')] })).output
  t.deepEqual(drawn.canvas, seen.canvas)
})

test('boards-11: a view has at most 120 elements, and of a large state it is told how many are left', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const elements = Array.from({ length: 7000 }, (_, at) => ({
    ...text(`${at}`),
    author: { name: `A${at} ${'n'.repeat(30)}` },
  }))
  const state_asset_id = await stateOf(daemon, { elements })
  await revise(daemon, 'b', { render_asset_id: await picture(daemon), state_asset_id })
  const seen = (await call('board_view', { board_id: 'b' })).output
  t.is(seen.elements.length, 121)
  t.deepEqual(seen.elements.at(-1), { truncated: 6880 })
  t.true(JSON.stringify(seen).length < 40_000)
})

test('boards-11: only the owner of a board sees and draws on it', async (t) => {
  const { daemon, call, tool, workspace } = await startDaemonTools(t)
  await openSession(daemon)
  await openSession(daemon, 's2')
  await board(daemon, 'owned', { owner_session_id: 's2' })
  t.truthy(workspace)
  for (const [name, input] of [
    ['board_view', {}],
    ['board_draw', { elements: [text('a')] }],
  ] as const) {
    await t.throwsAsync(call(name, { board_id: 'owned', ...input }), { code: 'board_owned' } as any)
    await t.throwsAsync(call(name, { board_id: 'none', ...input }), { code: 'board_not_found' } as any)
    t.false((await call(name, { board_id: 'owned', ...input }, 's2')).is_error, tool(name).name)
  }
  t.like((await history(daemon, 'owned'))[0], { source_session_id: 's2' })
})

test('boards-12: the map is sixteen cells by ten, later elements over earlier, and the free half is told', (t) => {
  const canvas = { width: 1600, height: 1000 }
  const box = (x: number, y: number, w: number, h: number, name = 'Ä'): any =>
    markOf({ kind: 'rect', x, y, w, h, author: { name } })
  const hint = (...marks: any[]): string => occupancyOf(canvas, marks).free_hint
  t.is(hint(), 'the whole board is free')
  t.is(hint(box(0, 0, 1600, 1000)), 'the board is full')
  t.is(hint(box(0, 0, 1600, 499)), 'mostly free: the bottom half')
  t.is(hint(box(0, 501, 1600, 499)), 'mostly free: the top half')
  t.is(hint(box(0, 0, 799, 1000)), 'mostly free: the right half')
  t.is(hint(box(801, 0, 799, 1000)), 'mostly free: the left half')
  t.is(hint(...Array.from({ length: 8 }, (_, at) => box(at * 200, 0, 99, 1000))), 'free cells are scattered')
  const { map } = occupancyOf(canvas, [box(0, 0, 250, 50), box(150, 0, 50, 50, 'Bo'), box(-500, 5000, 1, 1, '<x>')])
  t.is(map.split('\n')[0], 'ÄBÄ.............')
  t.is(map.split('\n')[9], '#...............')
  t.is(map.split('\n')[10], 'legend: Ä=Ä, B=Bo, #=<x>')
})

test('boards-13: a session draws in its own colour and under its name', (t) => {
  t.is(colorOf('session-a'), '#059669')
  t.is(colorOf('demo'), '#D97706')
  const sessions = (persona?: object): any => ({ get: () => ({ persona }) })
  t.is(authorOf(sessions(), 's').name, 's')
  t.is(authorOf(sessions({ display_name: 'Ada' }), 's').name, 'Ada')
})

test('boards-13: each call is a revision that adds to the state, stamped with who drew', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const first = (await call('board_draw', { board_id: 'b', elements: every, note: 'All kinds' })).output
  t.like(first, { board_id: 'b', note: 'All kinds' })
  t.is(first.elements.length, 6)
  const [made] = await history(daemon, 'b')
  t.like(made, { revision_id: first.revision_id, render_asset_id: first.render_asset_id, source_session_id: 's1' })
  t.like(made.metadata, { tool: 'board_draw', author_name: 's1', author_color: colorOf('s1'), element_count: 6 })
  const author = { kind: 'agent', name: 's1', color: colorOf('s1'), session_id: 's1' }
  const state = await jsonOf(daemon, made.state_asset_id)
  t.deepEqual(state, {
    schema_version: 'service.board_state.v1',
    board_id: 'b',
    canvas: { width: 1600, height: 1000 },
    elements: every.map((element) => ({ ...element, color: element.color ?? author.color, author })),
  })
  const second = (await call('board_draw', { board_id: 'b', elements: [text('more')] })).output
  t.is(second.elements.length, 7)
  const next = await jsonOf(daemon, (await history(daemon, 'b'))[0].state_asset_id)
  t.deepEqual(next.elements.slice(0, 6), state.elements)
  t.is(next.previous_revision_id, first.revision_id)
  const { width, height, format } = await sharp(await bytesOf(daemon, second.render_asset_id)).metadata()
  t.deepEqual([width, height, format], [1600, 1000, 'png'])
})

test('boards-13: what a person put on a board stays, picture and state', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const red = await sharp({ create: { width: 200, height: 100, channels: 3, background: '#ff0000' } })
    .png()
    .toBuffer()
  const render_asset_id = await upload(daemon, red, 'image/png')
  await revise(daemon, 'b', { render_asset_id })
  const embedded = await picture(daemon)
  const shown = (await call('board_draw', { board_id: 'b', elements: [text('x', { x: 5, y: 70 })] })).output
  t.deepEqual(shown.canvas, { width: 200, height: 100 }, 'as large as the picture')
  const { data, info } = await sharp(await bytesOf(daemon, shown.render_asset_id))
    .raw()
    .toBuffer({ resolveWithObject: true })
  t.deepEqual([info.width, info.height, data[0], data[1], data[2]], [200, 100, 255, 0, 0])
  const state = {
    canvas: { width: 300, height: 150, grid: 5 },
    layers: [{ asset_id: embedded }],
    payload: { a: 1 },
    elements: ['own'],
  }
  const state_asset_id = await stateOf(daemon, state)
  await revise(daemon, 'b', { render_asset_id, state_asset_id, previous_revision_id: shown.revision_id })
  await call('board_draw', { board_id: 'b', elements: [text('y')] })
  const [newest] = await history(daemon, 'b')
  const drawn = await jsonOf(daemon, newest.state_asset_id)
  t.like(drawn, { canvas: state.canvas, layers: state.layers, payload: state.payload })
  t.is(drawn.elements[0], 'own')
  const { references } = await read(daemon, `/v1/assets/${embedded}/references`)
  t.true(references.some(({ owner_id }: any) => owner_id === newest.revision_id))
})

test('boards-13: a batch that is repeated under its key is drawn once', async (t) => {
  const { daemon, tool, workspace } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const { callOf, resultOf } = await import('../../../support/tools.js')
  const draw = async (key: string): Promise<any> => {
    const parsed = parse(tool('board_draw').input, { board_id: 'b', elements: [text('once')] })
    if (!parsed.ok) throw new TypeError('refused')
    return resultOf(await tool('board_draw').run(parsed.value, callOf(workspace, { session_id: 's1', key }))).output
  }
  const [one, again, other] = [await draw('k1'), await draw('k1'), await draw('k2')]
  t.is(again.revision_id, one.revision_id)
  t.not(other.revision_id, one.revision_id)
  t.is((await history(daemon, 'b')).length, 2)
})

test('boards-13: eight sessions draw at once, and every element is there in one line', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await board(daemon, 'b')
  const names = Array.from({ length: 8 }, (_, at) => `writer-${at}`)
  for (const name of names) await openSession(daemon, name)
  await Promise.all(
    names.map(async (name) => {
      for (let at = 0; at < 3; at += 1)
        await call('board_draw', { board_id: 'b', elements: [text(`${name} ${at}`, { y: 100 * at })] }, name)
    }),
  )
  const found = (await history(daemon, 'b')).toReversed()
  t.is(found.length, 24)
  for (const [at, { previous_revision_id }] of found.entries()) t.is(previous_revision_id, found[at - 1]?.revision_id)
  const { elements } = await jsonOf(daemon, found.at(-1)?.state_asset_id)
  t.deepEqual(
    elements.map((one: any) => one.text).toSorted(),
    names.flatMap((name) => [0, 1, 2].map((at) => `${name} ${at}`)).toSorted(),
  )
})

test('boards-13: what does not fit is refused with its place, and nothing is drawn', async (t) => {
  const { daemon, call, tool } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const { input } = tool('board_draw')
  const faulty = (elements: unknown): boolean => !parse(input, { board_id: 'b', elements }).ok
  const points = Array.from({ length: 2000 }, () => [0, 0])
  for (const elements of [
    [],
    Array.from({ length: 201 }, () => text('a')),
    [text(' \n ')],
    [text('a'.repeat(301))],
    [text('a\u0007')],
    [text('\ud800')],
    [text('a', { x: 1e308 })],
    [text('a', { author: { name: 'Ada' } })],
    [text('a', { color: 'red' })],
    [text('a', { color: '#12345g' })],
    [{ kind: 'path', points: [[1, 2]] }],
    [{ kind: 'path', points: [...points, [0, 0]] }],
    [{ kind: 'path', points: [[1, 2], [3]] }],
    [{ kind: 'line', from: [1, 2] }],
    [{ kind: 'rect', x: 1, y: 1, w: -1, h: 1 }],
    [{ kind: 'ellipse', x: 1, y: 1, w: 1 }],
    [{ kind: 'image', x: 1, y: 1 }],
  ])
    t.true(faulty(elements), JSON.stringify(elements).slice(0, 80))
  t.false(faulty([{ kind: 'path', points }]))
  t.false(faulty([text('a\nb'.padEnd(300, 'x'))]))
  const huge = Array.from({ length: 4200 }, (_, at) => ({ ...text(`${at}`.padEnd(190, 'x')) }))
  const state_asset_id = await stateOf(daemon, { elements: huge })
  await revise(daemon, 'b', { render_asset_id: await picture(daemon), state_asset_id })
  const more = Array.from({ length: 200 }, () => text('y'.repeat(300)))
  await t.throwsAsync(call('board_draw', { board_id: 'b', elements: more }), { code: 'board_full' } as any)
  t.is((await history(daemon, 'b')).length, 1)
})

test('boards-14: text is drawn as it is, whatever it holds', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const nasty = [
    '</text><image href="file:///etc/passwd"/><text>',
    ']]><!ENTITY x SYSTEM "file:///etc/passwd">&x;',
    '&lt;&#0;&amp; " \' <script>alert(1)</script>',
    '\u202eabc\ufffe\uffff\u0301\u0301\u0301',
    '\u{1F600}\u{1F468}\u200d\u{1F469}\u200d\u{1F467} 漢字 שלום مرحبا',
  ]
  const elements = Array.from({ length: 60 }, (_, at) => text(nasty[at % nasty.length] ?? '', { y: at * 16 }))
  const shown = await call('board_draw', { board_id: 'b', elements })
  t.false(shown.is_error)
  const { width, height } = await sharp(await bytesOf(daemon, shown.output.render_asset_id)).metadata()
  t.deepEqual([width, height], [1600, 1000])
})

test('boards-14: a canvas is drawn whole, with edges from 64 to 2048 pixels', (t) => {
  for (const [width, height, ...drawn] of [
    [1600, 1000, 1600, 1000, 1],
    [64, 2048, 64, 2048, 1],
    [10, 10, 64, 64, 1],
    [4096, 2048, 2048, 1024, 0.5],
    [100_000, 1, 2048, 64, 0.02048],
  ] as const)
    t.deepEqual(Object.values(frameOf({ width, height })), [...drawn])
})

const magick = 'convert-im6.q16'
const hasMagick = spawnSync(magick, ['--version']).status === 0
const alike = hasMagick ? test : test.skip

/** The same batch as another program draws it. */
const drawnByOthers = (): Buffer => {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  const file = path.join(folder, 'a.png')
  const color = colorOf('s1')
  const head = (turn: number): string => {
    const angle = Math.atan2(-220, 200) + turn
    return `${1000 - 24 * Math.cos(angle)},${200 - 24 * Math.sin(angle)}`
  }
  const line = (stroke: string, width: number, what: string): string =>
    `-fill none -stroke ${stroke} -strokewidth ${width} -draw @stroke-linecap round stroke-linejoin round ${what}@`
  const font = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf')
  const words = (fill: string, size: number, at: string, what: string): string =>
    `-stroke none -fill ${fill} -font ${font} -pointsize ${size} -annotate ${at} @${what}@`
  const asked = [
    '-size 1600x1000 xc:white -density 72',
    line(color, 3, 'polyline 100,200 300,260 260,420 420,380'),
    line('#DC2626', 3, 'line 500,200 700,420'),
    line(color, 6, `line 800,420 1000,200 polyline ${head(0.45)} 1000,200 ${head(-0.45)}`),
    line('#1E212B', 3, 'rectangle 100,550 400,750'),
    line(color, 10, 'ellipse 650,650 150,100 0,360'),
    words(color, 36, '+900+593.4', 'Ferns & moss'),
    words(color, 36, '+900+638.4', '<b>in the shade</b>'),
    `-stroke none -fill ${color} -draw @roundrectangle 100,176 128.9,196 4,4@`,
    words('#FFFFFF', 13, '+106+191', 's1'),
  ]
  // What stands between two @ is one argument.
  const parts = asked.flatMap((line) =>
    line.split('@').flatMap((part, at) => (at % 2 === 1 ? [part] : part.split(' '))),
  )
  try {
    execFileSync(magick, [...parts.filter((part) => part !== ''), file])
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

alike('boards-14: every kind of element looks as another program draws it', async (t) => {
  const { daemon, call } = await startDaemonTools(t)
  await openSession(daemon)
  await board(daemon, 'b')
  const { render_asset_id } = (await call('board_draw', { board_id: 'b', elements: every })).output
  const ours = await bytesOf(daemon, render_asset_id)
  const found = await likeness(ours, drawnByOthers())
  t.log(found)
  t.true(found.all >= 0.99, `${found.all}`)
})
