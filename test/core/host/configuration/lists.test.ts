import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { partsOf, placeOf, type Owner } from '../../../../core/host/configuration/list-parts.js'
import { createLists } from '../../../../core/host/configuration/lists.js'
import {
  defineList,
  doc,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  type List,
  type ListChange,
  type ListSpec,
} from '../../../../core/plugin.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

const clock = createClock()
type Pot = { size: number; colour?: string | undefined }

const pots = defineList<Pot>({
  file: 'pots',
  table: 'pots',
  summary: 'Pots.',
  entry: object({ size: integer({ min: 1 }), colour: optional(string()) }),
  fault: (_, { size }) => (size > 100 ? 'size is more than the shelf holds.' : undefined),
})

const start = async (t: ExecutionContext, first: string) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (text: string): void => writeFileSync(join(root, 'config', 'pots.toml'), text)
  write(first)
  const told: string[][] = []
  const lists: List<Pot>[] = []
  const plugin = testPlugin('shelf', {
    register(ctx) {
      const list = ctx.list(pots)
      list.onChange((names) => void told.push([...names].toSorted()))
      lists.push(list)
    },
  })
  const daemon = await startTestDaemon(t, { root, plugins: [plugin] })
  const all = (): Record<string, number> =>
    Object.fromEntries([...(lists[0]?.all() ?? [])].map(([name, { size }]) => [name, size]))
  const warnings = () => daemon.daemon.view.warnings().filter(({ code }) => code.startsWith('config_'))
  const until = async (holds: () => boolean): Promise<void> => {
    for (let attempt = 0; attempt < 200 && !holds(); attempt += 1) await clock.sleep(50)
    t.true(holds(), JSON.stringify([all(), warnings(), told]))
  }
  return { daemon, write, told, all, warnings, until }
}

test('runtime-35: a changed list is applied entry by entry, and who uses it is told the names', async (t) => {
  const { write, told, all, warnings, until } = await start(t, '[pots.a]\nsize = 1\n[pots.b]\nsize = 2\n')
  t.deepEqual(all(), { a: 1, b: 2 })
  t.deepEqual(warnings(), [])
  write('[pots.b]\nsize = 3\n[pots.c]\nsize = 4\n')
  await until(() => all()['c'] === 4)
  t.deepEqual(all(), { b: 3, c: 4 })
  t.deepEqual(told, [['a', 'b', 'c']])
  t.deepEqual(warnings(), [])
})

test('runtime-35: of a wrong entry the last good one holds, and a warning names it without its values', async (t) => {
  const { write, all, warnings, until } = await start(t, '[pots.a]\nsize = 1\n[pots.bad]\nsize = "sesame"\n')
  t.deepEqual(all(), { a: 1 })
  t.is(warnings()[0]?.related_id, 'pots/bad')
  t.regex(warnings()[0]?.message ?? '', /\[pots\.bad\] size must be an integer\. The entry is left out/u)
  write('[pots.a]\nsize = 0\n[pots.b]\nsize = 500\n["pots".c]\nsize = 3\ncolor = "sesame"\n["pots"."../x"]\nsize = 1\n')
  await until(() => warnings().length === 4)
  t.deepEqual(all(), { a: 1 })
  t.deepEqual(
    warnings().map(({ related_id }) => related_id),
    ['pots/a', 'pots/b', 'pots/c', 'pots/../x'],
  )
  t.regex(warnings()[0]?.message ?? '', /size must be at least 1\. What held before stays/u)
  t.regex(warnings()[1]?.message ?? '', /more than the shelf holds\. The entry is left out/u)
  t.regex(warnings()[2]?.message ?? '', /color is not a known field; did you mean colour\? The entry is left out/u)
  t.false(JSON.stringify(warnings()).includes('sesame'))
  write('[pots.a]\nsize = 7\n')
  await until(() => all()['a'] === 7)
  t.deepEqual(warnings(), [])
})

test('runtime-35: a file that is no list changes nothing, and one that is gone takes its entries with it', async (t) => {
  const { daemon, write, all, warnings, until } = await start(t, '[pots.a]\nsize = 1\n')
  for (const [text, told] of [
    ['[pots.a\n', /config\/pots\.toml is not TOML/u],
    [
      '[pans.a]\nsize = 1\n[lids.a]\n',
      /^config\/pots\.toml:1 has pans, and may have nothing but \[pots\.…\]; did you mean pots\?; wrong too: lids\./u,
    ],
    ['\npots = 3\n', /^config\/pots\.toml:2 must have pots as tables/u],
  ] as const) {
    write(text)
    await until(() => warnings().some(({ message }) => told.test(message)))
    t.deepEqual(all(), { a: 1 })
  }
  rmSync(join(daemon.root, 'config', 'pots.toml'))
  await until(() => Object.keys(all()).length === 0)
  t.deepEqual(warnings(), [])
})

