/** One process of a family: started, given one job at a time, and ended with everything that it started. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import { visibleLine } from '../base/text/visible.js'
import { createCapture } from '../processes/capture.js'
import type { Supervised, SupervisedProgram } from '../processes/contract.js'
import type { JobInput, JobLimits } from './contract.js'
import { beginId, createFrameReader, frameOf, type Frame } from './frames.js'

/** What a process says of a job; undefined if it ended instead. `not_begun`: the job never reached it. */
export type Said = Frame | 'unfit' | 'timed_out' | 'not_begun' | undefined

export interface Child {
  /** Jobs that it was given. */
  readonly jobs: number
  /** False once it has ended, or must not be given another job. */
  readonly usable: boolean
  ask(job: JobInput): Promise<Said>
  /** Ends it at once. */
  end(): Promise<void>
}

export interface ChildParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly supervised: Supervised
  readonly command: readonly string[]
  readonly limits: JobLimits
  /** Absolute path of a folder that is there. */
  readonly folder: string
}

/** Bytes of the line before the files of an answer. */
const mostHead = 64 * 1024
/** Milliseconds that a process may take to begin. */
const beginMs = 30_000
/** Bytes of what it writes meanwhile that are logged where it does not. */
const mostComplaint = 1_000

const start = ({ supervised, command, folder }: ChildParts): Promise<SupervisedProgram> =>
  supervised.start({ run: command, folder, environment: { PATH: '/usr/bin:/bin' }, input: true })

export const startChild = async (parts: ChildParts): Promise<Child> => {
  const { clock, ids, log, limits } = parts
  const program = await start(parts)
  const read = createFrameReader({ head: mostHead, parts: limits.resultBytes })
  let [jobs, usable] = [0, program.isThere]
  let isWanted = true
  let hear: ((said: Said) => void) | undefined
  /** Of the job under way: whoever answers has been asked, and not before. */
  let id = beginId
  const say = (said: Said): void => {
    if (typeof said !== 'object') usable = false
    hear?.(said)
    hear = undefined
  }
  const complaint = createCapture(mostComplaint)
  program.stderr.on('data', complaint.add)
  program.stdout.on('data', (chunk: Buffer) => {
    // Nobody asked: it is not believed any more.
    const said = hear === undefined ? 'unfit' : read(chunk)
    if (said !== undefined) say(said === 'unfit' || said.head['id'] === id ? said : 'unfit')
  })
  program.input?.on('error', () => {})
  void program.exited.then(() => say(undefined))
  const end = async (): Promise<void> => {
    usable = isWanted = false
    program.kill()
    await program.stop(0)
    await program.letGo()
  }
  const listen = async (ms: number): Promise<Said> => {
    if (!usable) return undefined
    const limit = new AbortController()
    const heard = new Promise<Said>((resolve) => (hear = resolve))
    void clock.sleep(ms, limit.signal).then(() => limit.signal.aborted || say('timed_out'))
    const said = await heard
    limit.abort()
    return said
  }
  const begin = async (): Promise<void> => {
    const began = await listen(beginMs)
    if (typeof began === 'object' || !isWanted) return
    await program.letGo()
    log.error('a process of the sandbox did not begin', { said: visibleLine(complaint.read().text) })
  }
  const begun = begin()
  const ask = async (job: JobInput): Promise<Said> => {
    await begun
    if (!usable) return 'not_begun'
    jobs += 1
    id = ids.random(16)
    const heard = listen(limits.ms)
    for (const piece of frameOf({ id, options: job.options }, [job.bytes])) program.input?.write(piece)
    return heard
  }
  return {
    get jobs() {
      return jobs
    },
    get usable() {
      return usable
    },
    ask,
    end,
  }
}
