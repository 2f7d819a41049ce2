/** What the guide and the reference say of points and services: ids, types, and where these are imported from. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { readModules, typeOf, type Found } from '../../docs/make/modules.js'
import { freshRoot } from '../support/daemon.js'
import { repository, textOf } from '../support/docs.js'

interface Named {
  readonly symbol: string
  /** As a plugin writes it: `{ point: 'tools@1' }`. */
  readonly id: string
  readonly kind: 'Point' | 'Token'
  readonly type: string
  readonly from: string | undefined
}

const namesOf = async (): Promise<readonly Named[]> => {
  const { points, tokens } = await readModules()
  const name = (found: Found<unknown>, id: string, kind: Named['kind']): Named => ({
    symbol: found.symbol,
    id,
    kind,
    type: typeOf(found),
    from: found.from,
  })
  return [
    ...points.map((found) => name(found, `{ point: '${found.value.point}' }`, 'Point')),
    ...tokens.map((found) => name(found, `{ token: '${found.value.token}' }`, 'Token')),
  ]
}

const rows = (page: string): readonly string[][] =>
  [...page.matchAll(/^\| `(\w+)` \| `(\{ (?:point|token): '[^']+' \})` \| `([^`]+)` \| `([^`]+)` \|/gmu)].map(
    ([, ...cells]) => cells,
  )

test('the guide names points and services as the code does', async (t) => {
  const known = await namesOf()
  const told = rows(textOf('docs/plugin-guide.md'))
  t.true(told.length > 10)
  for (const row of told) {
    const found = known.find(({ id }) => id === row[1])
    t.deepEqual(row, [found?.symbol, found?.id, found?.type, found?.from], row[1])
  }
})

test('the guide names every point and service that its examples take or give', async (t) => {
  const page = textOf('docs/plugin-guide.md')
  const told = new Set(rows(page).map(([, id]) => id))
  const ours = new Set((await namesOf()).map(({ id }) => id))
  const used = page.match(/\{ (?:point|token): '[^']+' \}/gu) ?? []
  t.deepEqual(
    used.filter((id) => ours.has(id) && !told.has(id)),
    [],
  )
})

test('every type of a point or service can be imported from where the reference says', async (t) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true })
  symlinkSync(repository, join(folder, 'node_modules', 'holdfast'))
  symlinkSync(join(repository, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  const known = await namesOf()
  t.true(known.every(({ from }) => from !== undefined))
  const lines = known.flatMap(({ id, kind, type, from = '' }, at) => {
    const words = new Set(type.match(/\b[A-Z]\w*/gu))
    const renamed = [...words].map((word) => `${word} as ${word}${at}`)
    const written = type.replaceAll(/\b[A-Z]\w*/gu, (word) => `${word}${at}`)
    return [`import type { ${renamed.join(', ')} } from '${from}'`, `export const n${at}: ${kind}<${written}> = ${id}`]
  })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'names.ts'), `import type { Point, Token } from 'holdfast/plugin'\n${lines.join('\n')}\n`)
  const flags = ['--noEmit', '--module', 'nodenext', '--target', 'es2023', '--strict', '--skipLibCheck']
  try {
    execFileSync(join(repository, 'node_modules/.bin/tsc'), ['names.ts', ...flags], { cwd: folder, encoding: 'utf8' })
    t.pass()
  } catch (error) {
    t.fail(String(Reflect.get(Object(error), 'stdout')))
  }
})
