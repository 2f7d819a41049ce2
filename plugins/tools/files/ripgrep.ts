/** One ripgrep process, whose records are taken one by one until there are enough. Its patterns take linear time. */
import { rgPath } from '@vscode/ripgrep'
import { fault, type Processes } from '../../../core/plugin.js'
import { fileErrors } from './errors.js'

export interface Ripgrep<T> {
  readonly processes: Processes
  readonly args: readonly string[]
  readonly cwd: string
  /** The byte after each record. */
  readonly separator: '\0' | '\n'
  /** A record's value; undefined skips it. */
  readonly read: (record: string) => T | undefined
  readonly limit: number
  readonly signal: AbortSignal
}
export interface Found<T> {
  readonly items: readonly T[]
  readonly truncated: boolean
}

/** Longest record that is kept; a longer one is dropped. */
const maxRecord = 64 * 1024

/** Splits a stream into records. */
const createSplitter = (separator: string, take: (record: string) => void) => {
  const decoder = new TextDecoder()
  let carry = ''
  return (chunk: Uint8Array): void => {
    const records = (carry + decoder.decode(chunk, { stream: true })).split(separator)
    const rest = records.pop() ?? ''
    carry = rest.length > maxRecord ? rest.slice(-maxRecord) : rest
    records.forEach(take)
  }
}

const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }

/** Keeps records up to the limit; `full` is called at the first one beyond it. */
const createHaul = <T>({ read, limit }: Ripgrep<T>, full: () => void) => {
  const items: T[] = []
  let truncated = false
  const take = (record: string): void => {
    const item = truncated ? undefined : read(record)
    if (item === undefined) return
    if (items.length < limit) items.push(item)
    else {
      truncated = true
      full()
    }
  }
  return { take, found: (): Found<T> => ({ items, truncated }) }
}

/** The process's exit code and the beginning of what it said on standard error. */
interface Ended {
  readonly code: number | null
  readonly complaint: string
}

const run = async (
  { processes, args, cwd, separator, signal }: Ripgrep<unknown>,
  begin: (kill: () => void) => (record: string) => void,
): Promise<Ended> => {
  const program = await processes.start({
    file: rgPath,
    args: ['--no-config', '--no-messages', '--color=never', ...args],
    folder: cwd,
    environment,
  })
  let complaint = ''
  program.stdout.on('data', createSplitter(separator, begin(program.kill)))
  program.stderr.on('data', (chunk: Uint8Array) => {
    if (complaint.length < 4096) complaint += Buffer.from(chunk).toString('latin1')
  })
  signal.addEventListener('abort', program.kill, { once: true })
  if (signal.aborted) program.kill()
  const end = await program.ended
  await program.closed
  signal.removeEventListener('abort', program.kill)
  if (end.type !== 'ended') throw fault(`ripgrep is ${end.type}: ${'reason' in end ? end.reason : 'killed'}`)
  return { code: end.code, complaint }
}

/** Throws `pattern_invalid`, or `call_stopped` after an abort; the process is gone by then. */
export const ripgrep = async <T>(search: Ripgrep<T>): Promise<Found<T>> => {
  if (search.signal.aborted) throw fileErrors.call_stopped()
  if (search.args.some((arg) => arg.includes('\0'))) throw fileErrors.pattern_invalid()
  let haul = createHaul(search, () => undefined)
  const { code, complaint } = await run(search, (kill) => (haul = createHaul(search, kill)).take)
  if (search.signal.aborted) throw fileErrors.call_stopped()
  const found = haul.found()
  if (code === 2 && found.items.length === 0 && /regex|glob/u.test(complaint)) throw fileErrors.pattern_invalid()
  return found
}

/** Arguments that keep ripgrep out of a folder, given relative to where it starts. */
export const excluding = (folder: string | undefined): string[] =>
  folder === undefined ? [] : ['--glob', `!/${folder.replaceAll(/[\\*?[\]{}!]/gu, '\\$&')}`]
