/** The name that was most likely meant by one that is not known. */
import { nearest } from './words/nearest.js'

/** Written alike, and yet nobody means the one by the other. */
const opposites: readonly (readonly [string, string])[] = [
  ['min', 'max'],
  ['include', 'exclude'],
  ['enable', 'disable'],
  ['first', 'last'],
]

const areOpposite = (word: string, other: string): boolean =>
  opposites.some(([one, another]) => (word === one && other === another) || (word === another && other === one))

const contradicts = (name: string, other: string): boolean => {
  const others = other.split(/[_-]/u)
  return name.split(/[_-]/u).some((word, at) => areOpposite(word, others[at] ?? ''))
}

/** Of known names of fields or flags; never one that says the opposite. */
export const meantName = (name: string, known: Iterable<string>): string | undefined =>
  nearest(
    name,
    [...known].filter((other) => !contradicts(name, other)),
  )
