/** The refusal of words that are no command; it says what was most likely meant, or what there is. */
import type { Command } from '../../plugin/command.js'
import type { Problem } from '../../base/errors.js'
import { nearest } from '../../base/words/nearest.js'
import { isDashed, unknownFlag } from '../../base/text/unknown-flag.js'
import { errors } from './errors.js'

type Named = Pick<Command, 'path'>

/** `--to <folder>`; `--at, --every or --cron`. */
export const either = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((word) => word !== '').join(' or ')

/** What other programs call a first word of ours. */
const otherNames: Readonly<Record<string, string>> = { config: 'runtime', settings: 'runtime' }
/** Places of a word, and words behind it, that are told. */
const [mostPlaces, mostNext] = [3, 8]

/** How many words both begin with. */
const sharedWith = (words: readonly string[], { path }: Named): number => {
  const end = path.findIndex((word, at) => words[at] !== word)
  return end < 0 ? path.length : end
}

/** Of commands with the same first words, the one that as many more words come closest to: the longest first. */
const nearestIn = (words: readonly string[], near: readonly Named[], shared: number): string | undefined => {
  const lengths = [...new Set(near.map(({ path }) => path.length))].filter((length) => length <= words.length)
  for (const length of lengths.toSorted((a, b) => b - a)) {
    const ends = near.filter(({ path }) => path.length === length).map(({ path }) => path.slice(shared).join(' '))
    const end = nearest(words.slice(shared, length).join(' '), ends)
    if (end !== undefined) return [...words.slice(0, shared), end].join(' ')
  }
  return undefined
}

/** Of commands with the same first words, those that end as the next word does: there may be a word between. */
const endingLike = (word: string, near: readonly Named[]): readonly string[] => {
  const end = nearest(
    word,
    near.map(({ path }) => path.at(-1) ?? ''),
  )
  return near.filter(({ path }) => path.at(-1) === end).map(({ path }) => `holdfast ${path.join(' ')}`)
}

/** First words that one word alone means, such as `run`, `st` and `sessoins`. Every word is near a short one. */
const firstsLike = (words: readonly string[], commands: readonly Named[]): readonly string[] => {
  const [first = ''] = words
  if (words.length > 1 || first.length < 2) return []
  const firsts = [...new Set(['serve', ...commands.map(({ path: [word = ''] }) => word)])]
  if (firsts.includes(`${first}s`)) return [`${first}s`]
  const begun = firsts.filter((word) => word.startsWith(first))
  const near = first.length > 3 ? nearest(first, firsts) : undefined
  return begun.length > 0 && begun.length <= mostPlaces ? begun : near === undefined ? [] : [near]
}

const meantBy = (given: readonly string[], near: readonly Named[], shared: number): readonly string[] => {
  const words = given.map((word) => word.toLowerCase())
  const [first, next = ''] = [words.slice(0, 2).join(' '), words[shared]]
  const firsts = shared > 0 ? [] : firstsLike(words, near)
  if (firsts.length > 0) return firsts.map((word) => `holdfast ${word}`)
  const found =
    nearestIn(words, near, shared) ??
    (shared > 0 ? undefined : nearest(first, ['serve', ...near.map(({ path }) => path.join(' '))]))
  if (found !== undefined) return [`holdfast ${found}`]
  return shared > 0 ? endingLike(next, near) : []
}

/** What stands before a word that is the second or a later one of commands. */
const placesOf = (word: string, commands: readonly Named[]): readonly (readonly string[])[] => {
  const places = commands.flatMap(({ path }) => {
    const at = path.indexOf(word, 1)
    return at < 1 ? [] : [path.slice(0, at).join(' ')]
  })
  return [...new Set(places)].map((place) => place.split(' '))
}

/** How the words go on where they begin below others, or under another name; undefined if they do nowhere. */
const belowHint = (words: readonly string[], commands: readonly Named[]): string | undefined => {
  const [first = '', ...rest] = words
  const other = Object.hasOwn(otherNames, first) ? otherNames[first] : undefined
  const wholes =
    other === undefined ? placesOf(first, commands).map((place) => [...place, ...words]) : [[other, ...rest]]
  if (wholes.length === 0 || wholes.length > mostPlaces) return undefined
  const known = (whole: readonly string[]): number => Math.max(...commands.map((one) => sharedWith(whole, one)))
  const least = Math.min(...wholes.map((whole) => whole.length - known(whole)))
  const found = wholes
    .filter((whole) => whole.length - known(whole) === least)
    .map((whole) => whole.slice(0, known(whole)))
  const [only = [], ...more] = found
  const isWhole = commands.some(({ path }) => path.join(' ') === only.join(' '))
  if (more.length > 0 || isWhole) return `; did you mean ${either(found.map((one) => `holdfast ${one.join(' ')}`))}?`
  const below = commands.filter((command) => sharedWith(only, command) === only.length)
  const next = [...new Set(below.map(({ path }) => path[only.length] ?? ''))]
  const group = `holdfast ${only.join(' ')}`
  return next.length > mostNext ? `; see ${group} --help` : `; say ${group} ${either(next)}`
}

/** For words that no command begins with, and flags with one dash in their place. */
export const unknownCommand = (words: readonly string[], commands: readonly Named[]): Problem => {
  const shared = Math.max(0, ...commands.map((command) => sharedWith(words, command)))
  const near = commands.filter((command) => sharedWith(words, command) === shared)
  const [first, all] = [words.slice(0, shared).join(' '), words.slice(0, Math.max(2, shared + 1)).join(' ')]
  const more = [...new Set(near.map(({ path }) => path[shared] ?? ''))]
  const next = words[shared] ?? ''
  if (isDashed(next)) return unknownFlag(next, { command: first, known: [] })
  if (shared === words.length) return errors.subcommand_missing({ details: { command: first, more: either(more) } })
  const meant = shared > 1 ? [] : meantBy(words, near, shared)
  const known = shared > 0 ? `; say holdfast ${first} ${either(more)}` : '; see holdfast --help'
  const below = shared > 0 ? undefined : belowHint(words, commands)
  if (below !== undefined) return errors.command_unknown({ details: { command: all, hint: below } })
  const hint = meant.length === 0 ? known : `; did you mean ${either(meant)}?`
  return errors.command_unknown({ details: { command: all, hint } })
}

/** True of more words than a command takes that others go on from: one of those was meant. */
export const isSlip = (
  words: readonly string[],
  { path: found, args = [] }: Pick<Command, 'path' | 'args'>,
  commands: readonly Named[],
): boolean =>
  words.length > found.length &&
  args.length === 0 &&
  commands.some(({ path }) => path.length > found.length && found.every((word, at) => path[at] === word))