test('runtime-35: a file that is away or empty while another takes its place keeps its entries, and tells nobody', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const file = join(root, 'config', 'pots.toml')
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(file, '[pots.a]\nsize = 1\n')
  const lists = createLists({ disk: createDisk(), root })
  const { list } = lists.open({ id: 'shelf' }, pots)
  const [told, followed]: [string[][], string[]] = [[], []]
  list.onChange((names) => void told.push([...names]))
  lists.onApplied(({ entries }) => void followed.push(...entries.map(({ change }) => change)))
  const look = (believed?: string) => [lists.look(believed), [...list.all().keys()]]
  rmSync(file)
  t.deepEqual(look(), [['pots'], ['a']])
  t.deepEqual([told, followed, lists.health.check()], [[], [], []])
  writeFileSync(file, '[pots.a]\nsize = 1\n[pots.b]\nsize = 2\n')
  t.deepEqual(look(), [[], ['a', 'b']])
  t.deepEqual([told, followed], [[['b']], ['added']])
  for (const text of ['', ' \n', '# pots\n']) {
    writeFileSync(file, text)
    t.deepEqual(look(), [['pots'], ['a', 'b']])
  }
  t.deepEqual([told, followed, lists.health.check()], [[['b']], ['added'], []])
  rmSync(file)
  t.deepEqual(look('pots'), [[], []])
  t.deepEqual(followed, ['added', 'removed', 'removed'])
})

test('runtime-35: a file has one list', async (t) => {
  const plugin = (id: string) => testPlugin(id, { register: (ctx) => void ctx.list(pots) })
  const { daemon } = await startTestDaemon(t, { plugins: [plugin('one'), plugin('two')] })
  const report = daemon.view.plugins().find(({ id }) => id === 'two')
  t.regex(report?.reason ?? '', /config\/pots\.toml already has a list of the plugin one/u)
})

const shelf = defineList<Pot, { width?: number | undefined }>({
  ...pots,
  file: 'shelf',
  beside: object({ width: optional(integer({ min: 1 })) }),
})

test('runtime-35: what stands beside the entries is applied together, and holds while what is saved is wrong', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (text: string): void => writeFileSync(join(root, 'config', 'shelf.toml'), text)
  write('width = 3\n[pots.a]\nsize = 1\n')
  const told: (readonly string[])[] = []
  const changes: ListChange[] = []
  const lists: List<Pot, { width?: number | undefined }>[] = []
  const plugin = testPlugin('cupboard', {
    register(ctx) {
      const list = ctx.list(shelf)
      list.onChange((names) => void told.push(names))
      lists.push(list)
    },
  })
  const { daemon } = await startTestDaemon(t, { root, plugins: [plugin] })
  daemon.view.onListApplied((change) => void changes.push(change))
  const until = async (holds: () => boolean): Promise<void> => {
    for (let attempt = 0; attempt < 200 && !holds(); attempt += 1) await clock.sleep(50)
    t.true(holds(), JSON.stringify([lists[0]?.beside(), told, changes]))
  }
  const warnings = () => daemon.view.warnings().map(({ code, message }) => `${code} ${message}`)
  t.deepEqual(lists[0]?.beside(), { width: 3 })
  write('width = 4\n[pots.a]\nsize = 1\n')
  await until(() => lists[0]?.beside()?.width === 4)
  t.deepEqual(told, [[]])
  t.deepEqual(changes, [{ file: 'shelf', entries: [{ name: 'shelf.toml', change: 'changed', members: ['width'] }] }])
  write('width = 0\n[pots.a]\nsize = 2\n')
  await until(() => told.length === 2)
  t.deepEqual(told[1], ['a'])
  t.deepEqual(lists[0]?.beside(), { width: 4 })
  t.regex(warnings().join(), /^config_entry_invalid config\/shelf\.toml:1: width must be at least 1.*stays\.$/u)
  t.deepEqual([...(lists[0]?.wrong().keys() ?? [])], ['='])
  write('[pots.a]\nsize = 0\n')
  await until(() => lists[0]?.beside()?.width === undefined)
  t.deepEqual([...(lists[0]?.wrong() ?? [])], [['a', 'size must be at least 1']])
})

