/** Ctrl-C amid long work of a command: the work ends, and a sentence says how things stand. */
import { isNativeError } from 'node:util/types'
import { isMainThread } from 'node:worker_threads'
import vm from 'node:vm'
import type { Problem } from '../base/errors.js'
import type { Interrupts } from '../base/interrupts.js'
import { errors } from '../state/errors.js'
import { endEcho } from './terminal.js'

/** True if an interrupt ended the work, and nothing else did: the error is none of this realm. */
const isInterrupted = (error: unknown): boolean =>
  isNativeError(error) && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED'

/** Node hears no signal while work goes on in one go: the system ends that. In a thread nobody interrupts it. */
const inOneGo = <R>(work: () => R, whole: AbortController, reason: Problem): R => {
  whole.signal.throwIfAborted()
  if (!isMainThread) return work()
  try {
    return vm.runInNewContext('work()', { work }, { breakOnSigint: true, displayErrors: false })
  } catch (error) {
    if (!isInterrupted(error)) throw error
    endEcho()
    whole.abort(reason)
    throw reason
  }
}

/** Does work that heeds an interrupt, and rejects with `interrupted` and how things stand where one ended it. */
export const interruptible = async <R>(
  signal: AbortSignal,
  stands: string,
  work: (interrupts: Interrupts) => Promise<R>,
): Promise<R> => {
  const [whole, reason] = [new AbortController(), errors.interrupted({ details: { stands } })]
  const abort = (): void => whole.abort(reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await work({ signal: whole.signal, inOneGo: (reads) => inOneGo(reads, whole, reason) })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
