/** What a process is told whose program was damaged or replaced while it ran. */
import { defineErrors, type Problem } from '../base/errors.js'

export const errors = defineErrors({
  program_damaged: { status: 500, detail: '{reason}' },
})

/** The problem that a part of the program is gone, as `program.ts` throws it; undefined if the error is another. */
export const programProblem = (cause: unknown): Problem | undefined =>
  cause instanceof ReferenceError && 'code' in cause && cause.code === errors.program_damaged.code
    ? errors.program_damaged({ details: { reason: cause.message }, cause })
    : undefined
