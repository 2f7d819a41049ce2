/** Number of single-character edits between two words. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const same = a[i] === b[j] ? 0 : 1
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + same))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

const ranked = (word: string, known: Iterable<string>) =>
  [...known].map((name) => ({ name, away: distance(word, name) })).toSorted((a, b) => a.away - b.away)

/** Of these names the `most` that are written most alike, the likest first. */
export const nearestOf = (word: string, known: Iterable<string>, most: number): string[] =>
  ranked(word, known)
    .slice(0, most)
    .map(({ name }) => name)

/** The known name that was most likely meant; undefined if none is close. */
export const nearest = (word: string, known: Iterable<string>): string | undefined => {
  const [best] = ranked(word, known)
  return best !== undefined && best.away <= Math.max(2, word.length / 3) ? best.name : undefined
}

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
