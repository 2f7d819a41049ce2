/** Text that commands print: lines to paste into a shell, counts, spans of time. */
import { visibleLine } from './visible.js'

const safe = /^[A-Za-z0-9_.:/@-]+$/u
const unsafe = /[^A-Za-z0-9_.:/@-]/gu

const octal = (sign: string): string =>
  [...Buffer.from(sign)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/**
 * One word for a POSIX shell: whatever it holds, the shell takes it as it stands. Signs that nobody sees, and that a
 * terminal is not given, are written as their bytes: what stands on the screen is what is pasted.
 */
export const shellWord = (word: string): string => {
  if (safe.test(word)) return word
  const isSeen = visibleLine(word) === word || word.endsWith('\n')
  return isSeen ? `'${word.replaceAll("'", `'\\''`)}'` : `"$(printf '${word.replace(unsafe, octal)}')"`
}

/** An id as it stands in lists: what is seen as it is, what is not as a word to paste. */
export const idWord = (id: string): string => (visibleLine(id) === id ? id : shellWord(id))

/**
 * A command line that a person may paste into a POSIX shell. `command` is ours, with its flags; `args` may be anybody's
 * and are quoted where a shell or the command line would take them for something else.
 */
export const commandLine = (command: string, ...args: readonly string[]): string =>
  ['holdfast', command, ...(args.some((arg) => arg.startsWith('-')) ? ['--'] : []), ...args.map(shellWord)].join(' ')

/** The text with a period at its end, once; a question is one already. */
export const sentence = (text: string): string => (/[.?]$/u.test(text) ? text : `${text}.`)

/** `1 run`, `2 runs`; `many` where an s is not enough. */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

const units: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]
/** A span of milliseconds in its largest unit. */
export const span = (ms: number): string => {
  const [size, unit] = units.find(([least]) => ms >= least) ?? [1000, 's']
  return `${Math.floor(ms / size)} ${unit}`
}

/** The same in the largest unit that it is whole numbers of; undefined if there is none. */
export const wholeSpan = (ms: number): string | undefined => {
  const found = ms > 0 ? units.find(([size]) => ms % size === 0) : undefined
  return found && `${ms / found[0]} ${found[1]}`
}

/** At most so many characters, to the end of a word where one is near, with a mark where something is cut. */
export const cutAtWord = (text: string, most: number): string => {
  if (text.length <= most) return text
  const cut = text.slice(0, most - 2).replace(/[\ud800-\udbff]$/u, '')
  const end = cut.lastIndexOf(' ')
  return `${end > most / 2 ? cut.slice(0, end) : cut} …`
}
