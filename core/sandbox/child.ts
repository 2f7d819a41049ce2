/** One process of a family: started, given one job at a time, and ended with everything that it started. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import type { Supervised, SupervisedProgram } from '../processes/contract.js'
import type { JobInput, JobLimits } from './contract.js'
import { createFrameReader, frameOf, type Frame } from './frames.js'

/** What a process says of a job; undefined if it ended instead. */
export type Said = Frame | 'unfit' | 'timed_out' | undefined

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
  readonly supervised: Supervised
  readonly command: readonly string[]
  readonly limits: JobLimits
  /** Absolute path of a folder that is there. */
  readonly folder: string
}

/** Bytes of the line before the files of an answer. */
const mostHead = 64 * 1024
/** Milliseconds that a process may take to begin, beside those of its first job. */
const beginMs = 10_000

const start = ({ supervised, command, folder }: ChildParts): Promise<SupervisedProgram> =>
  supervised.start({ run: command, folder, environment: { PATH: '/usr/bin:/bin' }, input: true })

export const startChild = async (parts: ChildParts): Promise<Child> => {
  const { clock, ids, limits } = parts
  const program = await start(parts)
  const read = createFrameReader({ head: mostHead, parts: limits.resultBytes })
  let [jobs, usable] = [0, program.isThere]
  let hear: ((said: Said) => void) | undefined
  /** Of the job under way: whoever answers has been asked, and not before. */
  let id = ''
  const say = (said: Said): void => {
    if (typeof said !== 'object') usable = false
    hear?.(said)
    hear = undefined
  }
  program.stderr.resume()
  program.stdout.on('data', (chunk: Buffer) => {
    // Nobody asked: it is not believed any more.
    const said = hear === undefined ? 'unfit' : read(chunk)
    if (said !== undefined) say(said === 'unfit' || said.head['id'] === id ? said : 'unfit')
  })
  program.input?.on('error', () => {})
  void program.exited.then(() => say(undefined))
  const end = async (): Promise<void> => {
    usable = false
    program.kill()
    await program.stop(0)
    await program.letGo()
  }
  const ask = async (job: JobInput): Promise<Said> => {
    if (!usable) return undefined
    const limit = new AbortController()
    const ms = limits.ms + (jobs === 0 ? beginMs : 0)
    jobs += 1
    id = ids.random(16)
    const heard = new Promise<Said>((resolve) => (hear = resolve))
    void clock.sleep(ms, limit.signal).then(() => limit.signal.aborted || say('timed_out'))
    for (const piece of frameOf({ id, options: job.options }, [job.bytes])) program.input?.write(piece)
    const said = await heard
    limit.abort()
    return said
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
