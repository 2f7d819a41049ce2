/** Where in a TOML file a member stands: the parser gives values without their places. */
import { parse } from 'smol-toml'

const part = /"(?:[^"\\]|\\.)*"|'([^']*)'|[^.\s"']+/gu
const header = /^\s*(\[\[?)((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\]"'])+)\]/u
const member = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+))*)\s*=/u

/** What stands in double quotes may be written with escapes. */
const unquoted = (quoted: string): string => {
  try {
    return String(parse(`it = ${quoted}`)['it'])
  } catch {
    return quoted
  }
}
const partsOf = (name: string): string[] =>
  [...name.matchAll(part)].map(([all, plain]) => plain ?? (all.startsWith('"') ? unquoted(all) : all))

/** Each line that begins a table or gives a member, with its path as problems name it. */
function* placesOf(text: string): Generator<{ readonly path: string; readonly line: number }> {
  const counts = new Map<string, number>()
  let table: readonly string[] = []
  for (const [at, content] of text.split('\n').entries()) {
    const [, bracket, name = ''] = header.exec(content) ?? []
    if (bracket !== undefined) {
      const parts = withNumbers(partsOf(name), counts)
      table = bracket === '[[' ? [...parts, next(parts.join('.'), counts)] : parts
      yield { path: table.join('.'), line: at + 1 }
    }
    const [, given] = member.exec(content) ?? []
    if (given !== undefined) yield { path: [...table, ...partsOf(given)].join('.'), line: at + 1 }
  }
}

const next = (path: string, counts: Map<string, number>): string => {
  const count = counts.get(path) ?? 0
  counts.set(path, count + 1)
  return String(count)
}

/** `hooks.stop.executor` is of the last of the `hooks.stop`. */
const withNumbers = (parts: readonly string[], counts: ReadonlyMap<string, number>): string[] => {
  const path: string[] = []
  for (const [at, name] of parts.entries()) {
    path.push(name)
    const count = at + 1 < parts.length ? counts.get(path.join('.')) : undefined
    if (count !== undefined) path.push(String(count - 1))
  }
  return path
}

/**
 * The line, from 1, that gives the member of a dotted path; if none does, the first one that gives something in it, or
 * else the last one that begins what it is in.
 */
export const lineOf = (text: string, path: string): number | undefined => {
  let [around, inside]: { readonly path: string; readonly line: number }[] = []
  for (const place of placesOf(text))
    if (`${path}.`.startsWith(`${place.path}.`) && place.path.length > (around?.path.length ?? 0)) around = place
    else if (place.path.startsWith(`${path}.`)) inside ??= place
  return around?.path === path ? around.line : (inside ?? around)?.line
}
