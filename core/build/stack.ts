/** Stacks of the program told in lines of the sources. The map of a file is read when the first stack names it. */
import path from 'node:path'
import { tellPlacesBy } from '../base/text/thrown.js'
import type { MappedFiles } from './program.js'
import type { Section } from './parts.js'

interface RawMap {
  readonly sources: readonly string[]
  readonly mappings: string
}
/** For each line of the program: column, source, line and column there, one after the other. */
type Lines = readonly Int32Array[]

const digits = new Int8Array(128).fill(-1)
for (const [at, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries())
  digits[digit.charCodeAt(0)] = at

/** The numbers of a segment: base 64, five bits each, the lowest bit is the sign. */
const numbersOf = (segment: string): number[] => {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (let at = 0; at < segment.length; at += 1) {
    const digit = digits[segment.charCodeAt(at)] ?? 0
    value |= (digit & 31) << shift
    shift += 5
    if (digit >= 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    ;[value, shift] = [0, 0]
  }
  return numbers
}

const decode = (mappings: string): Lines => {
  const place = [0, 0, 0, 0]
  return mappings.split(';').map((line) => {
    place[0] = 0
    return Int32Array.from(
      line.split(',').flatMap((segment) => {
        for (const [at, number] of numbersOf(segment).slice(0, 4).entries()) place[at] = (place[at] ?? 0) + number
        return place
      }),
    )
  })
}

/** `source:line:column` of a place in the program, all counted from one. */
const createLookup = (folder: string, { sources, mappings }: RawMap) => {
  const lines = decode(mappings)
  return (line: number, column: number): string | undefined => {
    const segments = lines[line - 1] ?? new Int32Array()
    let found = -1
    for (let at = 0; at < segments.length && (segments[at] ?? 0) < column; at += 4) found = at
    const [, source = -1, sourceLine = 0, sourceColumn = 0] = found < 0 ? [] : segments.subarray(found, found + 4)
    const name = sources[source]
    return name && `${path.resolve(folder, name)}:${sourceLine + 1}:${sourceColumn + 1}`
  }
}

type Lookup = ReturnType<typeof createLookup>

/** The same for a file of several parts, each with its map: that of a part is decoded when it is needed. */
const createLookups = (folder: string, sections: readonly Section[]): Lookup => {
  const lookups = new Map<number, Lookup>()
  return (line, column) => {
    const section = sections.findLast((each) => each.line < line)
    if (section === undefined) return undefined
    const known = lookups.get(section.line) ?? createLookup(folder, JSON.parse(section.map))
    lookups.set(section.line, known)
    return known(line - section.line + section.skipped, column)
  }
}

/** From now on stacks that are told name places in the sources. */
export const mapStacks = ({ names, folder, readMap }: MappedFiles): void => {
  const lookups = new Map<string, Lookup>()
  const lookupOf = (name: string): Lookup => {
    try {
      return createLookups(folder, JSON.parse(readMap(name)))
    } catch {
      return () => undefined
    }
  }
  const find = (name: string, line: number, column: number): string | undefined => {
    const lookup = lookups.get(name) ?? lookupOf(name)
    lookups.set(name, lookup)
    return lookup(line, column)
  }
  const place = new RegExp(`\\b(${names.join('|').replaceAll('.', '\\.')}):(\\d+):(\\d+)`, 'gu')
  tellPlacesBy((stack) =>
    stack.replace(place, (found, name, line, column) => find(name, Number(line), Number(column)) ?? found),
  )
}
