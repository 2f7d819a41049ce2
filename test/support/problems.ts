/** What a refusal says, for tests that call what refuses. */
import { Problem } from '../../core/base/errors.js'

/** The code and the paths of the problem that the call throws. */
export const errorPathsOf = (call: () => unknown): string[] => {
  try {
    call()
    return []
  } catch (error) {
    if (error instanceof Problem) return [error.code, ...(error.occurrence.errors ?? []).map(({ path }) => path)]
    throw error
  }
}
