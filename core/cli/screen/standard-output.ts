/** Standard output and standard error as files: whole, or told that they are not. */
import { fstatSync, writeSync } from 'node:fs'
import { codeOf } from '../../base/text/thrown.js'

const standardOutput = 1

const isFile = (): boolean => {
  try {
    return fstatSync(standardOutput).isFile()
  } catch {
    return false
  }
}
let toFile: boolean | undefined

/** All of a text on standard output. Of a file that takes only a part of it Node says nothing. */
export const writeOut = (text: string): void => {
  toFile ??= isFile()
  if (!toFile) return void process.stdout.write(text)
  const bytes = Buffer.from(text)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(standardOutput, bytes, at)
  } catch (error) {
    process.stdout.emit('error', error)
  }
}

/** What reads along is gone: a program such as `head`, or the terminal. */
const gone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'EBADF'])

export interface OutputEnds {
  /** Nobody reads what is printed any more. */
  readonly onReaderGone: () => void
  /** What was printed is not whole, though somebody may read it: the code of the system, such as `ENOSPC`. */
  readonly onUnwritten: (reason: string) => void
}

export const watchOutput = ({ onReaderGone, onUnwritten }: OutputEnds): void => {
  process.stdout.on('error', (error) => {
    const code = codeOf(error)
    if (gone.has(code)) onReaderGone()
    else onUnwritten(code ?? error.message)
  })
  // What is told of the work may be lost: the work goes on.
  process.stderr.on('error', (error) => {
    if (gone.has(codeOf(error))) onReaderGone()
  })
}

/** Numbers of devices that are terminals. */
const isTerminalDevice = (device: number): boolean => {
  const major = (device >> 8) & 0xfff
  return major === 4 || major === 5 || (major >= 136 && major <= 143)
}

const isLost = (fd: number): boolean => {
  try {
    return isTerminalDevice(fstatSync(fd).rdev) && !process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false
  }
}

/**
 * Ends the process. Where its terminal is gone, Node's own end would abort while it puts back how that was set: then it
 * ends as a program does that heeds no SIGHUP.
 */
export const endProcess = (code: number): never => {
  if ([0, 1, 2].some(isLost)) {
    process.removeAllListeners('SIGHUP')
    process.kill(process.pid, 'SIGHUP')
  }
  return process.exit(code)
}
