/** Runs what may not end soon: a pattern or a schema of somebody else can be made so that a check takes for ever. */
import vm from 'node:vm'

interface Box {
  readonly script: vm.Script
  readonly context: { work: (() => unknown) | undefined }
}
let made: Box | undefined
const openBox = (): Box => {
  const context: Box['context'] = { work: undefined }
  vm.createContext(context)
  return { script: new vm.Script('work()'), context }
}

/** The error is one of the other context, whose `Error` is another. */
const isLate = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && Reflect.get(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/**
 * Runs synchronous work that must hold nothing which a cut would break, and cuts it after so many milliseconds:
 * `undefined` then, else what it returns. Throws what the work throws.
 */
export const timeBound = <T extends object>(ms: number, work: () => T): T | undefined => {
  const { script, context } = (made ??= openBox())
  let done: T | undefined
  context.work = () => {
    done = work()
  }
  try {
    script.runInContext(context, { timeout: ms })
    return done
  } catch (error) {
    if (isLate(error)) return undefined
    throw error
  } finally {
    context.work = undefined
  }
}
