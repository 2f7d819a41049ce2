/** What a job's answer is to the one who asked: all of it was said by a process that read a hostile file. */
import { parse } from '../base/parse.js'
import { visibleLine } from '../base/text/visible.js'
import type { JobFamily, JobResult } from './contract.js'
import type { Said } from './child.js'
import { sandboxErrors } from './errors.js'

const mostReason = 300
const mebibyte = 1024 * 1024

const failures = {
  timed_out: ({ ms }: JobFamily<unknown>['limits']) => `it takes more than ${ms / 1000} s`,
  crashed: ({ memoryBytes }: JobFamily<unknown>['limits']) =>
    `it needs more than ${Math.floor(memoryBytes / mebibyte)} MiB of memory, or breaks what reads it`,
  unfit: () => 'what reads it gave an answer that is none',
} as const

export const failed = (
  code: keyof typeof failures,
  { limits }: Pick<JobFamily<unknown>, 'limits'>,
): JobResult<never> => ({
  type: 'failed',
  code,
  reason: failures[code](limits),
})

const isNames = (value: unknown, most: number): value is string[] =>
  Array.isArray(value) && value.length === most && value.every((name) => typeof name === 'string')

/** Throws `sandbox_not_begun`. */
export const resultOf = <A>(family: JobFamily<A>, said: Said): JobResult<A> => {
  if (said === 'not_begun') throw sandboxErrors.sandbox_not_begun()
  if (said === undefined) return failed('crashed', family)
  if (typeof said === 'string') return failed(said, family)
  const { head, parts } = said
  if (typeof head['refused'] === 'string')
    return { type: 'refused', reason: visibleLine(head['refused'].slice(0, mostReason)) }
  const names = head['names']
  const read = parse(family.answer, head['done'])
  if (!read.ok || !isNames(names, parts.length)) return failed('unfit', family)
  const files = new Map(names.map((name, at): [string, Uint8Array] => [name, parts[at] ?? new Uint8Array()]))
  return { type: 'done', answer: read.value, files }
}

/** Resident bytes as the process tells them; it may lie, and is bounded whatever it says. */
export const residentOf = (said: Said): number =>
  typeof said === 'object' && typeof said.head['rss'] === 'number' ? said.head['rss'] : 0
