/** Tools that come some time after the start, such as those of a server that is being connected. */
import type { RunRecord } from '../runs/contract.js'
import type { Execution } from './execution.js'
import type { Call } from './thread/turn.js'

/** What an execution is at that waits for them. */
export const arrival = { kind: 'arrival', name: '' } as const

/** Resolves with the work, or when the signal aborts; the work must not reject. */
const untilCut = (work: Promise<unknown>, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      signal.removeEventListener('abort', settle)
      resolve()
    }
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', settle, { once: true })
    void work.then(settle)
  })

/** Resolves when the tools of these calls are there, or will not come soon; undefined if none is waited for. */
export const arrived = ({ context, controller }: Execution, calls: readonly Call[]): Promise<void> | undefined => {
  const missing = calls.filter(({ part }) => context.tools.find(part.name) === undefined)
  const arrivals = missing.flatMap(({ part }) => context.tools.arrival(part.name) ?? [])
  return arrivals.length === 0 ? undefined : untilCut(Promise.all(arrivals), controller.signal)
}

/** The same for the tools that every run should have. */
export const allArrived = ({ context, controller }: Execution): Promise<void> | undefined => {
  const all = context.tools.arrival()
  return all === undefined ? undefined : untilCut(all, controller.signal)
}

/** Why a run must not go on, if tools are not there that it must have. */
export const lacking = ({ context }: Execution, { session_id }: RunRecord): string | undefined => {
  const missing = context.tools.missing(session_id)
  return missing && `required_tools_missing: ${missing}.`
}
