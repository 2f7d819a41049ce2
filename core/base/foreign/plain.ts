/** Plain copies of what code that no compiler has checked returned. */
import { fault } from '../assert.js'
import { wellFormed } from '../text/well-formed.js'
import { isJsonObject, type Json, type JsonObject } from '../schema.js'

/** Bytes of JSON, and levels of lists and objects, that a copy has at most where nothing else is said. */
const [usualBytes, usualLevels] = [1024 * 1024, 64]

/** Where a value is: its name in what is above it, and how many there are above. Undefined at the top. */
interface Place {
  readonly name: string | number
  readonly above: Place | undefined
  readonly level: number
}
/** A list of the names above each value would take longer than the copy. */
const within = (above: Place | undefined, name: string | number): Place => ({
  name,
  above,
  level: (above?.level ?? 0) + 1,
})
const pathOf = (place: Place | undefined): string =>
  place === undefined ? '' : `${place.above === undefined ? '' : `${pathOf(place.above)}.`}${place.name}`

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

const refuse = (place: Place | undefined, is: string): never => {
  throw fault(`what it returned is not plain JSON: ${pathOf(place).slice(0, 200) || 'it'} is ${is}`)
}

const listOf = (copying: Copying, list: readonly unknown[], place: Place | undefined): Json => {
  const { length } = list
  spend(copying, 2 + length)
  return Array.from({ length }, (_, at) => copyOf(copying, list[at], within(place, at)))
}

const objectOf = (copying: Copying, given: object, place: Place | undefined): Json => {
  spend(copying, 2)
  const members: [string, Json][] = []
  for (const name of Object.keys(given)) {
    const value: unknown = Reflect.get(given, name)
    if (value === undefined) continue
    spend(copying, 2)
    members.push([textIn(copying, name), copyOf(copying, value, within(place, name))])
  }
  return Object.fromEntries(members)
}

const copyOf = (copying: Copying, value: unknown, place: Place | undefined): Json => {
  if (typeof value === 'string') return textIn(copying, value)
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    spend(copying, String(value).length)
    return value
  }
  if (typeof value !== 'object')
    return refuse(place, typeof value === 'number' ? 'no finite number' : `a ${typeof value}`)
  if ((place?.level ?? 0) >= copying.levels) return refuse(undefined, `more than ${copying.levels} levels deep`)
  if (Array.isArray(value)) return listOf(copying, value, place)
  return isPlain(value) ? objectOf(copying, value, place) : refuse(place, 'neither a list nor a plain object')
}

/**
 * A copy that is JSON and nothing else, whatever the value does later: of text, finite numbers, lists and plain
 * objects, whose members that are undefined are left out; half of a character in a text becomes U+FFFD, for strict
 * readers take nothing that has one. Throws what is wrong with it, in a sentence: also that it has
 * more than so many bytes. A circle is a value that is too deep.
 */
export const plainCopy = (value: unknown, mostBytes = usualBytes, levels = usualLevels): Json =>
  copyOf({ left: mostBytes, most: mostBytes, levels }, value, undefined)

/** The same of an object. */
export const plainObject = (value: unknown, mostBytes: number): JsonObject => {
  const copy = plainCopy(value, mostBytes)
  return isJsonObject(copy) ? copy : refuse(undefined, 'no object')
}
