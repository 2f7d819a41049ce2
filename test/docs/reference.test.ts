/** The reference is what the code says, and what the guides point at is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { codesOf, gather, type Facts } from '../../docs/make/gather.js'
import { anchor, fieldRows } from '../../docs/make/markdown.js'
import { inlineSchema } from '../../core/base/schema.js'
import { streamFrames as frames } from '../../core/http/openapi/stream-events.js'
import { makeGuides, makeReference } from '../../docs/make/reference.js'
import { sources } from '../conventions/sources.js'
import { startTestDaemon } from '../support/daemon.js'
import { pages, repository, textOf } from '../support/docs.js'
import { openStream } from '../support/sse.js'

let known: Promise<Facts> | undefined
const facts = (): Promise<Facts> => (known ??= gather())

const reference = readdirSync(join(repository, 'docs/reference')).map((name) => `docs/reference/${name}`)
const all = [...pages, ...reference]
const none = (t: ExecutionContext, faults: readonly string[]): void => {
  t.deepEqual(faults, [], `\n${faults.join('\n')}`)
}

test('what is committed is what npm run docs would make', async (t) => {
  const made = await makeReference(await facts())
  t.deepEqual(reference.toSorted(), [...made.keys()].toSorted())
  none(
    t,
    [...made, ...makeGuides()]
      .filter(([path, text]) => textOf(path) !== text)
      .map(([path]) => `${path} differs: run npm run docs`),
  )
})

test('the reference of the configuration marks what its tables and lists must have', async (t) => {
  const { plugins } = await facts()
  const structs = plugins.flatMap(({ plugin: { config }, declared: { lists } }) => [
    ...(config === undefined ? [] : [config]),
    ...lists.flatMap(({ entry, beside }) => (beside === undefined ? [entry] : [entry, beside])),
  ])
  const needed = structs
    .flatMap((struct) => fieldRows(inlineSchema(struct)))
    .flatMap(([field = '', , need = '']) => (need === '' ? [] : [field]))
  t.true(needed.includes('`prices[].input`'))
  const marked = textOf('docs/reference/configuration.md').match(/^\| .* \| required \| .*$/gmu) ?? []
  t.deepEqual(marked.map((line) => line.split(' ')[1]).toSorted(), needed.toSorted())
})

test(
  'every table of errors is in the reference, every code that a route may answer with is in a table, and none is ' +
    'unused',
  async (t) => {
    const { modules, operations, shared } = await facts()
    const calls = sources
      .filter(({ path }) => path !== 'core/base/errors.ts')
      .flatMap(({ path, text }) => (text.match(/\bdefineErrors\(\{/gu) ?? []).map(() => path))
    t.deepEqual(
      [...new Set(modules.errors.map(({ file, symbol }) => `${file} ${symbol}`))]
        .map((name) => name.split(' ')[0])
        .toSorted(),
      calls.toSorted(),
    )
    const codes = new Set(modules.errors.map(({ value }) => value.code))
    const wire = [
      ...shared,
      ...operations.flatMap(({ operation }) => Object.values<any>(operation['responses']).flatMap(codesOf)),
    ]
    none(
      t,
      wire.filter((code) => !codes.has(code)),
    )
    const text = sources.map((source) => source.text).join('\n')
    none(
      t,
      [...codes].filter((code) => !new RegExp(`(?:\\.|\\[')${code}\\b`, 'u').test(text)),
    )
  },
)

test('every event is in the reference, with the frames of the streams themselves', async (t) => {
  const { modules } = await facts()
  const calls = sources.flatMap(({ path, text }) =>
    path === 'core/events/contract.ts' ? [] : (text.match(/\bdefineEvent(?:<[^(]*>)?\(/gu) ?? []),
  )
  t.is(modules.events.length, calls.length)
  const written = sources
    .filter(({ path }) => path.startsWith('core/'))
    .flatMap(({ text }) => [...text.matchAll(/event: (\w+)\\n/gu)].map(([, name]) => name))
  t.deepEqual(frames.map(({ name }) => name).toSorted(), [...new Set(written)].toSorted())
  const daemon = await startTestDaemon(t)
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream?cursor=1' })
  t.true(await stream.until(1))
  stream.close()
  const { type, ...rest } = stream.frames[0]?.data ?? {}
  t.is(type, 'stream_gap')
  t.deepEqual(
    Object.keys(rest).toSorted(),
    Object.keys(Object(frames.find(({ name }) => name === 'stream_gap')?.data['properties'])).toSorted(),
  )
})

/** Headings and named places of a page. */
const placesOf = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/^#+ (.*)$/gmu)].map(([, heading = '']) => anchor(heading)),
    ...[...text.matchAll(/<a id="([^"]+)">/gu)].map(([, id = '']) => id),
  ])

