/** Plain copies of what code that no compiler has checked returned. */
import { fault } from '../assert.js'
import { wellFormed } from '../text/well-formed.js'
import { isJsonObject, type Json, type JsonObject } from '../schema.js'

/** Bytes of JSON, and levels of lists and objects, that a copy has at most where nothing else is said. */
const [usualBytes, usualLevels] = [1024 * 1024, 64]

type Path = readonly (string | number)[]

interface Copying {
  /** Bytes of JSON that it may still have. */
  left: number
  readonly most: number
  readonly levels: number
}

const spend = (copying: Copying, bytes: number): void => {
  copying.left -= bytes
  if (!(copying.left >= 0)) throw fault(`what it returned has more than ${copying.most} bytes`)
}

/** What is long is not written down to be measured. */
const textIn = (copying: Copying, given: string): string => {
  if (given.length > copying.left) spend(copying, given.length)
  const text = wellFormed(given)
  spend(copying, Buffer.byteLength(JSON.stringify(text)))
  return text
}

/** A class would be written as what it happens to have, a promise as nothing at all. */
const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

const refuse = (path: Path, is: string): never => {
  throw fault(`what it returned is not plain JSON: ${path.join('.').slice(0, 200) || 'it'} is ${is}`)
}

const listOf = (copying: Copying, list: readonly unknown[], path: Path): Json => {
  const { length } = list
  spend(copying, 2 + length)
  return Array.from({ length }, (_, at) => copyOf(copying, list[at], [...path, at]))
}

const objectOf = (copying: Copying, given: object, path: Path): Json => {
  spend(copying, 2)
  const members = Object.keys(given).flatMap((name) => {
    const value: unknown = Reflect.get(given, name)
    if (value === undefined) return []
    spend(copying, 2)
    return [[textIn(copying, name), copyOf(copying, value, [...path, name])] as const]
  })
  return Object.fromEntries(members)
}

const copyOf = (copying: Copying, value: unknown, path: Path): Json => {
  if (typeof value === 'string') return textIn(copying, value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    spend(copying, String(value).length)
    return value
  }
  if (typeof value !== 'object')
    return refuse(path, typeof value === 'number' ? 'no finite number' : `a ${typeof value}`)
  if (path.length >= copying.levels) return refuse([], `more than ${copying.levels} levels deep`)
  if (Array.isArray(value)) return listOf(copying, value, path)
  return isPlain(value) ? objectOf(copying, value, path) : refuse(path, 'neither a list nor a plain object')
}

/**
 * A copy that is JSON and nothing else, whatever the value does later: of text, finite numbers, lists and plain
 * objects, whose members that are undefined are left out; half of a character in a text becomes U+FFFD, for strict
 * readers take nothing that has one. Throws what is wrong with it, in a sentence: also that it has
 * more than so many bytes. A circle is a value that is too deep.
 */
export const plainCopy = (value: unknown, mostBytes = usualBytes, levels = usualLevels): Json =>
  copyOf({ left: mostBytes, most: mostBytes, levels }, value, [])

/** The same of an object. */
export const plainObject = (value: unknown, mostBytes: number): JsonObject => {
  const copy = plainCopy(value, mostBytes)
  return isJsonObject(copy) ? copy : refuse([], 'no object')
}
