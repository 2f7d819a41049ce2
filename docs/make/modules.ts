/** Tables of errors, events, points and tokens, found among the exports of the modules that define them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EventSpec, Point, ProblemFactory, Token } from '../../core/plugin.js'
import { unsafeCast } from '../../core/base/schema.js'

export const repository = resolve(import.meta.dirname, '../../..')

export interface Found<T> {
  /** `core` or the plugin's id, which is its folder's name. */
  readonly owner: string
  /** Source file, from the top of the repository. */
  readonly file: string
  /** The name that it is exported as. */
  readonly symbol: string
  /** The part of the package that it can be imported from; undefined if there is none. */
  readonly from: string | undefined
  readonly value: T
}

export interface Modules {
  readonly errors: readonly Found<ProblemFactory>[]
  readonly events: readonly Found<EventSpec<object>>[]
  readonly points: readonly Found<Point<unknown>>[]
  readonly tokens: readonly Found<Token<unknown>>[]
}

const compiled = resolve(import.meta.dirname, '../..')
const defining = /\bdefine(?:Errors|Event|Point|Token)\(/u

const sourceOf = (path: string): string => join(repository, relative(compiled, path).replace(/\.js$/u, '.ts'))

const files = (): string[] =>
  ['core', 'plugins']
    .flatMap((folder) => readdirSync(join(compiled, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
    .map((entry) => join(entry.parentPath, entry.name))
    // An incremental build leaves what was compiled from a file that has moved.
    .filter((path) => existsSync(sourceOf(path)))
    .toSorted()

const ownerOf = (file: string): string => /^plugins\/[^/]+\/([^/]+)\//u.exec(file)?.[1] ?? 'core'

type Shape = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Shape => typeof value === 'object' && value !== null
const isFactory = (value: unknown): value is ProblemFactory =>
  typeof value === 'function' && 'code' in value && 'spec' in value
const isTable = (value: unknown): value is Readonly<Record<string, ProblemFactory>> =>
  isObject(value) && Object.values(value).length > 0 && Object.values(value).every(isFactory)
const isEvent = (value: unknown): value is EventSpec<object> =>
  isObject(value) &&
  typeof value['name'] === 'string' &&
  typeof value['summary'] === 'string' &&
  isObject(value['data'])
const isPoint = (value: unknown): value is Point<unknown> => isObject(value) && typeof value['point'] === 'string'
const isToken = (value: unknown): value is Token<unknown> => isObject(value) && typeof value['token'] === 'string'

/** The part of the package that has what a plugin or core offers: its contract. */
const partOf = (file: string): { readonly from: string; readonly module: string } => {
  const [folder] = /^plugins\/[^/]+\/[^/]+(?=\/)/u.exec(file) ?? []
  return folder === undefined
    ? { from: 'holdfast/plugin', module: 'core/plugin.js' }
    : { from: `holdfast/${folder}`, module: `${folder}/contract.js` }
}

const placeOf = async (file: string, symbol: string, value: unknown): Promise<string | undefined> => {
  const { from, module } = partOf(file)
  const path = join(compiled, module)
  if (!existsSync(path)) return undefined
  const exported = unsafeCast<Shape>(await import(pathToFileURL(path).href))
  return exported[symbol] === value ? from : undefined
}

/** Exports of one module, each once: what a contract passes on belongs to the file that made it. */
const exportsOf = async (path: string, seen: Set<unknown>): Promise<Found<unknown>[]> => {
  const file = relative(compiled, path).replace(/\.js$/u, '.ts')
  const text = readFileSync(sourceOf(path), 'utf8')
  const module = unsafeCast<Shape>(await import(pathToFileURL(path).href))
  const own = Object.entries(module).filter(([symbol, value]) => {
    if (seen.has(value) || !new RegExp(`export const ${symbol}\\b`, 'u').test(text)) return false
    seen.add(value)
    return true
  })
  return Promise.all(
    own.map(async ([symbol, value]) => {
      const from = await placeOf(file, symbol, value)
      return { owner: ownerOf(file), file, symbol, from, value }
    }),
  )
}

const only = <T>(found: readonly Found<unknown>[], is: (value: unknown) => value is T): Found<T>[] =>
  found.flatMap((entry) => (is(entry.value) ? [{ ...entry, value: entry.value }] : []))

export const readModules = async (): Promise<Modules> => {
  const seen = new Set<unknown>()
  const found: Found<unknown>[] = []
  for (const path of files())
    if (defining.test(readFileSync(path, 'utf8'))) found.push(...(await exportsOf(path, seen)))
  return {
    errors: only(found, isTable).flatMap((table) => Object.values(table.value).map((value) => ({ ...table, value }))),
    events: only(found, isEvent),
    points: only(found, isPoint),
    tokens: only(found, isToken),
  }
}

/** The doc sentence before an export, on one line. */
export const sentenceBefore = (
  { file, symbol }: Pick<Found<unknown>, 'file' | 'symbol'>,
  keyword = '(?:const|interface|type)',
): string => {
  const text = readFileSync(join(repository, file), 'utf8')
  const [, comment = ''] =
    new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\s*export ${keyword} ${symbol}\\b`, 'u').exec(text) ?? []
  return comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/u, '').trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** The type parameter of a point or token, as it is written. */
export const typeOf = ({ file, symbol }: Found<unknown>): string =>
  new RegExp(`export const ${symbol}: (?:Point|Token)<([^=]+)> =`, 'u').exec(
    readFileSync(join(repository, file), 'utf8'),
  )?.[1] ?? ''