const withoutBlocks = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gmu, '')

test('every link leads to a page and a place that exist', (t) => {
  none(
    t,
    all.flatMap((page) =>
      [...withoutBlocks(textOf(page)).matchAll(/\]\(([^)\s]+)\)/gu)].flatMap(([, target = '']) => {
        if (/^https?:/u.test(target)) return []
        const [path = '', place] = target.split('#')
        const file = path === '' ? page : normalize(join(dirname(page), path))
        if (!existsSync(join(repository, file))) return [`${page}: ${target}`]
        return place === undefined || placesOf(textOf(file)).has(place) ? [] : [`${page}: ${target}`]
      }),
    ),
  )
})

test('every file of ours that a page names exists', (t) => {
  const named = /(?<![\w./-])(?:core|plugins|test|docs|state-example)\/[\w./-]*[\w/]/gu
  none(
    t,
    all.flatMap((page) =>
      [...textOf(page).matchAll(named)]
        .map(([path]) => path)
        .filter((path) => !existsSync(join(repository, path.replace(/\.js$/u, '.ts'))))
        .map((path) => `${page}: ${path}`),
    ),
  )
})

test('what a page finds in a file is in that file', (t) => {
  const named = /`(\w+)` in `((?:core|plugins)\/[\w./-]+\.ts)`/gu
  const found = all.flatMap((page) =>
    [...textOf(page).matchAll(named)].map(([, symbol = '', path = '']) => ({ page, symbol, path })),
  )
  t.true(found.length > 30)
  none(
    t,
    found
      .filter(({ symbol, path }) => !new RegExp(`\\b${symbol}\\b`, 'u').test(textOf(path)))
      .map(({ page, symbol, path }) => `${page}: ${symbol} is not in ${path}`),
  )
})

/** Names of the members of an interface in `core/plugin/contract.ts`. */
const membersOf = (name: string): string[] => {
  const [, body = ''] =
    new RegExp(`export interface ${name}<[^\\n]*\\{\\n([\\s\\S]*?)^\\}`, 'mu').exec(
      textOf('core/plugin/contract.ts'),
    ) ?? []
  return [...body.matchAll(/^  (?:readonly )?(\w+)\??[:(<]/gmu)].map(([, member = '']) => member)
}

/** Names in the first column of the table below a heading. */
const rowsBelow = (page: string, heading: string): string[] => {
  const [, section = ''] = textOf(page).split(`\n## ${heading}\n`)
  const [table = ''] = /^\|[\s\S]*?(?=\n\n)/mu.exec(section) ?? []
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)/gu)].map(([, member = '']) => member))
}

test('the guide to plugins explains every member of a plugin and of its context, and no other', (t) => {
  t.true(membersOf('PluginContext').length > 10)
  t.deepEqual(
    rowsBelow('docs/plugin-guide.md', 'Everything in `ctx`').toSorted(),
    membersOf('PluginContext').toSorted(),
  )
  t.deepEqual(rowsBelow('docs/plugin-guide.md', 'The declaration').toSorted(), membersOf('Plugin').toSorted())
})

test('a page about the daemon tells nothing about a machine that it was made on', (t) => {
  none(
    t,
    all.filter((page) => /\/(?:tmp|home|root|work|Users)\/\w/u.test(readFileSync(join(repository, page), 'utf8'))),
  )
})
