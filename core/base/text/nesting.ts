/** How much a JSON text holds, before anything reads it: many values take long, and a walk ends at some depth. */
import type { Json } from '../schema.js'

/** Deepest nesting of values that come from outside. */
export const maxDepth = 64
/** Most values in one text that comes from outside. */
const maxValues = 100_000

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

/** From after its opening quote to after the closing one; the end if it never closes. */
const afterText = (json: string, from: number): number => {
  const near = json.indexOf('"', from)
  if (near < 0 || json.charCodeAt(near - 1) !== backslash) return near < 0 ? json.length : near + 1
  for (let at = from; at < json.length; at += 1) {
    const sign = json.charCodeAt(at)
    if (sign === quote) return at + 1
    if (sign === backslash) at += 1
  }
  return json.length
}

/** False if a JSON text is nested more than `depth` levels deep (64) or has more than about `most` values (100,000). */
export const isModest = (json: string, { depth = maxDepth, most = maxValues } = {}): boolean => {
  let [level, values] = [0, 0]
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at)
    if (sign === quote) at = afterText(json, at + 1) - 1
    else if (sign === comma) values += 1
    else if (sign === openList || sign === openObject) {
      level += 1
      values += 1
      if (level > depth) return false
    } else if (sign === closeList || sign === closeObject) level -= 1
    if (values > most) return false
  }
  return true
}

const deep = '"[nested too deeply]"'

/** A JSON text in which whatever is nested more than `depth` levels deep is one text that says so. */
export const cutDeep = (json: string, depth: number): string => {
  const kept: string[] = []
  let [level, from, cutAt]: [number, number, number | undefined] = [0, 0, undefined]
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at)
    if (sign === quote) at = afterText(json, at + 1) - 1
    else if (sign === openList || sign === openObject) {
      level += 1
      if (level > depth) cutAt ??= at
    } else if (sign === closeList || sign === closeObject) {
      level -= 1
      if (level !== depth || cutAt === undefined) continue
      kept.push(json.slice(from, cutAt), deep)
      ;[from, cutAt] = [at + 1, undefined]
    }
  }
  return kept.length === 0 ? json : kept.join('') + json.slice(from)
}

/** The same depth of a value that is there already: false if it is nested more than `depth` levels deep (64). */
export const isShallow = (value: Json | undefined, depth = maxDepth): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1)))