test('runtime-35: entries may stand in arrays of tables, each with its name; one that is there twice is nobody', (t) => {
  const spec = defineList({
    file: 'pots',
    arrays: { of: ['big_pots', 'small_pots'], name: 'name' },
    summary: 'Pots.',
    entry: object({ size: integer() }),
  })
  const read = (content: object) => partsOf({ id: 'shelf' }, spec as never, { table: content as never })
  const { tables, faults } = read({
    big_pots: [{ name: 'a', size: 1 }, { size: 2 }, { name: 'b:c' }, 7],
    small_pots: [
      { name: 'a', size: 3 },
      { name: 'd', size: 4 },
      { name: 'd', size: 5 },
    ],
  })
  t.deepEqual(tables['big_pots/a'], { size: 1 })
  t.deepEqual(tables['small_pots/a'], { size: 3 })
  t.deepEqual([...faults.keys()], ['big_pots/#2', 'big_pots/#3', 'big_pots/#4', 'small_pots/d'])
  t.is(placeOf(spec, 'small_pots/d'), '[[small_pots]] d')
  t.deepEqual(read({}).tables, {})
  t.throws(() => read({ big_pots: {} }), { message: /pots\.toml/u })
  t.regex(read({ big_pot: [] }).strange?.message ?? '', /has big_pot, and may .*; did you mean big_pots\?$/u)
})

test('runtime-35: settings stand beside a list in the file of its plugin, unless these stand in no file', (t) => {
  const read = (owner: Owner) => partsOf(owner, pots as never, { table: { pots: {}, lids: 2 } })
  const config = object({ lids: integer() })
  t.is(read({ id: 'pots', config }).rest, '{"lids":2}')
  for (const owner of [{ id: 'pots' }, { id: 'shelf', config }, { id: 'pots', config, fileIsList: true as const }])
    t.regex(read(owner).strange?.message ?? '', /may have nothing but \[pots\.…\]$/u)
})

/** The first warning of a file of this text. */
const warned = async (t: ExecutionContext, spec: ListSpec<Pot>, text: string) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', `${spec.file}.toml`), text)
  const lists = createLists({ disk: createDisk(), root })
  lists.open({ id: 'kitchen' }, spec)
  const [warning] = lists.health.check()
  return warning
}

test('runtime-35: a misspelt table beside entries is named with its line and the one that was probably meant', async (t) => {
  const warning = await warned(t, { ...shelf, beside: shelf.beside as never }, 'width = 3\n\n[potz.a]\nsize = 1\n')
  t.regex(
    warning?.message ?? '',
    /^config\/shelf\.toml:3 has potz, and may have nothing but \[pots\.…\], width; did you mean pots\?/u,
  )
})

test('runtime-35: a wrong entry is told with the line of its member, in arrays too', async (t) => {
  const wrong = await warned(t, pots, '[pots.a]\nsize = 1\n[pots.b]\nsize = 1\ncolor = "red"\n')
  t.regex(wrong?.message ?? '', /^config\/pots\.toml:5: \[pots\.b\] color is not a known field/u)
  const { table: _, ...rest } = pots
  const arrays = { of: ['big_pots'], name: 'name' }
  const text = '[[big_pots]]\nname = "a"\nsize = 1\n[[big_pots]]\nname = "b"\nsize = 0\n'
  const inArray = await warned(t, { ...rest, arrays }, text)
  t.regex(inArray?.message ?? '', /^config\/pots\.toml:6: \[\[big_pots\]\] b size must be at least 1/u)
})

test('runtime-8: the action of a wrong entry names its file', async (t) => {
  const warning = await warned(t, pots, '[pots.a]\nsize = 0\n')
  t.is(warning?.action, 'Correct config/pots.toml: it is read again when it is saved.')
})

test('runtime-35: a misspelt member of a variant is told with the one of that variant which was probably meant', async (t) => {
  const lid = tagged('type', {
    glass: object({ type: literal('glass'), thickness: optional(integer()) }),
    steel: named('SteelLid', object({ type: literal('steel'), thick_mm: optional(integer()) })),
  })
  const spec = { ...pots, entry: object({ size: integer(), lid: optional(doc(lid, 'A lid.')) }) }
  const told = async (type: string) =>
    (await warned(t, spec, `[pots.a]\nsize = 1\n\n[pots.a.lid]\ntype = "${type}"\nthikness = 2\n`))?.message ?? ''
  const said = /^config\/pots\.toml:6: \[pots\.a\] lid\.thikness is not a known field/u
  t.regex(await told('glass'), new RegExp(`${said.source}; did you mean lid\\.thickness\\?`, 'u'))
  t.regex(await told('steel'), said)
  t.notRegex(await told('steel'), /thickness/u)
})
