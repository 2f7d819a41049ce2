/** The word list has the nouns that people meet on the wire, on disk and among plugins, and no others. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { gather } from '../../docs/make/gather.js'
import { sources } from '../conventions/sources.js'
import { repository, textOf } from '../support/docs.js'

const page = textOf('docs/words.md')
const [general = '', domains = ''] = page.split('## Domains of errors')
const wordsIn = (text: string): string[] => [...text.matchAll(/^\| \*\*(.+?)\*\* \|/gmu)].map(([, word = '']) => word)

/** What one says that is done, and names that others gave. */
const noNouns = new Set([
  'v1',
  'healthz',
  'readyz',
  'json',
  'openapi',
  'check',
  'cancel',
  'resolve',
  'end',
  'stop',
  'interrupt',
  'pause',
  'resume',
  'trigger',
  'prune',
  'publish',
  'validate',
  'refresh',
  'revoke',
  'interrupted',
  'updated',
  'state',
  'changed',
  'epoch',
  'activity',
  'http',
  'events',
  'cli',
  'auth',
])

const singular = (noun: string): string => noun.replace(/ies$/u, 'y').replace(/s$/u, '')
const partsOf = (name: string): string[] => name.replace(/@\d+$/u, '').split(/[/._-]/u)
const none = (t: ExecutionContext, faults: readonly string[]): void => {
  t.deepEqual(faults, [], `\n${faults.join('\n')}`)
}

test('every noun of routes, events, stored files, points, services and folders is in the word list', async (t) => {
  const { operations, modules, plugins, core } = await gather()
  const names = [
    ...operations.flatMap(({ path }) =>
      path.split('/').filter((segment) => segment !== '' && !segment.startsWith('{')),
    ),
    ...modules.events.map(({ value }) => value.name),
    ...modules.points.map(({ value }) => value.point),
    ...modules.tokens.map(({ value }) => value.token),
    ...[core, ...plugins.map(({ declared }) => declared)].flatMap(({ collections, streams, documents, blobs }) => [
      ...[...collections, ...streams].map(({ name }) => name),
      ...documents,
      ...blobs,
    ]),
    ...readdirSync(join(repository, 'core'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  ]
  const known = new Set(
    wordsIn(general)
      .flatMap((word) => [word, ...word.split(/[ -]/u)])
      .flatMap((word) => [word, singular(word)])
      .concat(['todo', 'statu']),
  )
  none(
    t,
    [...new Set(names.flatMap(partsOf))].filter(
      (noun) => !noNouns.has(noun) && !known.has(noun) && !known.has(singular(noun)),
    ),
  )
})

test('every word of the list is used, and stands in it once', (t) => {
  const text = sources.map((source) => source.text).join('\n')
  const words = wordsIn(general)
  none(
    t,
    words.filter((word) => !new RegExp(word.replaceAll(/[ -]/gu, '[ _-]?'), 'iu').test(text)),
  )
  const things = wordsIn(general.split('## Plugins')[0] ?? '')
  t.is(new Set(things).size, things.length)
})

test('the domains of errors are those that the tables name', async (t) => {
  const { modules } = await gather()
  t.deepEqual(
    wordsIn(domains).toSorted(),
    [...new Set(modules.errors.flatMap(({ value }) => value.spec.domain ?? []))].toSorted(),
  )
})
