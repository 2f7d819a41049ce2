/** Ctrl-C amid long work of a command: the work ends, and a sentence says how things stand. */
import { setImmediate } from 'node:timers/promises'
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

/** That a service manager or a terminal that is closed asks for an end means the same. */
const terminations = ['SIGTERM', 'SIGHUP'] as const

/** Nobody listens, so that the system ends the process: a lock does too, and would wait for the work. */
const leaveTerminations = (): (() => void) => {
  const heard = terminations.map((signal) => [signal, process.listeners(signal)] as const)
  for (const signal of terminations) process.removeAllListeners(signal)
  return () => heard.forEach(([signal, listeners]) => listeners.forEach((hear) => process.on(signal, hear)))
}

interface Whole {
  readonly controller: AbortController
  readonly reason: Problem
}

/** Node hears no signal while work goes on in one go: the system ends that. In a thread nobody interrupts it. */
const inOneGo = async <R>(work: () => R, { controller, reason }: Whole): Promise<R> => {
  // A signal that came before is heard now or never: who listens is another from here on. The first turn may have
  // looked for signals before it came.
  await setImmediate()
  await setImmediate()
  controller.signal.throwIfAborted()
  if (!isMainThread) return work()
  const hearAgain = leaveTerminations()
  try {
    return vm.runInNewContext('work()', { work }, { breakOnSigint: true, displayErrors: false })
  } catch (error) {
    if (!isInterrupted(error)) throw error
    endEcho()
    controller.abort(reason)
    throw reason
  } finally {
    hearAgain()
  }
}

/** Does work that heeds an interrupt, and rejects with `interrupted` and how things stand where one ended it. */
export const interruptible = async <R>(
  signal: AbortSignal,
  stands: string,
  work: (interrupts: Interrupts) => Promise<R>,
): Promise<R> => {
  const [controller, reason] = [new AbortController(), errors.interrupted({ details: { stands } })]
  const abort = (): void => controller.abort(reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  for (const termination of terminations) process.on(termination, abort)
  try {
    return await work({ signal: controller.signal, inOneGo: (reads) => inOneGo(reads, { controller, reason }) })
  } finally {
    signal.removeEventListener('abort', abort)
    for (const termination of terminations) process.off(termination, abort)
  }
}
