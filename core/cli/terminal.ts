/** Standard output and standard error: all that the command line prints goes through here and is made visible. */
import { createDialogue, type OpenDialogue } from './screen/dialogue.js'
import type { Screen } from './screen/pager.js'
import { createRedraw } from './screen/redraw.js'
import { codeOf } from '../base/text/thrown.js'
import { visible } from '../base/text/visible.js'
import { isFile, isLostTerminal, writeWhole } from '../state/disk/descriptors.js'

const [standardOutput, standardError] = [1, 2]
let toFile: boolean | undefined

/** Of a file that takes only a part of a text Node says nothing. */
const writeOut = (text: string): void => {
  if (text === '') return
  toFile ??= isFile(standardOutput)
  if (!toFile) return void process.stdout.write(text)
  try {
    writeWhole(standardOutput, Buffer.from(text))
  } catch (error) {
    process.stdout.emit('error', error)
  }
}

/** One line or block of text on standard output. */
export const print = (text: string): void => {
  writeOut(`${visible(text)}\n`)
}

/** A part of a text on standard output. */
export const write = (text: string): void => {
  writeOut(visible(text))
}

/** What writes blocks of text, each in place of the one before. */
export const redraw: (block: string, above?: string) => void = createRedraw(
  process.stdout,
  (act) => void process.once('SIGCONT', act),
)

/** True if a person may read along. */
export const isAttended = (): boolean => process.stdout.isTTY

/** Columns of a terminal that does not say how many it has, and of what is none. */
const usualColumns = 80
const columnsOf = (stream: { readonly columns: number }): number => stream.columns || usualColumns
/** Signs of one line of standard output. */
export const columns = (): number => columnsOf(process.stdout)

/** One line or block of text on standard error. */
export const printError = (text: string): void => {
  process.stderr.write(`${visible(text)}\n`)
}

/** Writes the last line of a terminal on standard error again; an empty text leaves nothing of it. */
export const replaceLine = (text: string): void => {
  process.stderr.write(`\r${visible(text).slice(0, Math.max(1, columnsOf(process.stderr) - 1))}\u001b[K`)
}

/** Takes lines of the log, which makes its lines visible itself. */
export const logLine = (line: string): void => {
  process.stderr.write(line)
}

/** The screen that a person looks at; undefined if standard output goes elsewhere or nobody can leave a pager. */
export const screen = (): Screen | undefined => {
  const { rows, columns, isTTY } = process.stdout
  return isTTY && process.stdin.isTTY && rows > 0 && columns > 0 ? { rows, columns } : undefined
}

export { watchSize } from './screen/size.js'
export type { OpenDialogue } from './screen/dialogue.js'

/** Talks with who types at the terminal; where standard input or output is none, takes the lines of the input. */
export const openDialogue = (): OpenDialogue => createDialogue(process.stdin, screen() && process.stdout)

/** A terminal that reads Ctrl-C itself shows `^C` there: what comes then, also of a shell, begins a line. */
export const endEcho = (): void => void [process.stdout, process.stderr].find(({ isTTY }) => isTTY)?.write('\n')

/** Keys that end a line, take back a sign, and give up. */
const [ends, takeBack, giveUp] = ['\r\n\u0004', '\u007f\b', '\u0003']

/** All of standard input, cut behind so many bytes. */
export const readAll = async (most: number): Promise<Buffer> => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of process.stdin) {
    const part = Buffer.from(piece)
    pieces.push(part)
    bytes += part.length
    if (bytes > most) break
  }
  return Buffer.concat(pieces)
}

/**
 * A line that a person types without seeing it, or all of standard input where nobody types; cut behind so many bytes.
 */
export const readHidden = async (prompt: string, most: number): Promise<Buffer> => {
  const { stdin } = process
  if (!stdin.isTTY) return readAll(most)
  stdin.setEncoding('utf8')
  let text = ''
  // Before the prompt: what somebody types at once is not shown either.
  stdin.setRawMode(true)
  try {
    process.stderr.write(prompt)
    for await (const piece of stdin)
      for (const sign of String(piece)) {
        if (sign === giveUp) return Buffer.alloc(0)
        if (ends.includes(sign)) return Buffer.from(text)
        text = takeBack.includes(sign) ? text.slice(0, -1) : text + sign
      }
    return Buffer.from(text)
  } finally {
    stdin.setRawMode(false)
    process.stderr.write('\n')
  }
}

export const isTerminal = (): boolean => process.stderr.isTTY

/** What reads along is gone: a program such as `head`, or the terminal. A disk that fails is none of these. */
const isGone = (fd: number, error: unknown): boolean =>
  ['EPIPE', 'ECONNRESET'].includes(codeOf(error) ?? '') || isLostTerminal(fd)

export interface OutputEnds {
  /** Nobody reads what is printed any more. */
  readonly onReaderGone: () => void
  /** What was printed is not whole, though somebody may read it: the code of the system, such as `ENOSPC`. */
  readonly onUnwritten: (reason: string) => void
}

export const watchOutput = ({ onReaderGone, onUnwritten }: OutputEnds): void => {
  process.stdout.on('error', (error) => {
    if (isGone(standardOutput, error)) onReaderGone()
    else onUnwritten(codeOf(error) ?? error.message)
  })
  // What is told of the work may be lost: the work goes on.
  process.stderr.on('error', (error) => {
    if (isGone(standardError, error)) onReaderGone()
  })
}

/**
 * Ends the process. Where its terminal is gone, Node's own end would abort while it puts back how that was set: then it
 * ends as a program does that heeds no SIGHUP.
 */
export const endProcess = (code: number): never => {
  if ([0, 1, 2].some(isLostTerminal)) {
    process.removeAllListeners('SIGHUP')
    process.kill(process.pid, 'SIGHUP')
  }
  return process.exit(code)
}

/** True while a reader has not taken all of standard output. */
export const isPrinting = (): boolean => process.stdout.writableLength > 0

/**
 * A pipe takes what is written later than an exit would leave, and a failed write is told behind it. Where nothing
 * waits nothing is written: a full device refuses even that, and what was printed is whole.
 */
export const afterPrinting = (act: () => void): void => {
  if (isPrinting()) process.stdout.write('', () => setImmediate(act))
  else setImmediate(act)
}
