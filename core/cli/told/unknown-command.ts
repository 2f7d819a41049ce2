/** The refusal of words that are no command; it says what was most likely meant, or what there is. */
import type { Command } from '../../plugin/command.js'
import type { Problem } from '../../base/errors.js'
import { nearest } from '../../base/words/nearest.js'
import { errors } from './errors.js'

type Named = Pick<Command, 'path'>

/** `--to <folder>`; `--at, --every or --cron`. */
export const either = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((word) => word !== '').join(' or ')

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

const meantBy = (words: readonly string[], near: readonly Named[], shared: number): string | undefined =>
  nearestIn(words, near, shared) ??
  nearest(words.slice(0, 2).join(' '), ['serve', ...near.map(({ path }) => path.join(' '))]) ??
  (shared > 0 ? near[0]?.path.join(' ') : undefined)

/** For words that no command begins with. */
export const unknownCommand = (words: readonly string[], commands: readonly Named[]): Problem => {
  const shared = Math.max(0, ...commands.map((command) => sharedWith(words, command)))
  const near = commands.filter((command) => sharedWith(words, command) === shared)
  const [first, all] = [words.slice(0, shared).join(' '), words.slice(0, Math.max(2, shared + 1)).join(' ')]
  const more = [...new Set(near.map(({ path }) => path[shared] ?? ''))]
  if (shared === words.length) return errors.subcommand_missing({ details: { command: first, more: either(more) } })
  if (shared > 1)
    return errors.command_unknown({ details: { command: all, hint: `; say holdfast ${first} ${either(more)}` } })
  const meant = meantBy(words, near, shared)
  const hint = meant === undefined ? '; see holdfast --help' : `; did you mean holdfast ${meant}?`
  return errors.command_unknown({ details: { command: all, hint } })
}
