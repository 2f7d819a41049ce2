/**
 * Puts what esbuild has split into one script: each part is a function, which is called when the part is first needed.
 * What a part takes of another one it binds once, which is right because parts need each other in one direction and
 * nothing that they show changes.
 */
import { init, parse, type Import } from 'es-module-lexer'
import { fault } from '../base/assert.js'

/** A part as esbuild writes it. */
export interface Part {
  readonly name: string
  readonly text: string
  /** A source map, JSON. */
  readonly map: string
}

/** Where a part stands in a script. */
export interface Section {
  /** Lines of the script in front of the text of the part. */
  readonly line: number
  /** Lines of the text of the part that were left out at its beginning. */
  readonly skipped: number
  readonly map: string
}
export interface PartsScript {
  readonly text: string
  readonly sections: readonly Section[]
}

const [opening, closing] = [
  `(function(require,__place){'use strict'
const{part:__part,lazy:__lazy,load:__load,filename:__filename}=__place,module={exports:{}}
return{`,
  '}})',
]

const ofProgram = './'

/** `a as b, c` of an import or an export. */
const pairsOf = (list: string): (readonly [from: string, to: string])[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => one.split(/\s+as\s+/u))
    .map(([from = '', to = from]) => [from, to])

const clause =
  /^import\s*(?<whole>[\w$]+)?\s*,?\s*(?:\*\s*as\s+(?<all>[\w$]+))?\s*(?:\{(?<some>[^}]*)\})?\s*(?:from)?\s*"/u

const sourceOf = (specifier: string): string => {
  if (specifier.startsWith(ofProgram)) return `__part(${JSON.stringify(specifier.slice(ofProgram.length))})`
  if (specifier.startsWith('node:')) return `require(${JSON.stringify(specifier)})`
  throw fault(`${specifier} is not in the program, and imported by a start`)
}

/** What an import statement binds, of a part or of a module of Node. */
const bound = (statement: string, specifier: string): string => {
  const { whole, all, some } = clause.exec(statement)?.groups ?? {}
  const source = sourceOf(specifier)
  const names = [
    ...(whole === undefined ? [] : [`const ${whole}=${source}${specifier.startsWith(ofProgram) ? '.default' : ''};`]),
    ...(all === undefined ? [] : [`const ${all}=${source};`]),
  ]
  if (some === undefined) return names.length === 0 ? `${source};` : names.join('')
  const pairs = pairsOf(some).map(([from, to]) => (from === to ? from : `${from}:${to}`))
  return `${names.join('')}const{${pairs.join(',')}}=${source};`
}

const shown = (statement: string): string => {
  const { some, value } =
    /^export\s*(?:\{(?<some>[^}]*)\}|default\s+(?<value>[^]*?));?\s*$/u.exec(statement)?.groups ?? {}
  if (value !== undefined) return `return{default:${value}}`
  if (some === undefined) throw fault(`nobody can tell what a part shows: ${statement.slice(0, 100)}`)
  return `return{${pairsOf(some)
    .map(([from, to]) => `${to}:${from}`)
    .join(',')}}`
}

/** A dynamic import is a call with a name of as many letters, so that what stands behind it stays where it is. */
const callFor = ({ specifier }: Import): string => (specifier?.startsWith(ofProgram) === true ? '__lazy' : '__load')

/** The text without its imports, with all else where it was. */
const withoutImports = (text: string, imports: readonly Import[]): string => {
  let [rest, at] = ['', 0]
  for (const each of imports) {
    const { type, importStart, importEnd } = each
    const end = type === 'static' ? importEnd : importStart + 'import'.length
    const instead = type === 'static' ? text.slice(importStart, end).replaceAll(/[^\n]/gu, ' ') : callFor(each)
    rest += text.slice(at, importStart) + instead
    at = end
  }
  return rest + text.slice(at)
}

/** Lines at the beginning that say nothing. */
const emptyLines = (text: string): number => text.slice(0, text.search(/[^\s;]|$/u)).split('\n').length - 1

interface Written {
  readonly lines: readonly string[]
  /** Lines of the text of the part in front of what is written of it. */
  readonly skipped: number
}

const write = ({ name, text }: Part): Written => {
  const [imports, exports] = parse(text)
  const end = exports[0]?.exportStart ?? text.length
  const bindings = imports.flatMap(({ type, specifier, importStart, importEnd }) =>
    type === 'static' ? [bound(text.slice(importStart, importEnd), specifier)] : [],
  )
  const body = withoutImports(text, imports).slice(0, end)
  const skipped = emptyLines(body)
  const head = `${JSON.stringify(name)}:function(){${bindings.join('')}`
  const tail = end === text.length ? 'return{}' : shown(text.slice(end))
  return { lines: [head, ...body.split('\n').slice(skipped), `${tail}},`], skipped }
}

export const scriptOf = async (parts: readonly Part[]): Promise<PartsScript> => {
  await init()
  const lines = opening.split('\n')
  const sections = parts.map((part) => {
    const { lines: written, skipped } = write(part)
    const line = lines.length + 1
    lines.push(...written)
    return { line, skipped, map: part.map }
  })
  return { text: [...lines, closing, ''].join('\n'), sections }
}
