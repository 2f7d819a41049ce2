/** Text for a shell as the shell reads it: commands of words, whatever quotes, escapes and signs stand around them. */

interface HereDocument {
  readonly end: string
  /** Tabs may stand in front of its end. */
  readonly tabs: boolean
}

interface Reading {
  readonly text: string
  at: number
  readonly commands: string[][]
  words: string[]
  word: string | undefined
  /** Those whose text begins with the next line. */
  awaited: HereDocument[]
}

const add = (reading: Reading, text: string): void => {
  reading.word = (reading.word ?? '') + text
}
const endWord = (reading: Reading): void => {
  if (reading.word !== undefined) reading.words.push(reading.word)
  reading.word = undefined
}
const endCommand = (reading: Reading): void => {
  endWord(reading)
  if (reading.words.length > 0) reading.commands.push(reading.words)
  reading.words = []
}

/** Quotes and substitutions stand in each other. */
const nesting = /\\.|[`"()]|\$\(|'[^']*'/gsu

/** Where the double quotes end that begin there: those in a substitution are its own. */
const endOfQuotes = (text: string, begin: number): number => {
  const closers = ['"']
  nesting.lastIndex = begin + 1
  for (let found = nesting.exec(text); found !== null; found = nesting.exec(text)) {
    const [sign] = found
    const closer = closers.at(-1)
    if (sign === closer) closers.pop()
    else if (sign === '$(' || (sign === '(' && closer !== '"')) closers.push(')')
    else if (sign === '"' || sign === '`') closers.push(sign)
    // No quote amid double ones.
    else if (sign.startsWith("'") && closer === '"') nesting.lastIndex = found.index + 1
    if (closers.length === 0) return found.index
  }
  return text.length
}

const addQuoted = (reading: Reading, { index }: RegExpExecArray): void => {
  const begin = reading.text.indexOf('"', index)
  const end = endOfQuotes(reading.text, begin)
  add(reading, reading.text.slice(begin + 1, end).replaceAll(/\\(?:\n|([$`"\\]))/gu, '$1'))
  reading.at = end + 1
}

const awaitDocument = (reading: Reading, { groups }: RegExpExecArray): void => {
  endWord(reading)
  reading.awaited.push({
    end: groups?.['end']?.replaceAll(/['"\\]/gu, '') ?? '',
    tabs: groups?.['tabs'] !== '',
  })
}

/** The text of a document is one word: what it is for nobody knows. */
const readDocument = (reading: Reading, { end, tabs }: HereDocument): void => {
  const { text, at: begin } = reading
  for (let from = begin; from < text.length; from = reading.at) {
    const stop = text.indexOf('\n', from)
    const line = text.slice(from, stop < 0 ? text.length : stop)
    reading.at = from + line.length + 1
    if ((tabs ? line.replace(/^\t+/u, '') : line) !== end) continue
    reading.commands.push([text.slice(begin, from)])
    return
  }
  reading.commands.push([text.slice(begin)])
}

const endLine = (reading: Reading): void => {
  endCommand(reading)
  for (const awaited of reading.awaited) readDocument(reading, awaited)
  reading.awaited = []
}

/** No quote in it begins anything. */
const addComment = (reading: Reading, [, said = '']: RegExpExecArray): void => {
  endCommand(reading)
  reading.commands.push(said.split(/[ \t]+/u))
}

/** What may stand at a place, the first that does. What begins a substitution ends a word, as an operator does. */
const signs: readonly (readonly [RegExp, (reading: Reading, found: RegExpExecArray) => void])[] = [
  [/\\\r?\n/uy, () => {}],
  [/[ \t\r]+/uy, endWord],
  [/\n/uy, endLine],
  [/(?<![^\s;&|()<>])#([^\n]*)/uy, addComment],
  [/<<(?!<)(?<tabs>-?)[ \t]*(?<end>(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s'"\\;&|()<>`])+)/uy, awaitDocument],
  [/<+|[;&|()>`]|\$\(/uy, endCommand],
  [/\$?"/uy, addQuoted],
  [/'([^']*)(?:'|$)/uy, (reading, [, said = '']) => add(reading, said)],
  [/\$'((?:[^'\\]|\\.)*)(?:'|$)/suy, (reading, [, said = '']) => add(reading, said.replaceAll(/\\(.)/gsu, '$1'))],
  [/\\(.)/suy, (reading, [, sign = '']) => add(reading, sign)],
  [/[^\s\\'"$;&|()<>`]+|./suy, (reading, [plain]) => add(reading, plain)],
]

const step = (reading: Reading): void => {
  for (const [pattern, take] of signs) {
    pattern.lastIndex = reading.at
    const found = pattern.exec(reading.text)
    if (found === null) continue
    reading.at = pattern.lastIndex
    return take(reading, found)
  }
}

/**
 * The commands in a text, each as its words, those of substitutions and comments too; what is quoted is one word, as
 * the text of a here-document is. Takes time in proportion to the text.
 */
export const shellCommands = (text: string): string[][] => {
  const reading: Reading = { text, at: 0, commands: [], words: [], word: undefined, awaited: [] }
  while (reading.at < text.length) step(reading)
  endCommand(reading)
  return reading.commands
}
