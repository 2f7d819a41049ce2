/** Text for a shell as the shell reads it: commands of words, whatever quotes, escapes and signs stand around them. */
import {
  add,
  beginReading,
  close,
  endCommand,
  endStage,
  endWord,
  fedTo,
  isIn,
  open,
  type HereDocument,
  type Reading,
} from './shell-reading.js'

const awaitDocument = (reading: Reading, { groups }: RegExpExecArray): void => {
  endWord(reading)
  reading.awaited.push({
    end: groups?.['end']?.replaceAll(/['"\\]/gu, '') ?? '',
    tabs: groups?.['tabs'] !== '',
    stage: reading.stage,
  })
}

/** The text of a document is one word: what it is for nobody knows. */
const readDocument = (reading: Reading, { end, tabs, stage }: HereDocument): void => {
  const { text, at: begin } = reading
  const take = (document: string): void => {
    reading.commands.push([document])
    stage.fed.push(document.trim())
  }
  for (let from = begin; from < text.length; from = reading.at) {
    const stop = text.indexOf('\n', from)
    const line = text.slice(from, stop < 0 ? text.length : stop)
    reading.at = from + line.length + 1
    if ((tabs ? line.replace(/^\t+/u, '') : line) !== end) continue
    return take(text.slice(begin, from))
  }
  take(text.slice(begin))
}

const endLine = (reading: Reading): void => {
  endCommand(reading)
  for (const awaited of reading.awaited) readDocument(reading, awaited)
  reading.awaited = []
  endStage(reading)
}

/** No quote in it begins anything. */
const addComment = (reading: Reading, [, said = '']: RegExpExecArray): void => {
  endCommand(reading)
  reading.commands.push(said.split(/[ \t]+/u))
}

/** A name in front makes a list of it; in one there is no other. */
const openParentheses = (reading: Reading): void => {
  const isList = /^[A-Za-z_]\w*\+?=$/u.test(reading.word ?? '') && !isIn(reading, 'list')
  open(reading, isList ? 'list' : 'parentheses')
}

/** That of a branch of `case` ends nothing. */
const closeParentheses = (reading: Reading): void => {
  while (isIn(reading, 'default')) close(reading)
  if (isIn(reading, 'backquotes')) endStage(reading)
  else close(reading)
}

const backquotes = (reading: Reading): void => {
  if (isIn(reading, 'backquotes')) close(reading)
  else open(reading, 'backquotes')
}

/** `{a,b}` stands for several words: the first goes on with what is behind it. */
const [mostName, mostWords] = [100, 1000]
const addEach = (reading: Reading, [braces, inner = '']: RegExpExecArray): void => {
  const { word: before = '', words } = reading
  const [first = '', ...others] = before.length > mostName ? [braces] : inner.split(',')
  words.push(...others.map((other) => before + other))
  add(reading, others.length > 0 ? first : braces)
}

type Signs = readonly (readonly [RegExp, (reading: Reading, found: RegExpExecArray) => void])[]

/** What may begin both amid double quotes and without. */
const substitutions: Signs = [
  [/\$\(/uy, (reading) => open(reading, 'substitution')],
  [/`/uy, backquotes],
  // A word for what is not set.
  [/\$\{\w{1,100}:?[-=+]/uy, (reading) => open(reading, 'default')],
]
const endOfDefault = (reading: Reading, [sign]: RegExpExecArray): void =>
  isIn(reading, 'default') ? close(reading) : add(reading, sign)

const quoted: Signs = [
  ...substitutions,
  [/\\(?:\n|([$`"\\]))/uy, (reading, [, sign = '']) => add(reading, sign)],
  [/"/uy, (reading) => void (reading.isQuoted = false)],
  [/\}/uy, endOfDefault],
  [/[^\\"$`}]+|./suy, (reading, [plain]) => add(reading, plain)],
]

const quote = (reading: Reading): void => {
  add(reading, '')
  reading.isQuoted = true
}

/** What may stand at a place, the first that does. */
const unquoted: Signs = [
  [/\\\r?\n/uy, () => {}],
  [/[ \t\r]+/uy, endWord],
  [/\n/uy, endLine],
  [/(?<![^\s;&|()<>])#([^\n]*)/uy, addComment],
  [/<<(?!<)(?<tabs>-?)[ \t]*(?<end>(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s'"\\;&|()<>`])+)/uy, awaitDocument],
  [/<<</uy, (reading) => (endCommand(reading), void (reading.isFed = true))],
  // A word behind it is a file, and what is behind that may still be read by the program.
  [/(?<=\s)\d(?=[<>])|&?>+[&|]?|<+&?/uy, endCommand],
  [/\|\|/uy, (reading) => endStage(reading)],
  [/\|&?/uy, (reading) => endStage(reading, true)],
  [/[;&]/uy, (reading) => endStage(reading)],
  ...substitutions,
  [/\(/uy, openParentheses],
  [/\)/uy, closeParentheses],
  [/\$?"/uy, quote],
  [/'([^']*)(?:'|$)/uy, (reading, [, said = '']) => add(reading, said)],
  [/\$'((?:[^'\\]|\\.)*)(?:'|$)/suy, (reading, [, said = '']) => add(reading, said.replaceAll(/\\(.)/gsu, '$1'))],
  [/\\(.)/suy, (reading, [, sign = '']) => add(reading, sign)],
  [new RegExp(`\\{([^\\s'"$;&|()<>\`{}\\\\]{1,${mostWords}})\\}`, 'uy'), addEach],
  [/\}/uy, endOfDefault],
  [/[^\s\\'"$;&|()<>`{}]+|./suy, (reading, [plain]) => add(reading, plain)],
]

const step = (reading: Reading): void => {
  for (const [pattern, take] of reading.isQuoted ? quoted : unquoted) {
    pattern.lastIndex = reading.at
    const found = pattern.exec(reading.text)
    if (found === null) continue
    reading.at = pattern.lastIndex
    return take(reading, found)
  }
}

export interface ShellText {
  /** Each as its words, those of substitutions and comments too. */
  readonly commands: readonly (readonly string[])[]
  /** Those of a pipe, with all their words. */
  readonly programs: readonly {
    readonly words: readonly string[]
    /** Texts that are written there for it to read. */
    readonly read: () => string[]
  }[]
}

/**
 * The commands in a text; what is quoted is one word, as the text of a here-document is. In place of a substitution
 * stands what its commands say themselves, and in place of a variable with a default that. Takes time in proportion to
 * the text.
 */
export const readShell = (text: string): ShellText => {
  const reading = beginReading(text)
  while (reading.at < text.length) step(reading)
  while (reading.frames.length > 0) close(reading)
  endStage(reading)
  const { commands, stages } = reading
  return { commands, programs: stages.map((stage) => ({ words: stage.commands.flat(), read: () => fedTo(stage) })) }
}
