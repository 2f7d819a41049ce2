/** How far a shell has read a text: the command that it is in, and those that it comes back to. */

export interface HereDocument {
  readonly end: string
  /** Tabs may stand in front of its end. */
  readonly tabs: boolean
  readonly stage: Stage
}

/** One program of a pipe, with what is written in the text for it to read. */
export interface Stage {
  readonly commands: string[][]
  readonly fed: string[]
  /** The one whose output it reads. */
  readonly from: Stage | undefined
}

/** What begins within a word or a command, and where to go on behind its end. */
interface Frame {
  readonly kind: 'substitution' | 'backquotes' | 'parentheses' | 'list' | 'default'
  readonly words: string[]
  readonly word: string | undefined
  readonly stage: Stage
  readonly isQuoted: boolean
  /** What its commands put out, as far as they say it themselves. */
  said: string
}

export interface Reading {
  readonly text: string
  at: number
  readonly commands: string[][]
  readonly stages: Stage[]
  stage: Stage
  words: string[]
  word: string | undefined
  isQuoted: boolean
  /** True if the next word is what the program reads. */
  isFed: boolean
  readonly frames: Frame[]
  /** Those whose text begins with the next line. */
  awaited: HereDocument[]
}

const stageBehind = (from?: Stage): Stage => ({ commands: [], fed: [], from })

export const beginReading = (text: string): Reading => ({
  text,
  at: 0,
  commands: [],
  stages: [],
  stage: stageBehind(),
  words: [],
  word: undefined,
  isQuoted: false,
  isFed: false,
  frames: [],
  awaited: [],
})

export const add = (reading: Reading, text: string): void => {
  reading.word = (reading.word ?? '') + text
}

export const endWord = (reading: Reading): void => {
  const { word } = reading
  if (word === undefined) return
  reading.words.push(word)
  if (reading.isFed) reading.stage.fed.push(word)
  reading.isFed = false
  reading.word = undefined
}

export const endCommand = (reading: Reading): void => {
  endWord(reading)
  if (reading.words.length === 0 || reading.frames.at(-1)?.kind === 'list') return
  reading.commands.push(reading.words)
  reading.stage.commands.push(reading.words)
  reading.words = []
}

/** Programs of a pipe that are looked at behind one, characters that are taken of what they put out, and how deep. */
const [mostStages, mostSaid, mostNested] = [8, 4096, 8]

/** Those words that a shell writes itself; of other programs nobody knows what they make of what they read. */
const saidBy = ({ commands, fed, from }: Stage, most = mostStages): string => {
  const [program = '', ...words] = commands[0] ?? []
  if (!/^(?:echo|printf|print)$/u.test(program))
    return [...fed, ...(from === undefined || most === 0 ? [] : [saidBy(from, most - 1)])].join('\n').slice(0, mostSaid)
  const given = words.slice(words.findIndex((word) => !/^-\w*$/u.test(word)))
  const isFormat = program === 'printf' && given.length > 1 && given[0]?.includes('%') === true
  return given
    .slice(isFormat ? 1 : 0, mostSaid)
    .join(' ')
    .slice(0, mostSaid)
}

/** What is written in the text for a program to read. */
export const fedTo = ({ fed, from }: Stage): string[] => (from === undefined ? fed : [...fed, saidBy(from)])

export const endStage = (reading: Reading, isPiped = false): void => {
  endCommand(reading)
  reading.isFed = false
  const { stage, frames } = reading
  const frame = frames.at(-1)
  // Behind the sign of a pipe the next line goes on.
  if (frame?.kind === 'list' || stage.commands.length === 0) return
  reading.stages.push(stage)
  if (frame !== undefined && !isPiped) frame.said = (frame.said + saidBy(stage)).slice(0, mostSaid)
  reading.stage = stageBehind(isPiped ? stage : undefined)
}

/** What begins in a word goes on with it behind its end. */
export const open = (reading: Reading, kind: Frame['kind']): void => {
  if (kind === 'parentheses') endCommand(reading)
  const { words, word, stage, isQuoted } = reading
  reading.frames.push({ kind, words, word, stage, isQuoted, said: '' })
  if (kind === 'default') return add(reading, '')
  Object.assign(reading, { words: [], word: undefined, stage: stageBehind(), isQuoted: false })
}

/** The elements of a list are values of its name. */
const mostName = 100
const closeList = (reading: Reading, { words, word = '' }: Frame): void => {
  endWord(reading)
  const name = word.length > mostName ? '' : word
  reading.words = [...words, ...reading.words.map((element) => name + element)]
}

export const isIn = ({ frames }: Reading, kind: Frame['kind']): boolean => frames.at(-1)?.kind === kind

/** Ends the last that began. What was said in parentheses their own surroundings say. */
export const close = (reading: Reading): void => {
  const frame = reading.frames.at(-1)
  if (frame === undefined) return endStage(reading)
  if (frame.kind !== 'default' && frame.kind !== 'list') endStage(reading)
  reading.frames.pop()
  if (frame.kind === 'default') return
  if (frame.kind === 'list') closeList(reading, frame)
  else reading.words = frame.words
  Object.assign(reading, { word: undefined, stage: frame.stage, isQuoted: frame.isQuoted })
  if (frame.kind === 'list') return
  const outer = reading.frames.at(-1)
  if (frame.kind === 'parentheses') {
    if (outer !== undefined) outer.said = (outer.said + frame.said).slice(0, mostSaid)
    return
  }
  reading.word = (frame.word ?? '') + (reading.frames.length < mostNested ? frame.said : '')
}
