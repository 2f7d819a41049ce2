/** The jobs of one family, one after the other, in a process that is kept while it is used and fit. */
import type { Clock } from '../base/clock.js'
import type { Child } from './child.js'
import type { Job, JobFamily, JobResult } from './contract.js'
import { sandboxErrors } from './errors.js'
import { residentOf, resultOf } from './result.js'

export interface PoolParts<A> {
  readonly family: JobFamily<A>
  readonly clock: Clock
  readonly start: () => Promise<Child>
}

export interface Pool<A> {
  run(job: Job): Promise<JobResult<A>>
  close(): Promise<void>
}

/** Jobs and bytes that wait at most, and how long each does. */
const mostWaiting = 64
const mostWaitingBytes = 256 * 1024 * 1024
const waitMs = 60_000
/** Jobs after which a process is ended, whatever it has. */
const mostJobs = 200
/** The part of its memory behind which it is ended. */
const grown = 0.6
/** Milliseconds that a process is kept without work. */
const idleMs = 60_000

export const createPool = <A>({ family, clock, start }: PoolParts<A>): Pool<A> => {
  let child: Child | undefined
  let last: Promise<unknown> = Promise.resolve()
  let idle = new AbortController()
  let closed = false
  const waiting = { count: 0, bytes: 0 }

  const retire = async (): Promise<void> => {
    const old = child
    child = undefined
    await old?.end()
  }
  const rest = (): void => {
    idle = new AbortController()
    const { signal } = idle
    void clock.sleep(idleMs, signal).then(() => (signal.aborted ? undefined : retire()))
  }
  const ready = async (): Promise<Child> => {
    if (child?.usable !== true) await retire()
    child ??= await start()
    return child
  }
  const work = async (job: Job): Promise<JobResult<A>> => {
    idle.abort()
    job.signal?.throwIfAborted()
    const current = await ready()
    const abort = (): void => void current.end()
    job.signal?.addEventListener('abort', abort, { once: true })
    const said = await current.ask(job)
    job.signal?.removeEventListener('abort', abort)
    if (!current.usable || current.jobs >= mostJobs || residentOf(said) > family.limits.memoryBytes * grown)
      await retire()
    job.signal?.throwIfAborted()
    rest()
    return resultOf(family, said)
  }
  /** Its turn, unless it waits for too long. */
  const inTurn = async (job: Job): Promise<JobResult<A>> => {
    const before = last
    const began = clock.elapsed()
    const mine = before.then(() => {
      if (closed || clock.elapsed() - began > waitMs) throw sandboxErrors.sandbox_busy({ retryAfter: 5 })
      return work(job)
    })
    last = mine.catch(() => {})
    return mine
  }
  return {
    async run(job) {
      const { length } = job.bytes
      if (closed || waiting.count >= mostWaiting || waiting.bytes + length > mostWaitingBytes)
        throw sandboxErrors.sandbox_busy({ retryAfter: 5 })
      waiting.count += 1
      waiting.bytes += length
      try {
        return await inTurn(job)
      } finally {
        waiting.count -= 1
        waiting.bytes -= length
      }
    },
    async close() {
      closed = true
      idle.abort()
      await retire()
    },
  }
}
