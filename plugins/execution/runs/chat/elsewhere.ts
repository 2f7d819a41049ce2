/** Runs of the session that others began: by another terminal, a schedule or a message from elsewhere. */
import { array, parse, type CommandInput } from '../../../../core/plugin.js'
import { RunAnswer, runOf, type RunRow } from '../terminal/run-text.js'
import { sessionPath } from './journal.js'
import { isOver } from './watch.js'

export interface Elsewhere {
  /** From now on the runs that are over are known, and so is what is shown. */
  begin(session_id: string): Promise<void>
  shown(run_id: string): void
  /** The oldest run that was not shown, as soon as there is one; undefined once the signal aborts. */
  next(signal: AbortSignal): Promise<RunRow | undefined>
}

/** Runs that may begin while a person looks at another one; pause before the daemon is asked again. */
const [most, pauseMs] = [20, 2_000]
const Runs = array(RunAnswer)

export const createElsewhere = ({ client, pause }: Pick<CommandInput, 'client' | 'pause'>): Elsewhere => {
  let session = ''
  /** Ids sort by submission. */
  let since = ''
  let shown = new Set<string>()
  const busy = async (): Promise<readonly RunRow[]> => {
    const query = new URLSearchParams({ session_id: session, priority_active: 'true', limit: String(most) })
    const parsed = parse(Runs, await client.get(`/v1/runs?${query.toString()}`))
    return parsed.ok ? parsed.value : []
  }
  const isNew = ({ run_id }: RunRow): boolean => run_id > since && !shown.has(run_id)
  const look = async (): Promise<RunRow | undefined> =>
    (await busy()).filter(isNew).toSorted((one, other) => (one.run_id < other.run_id ? -1 : 1))[0]
  const listen = async (signal: AbortSignal): Promise<RunRow | undefined> => {
    const frames = await client.stream(`${sessionPath(session)}/stream`, signal)
    const found = await look()
    if (found !== undefined) return found
    for await (const { event, data } of frames) {
      const run = runOf(event, data)
      if (run !== undefined && isNew(run)) return run
    }
    return undefined
  }
  return {
    async begin(session_id) {
      session = session_id
      shown = new Set()
      const over = (await busy()).filter(isOver).map(({ run_id }) => run_id)
      since = over.toSorted().at(-1) ?? ''
    },
    shown: (run_id) => void shown.add(run_id),
    async next(signal) {
      while (!signal.aborted) {
        // A daemon that is away is told of when something is asked of it.
        const run = await listen(signal).catch(() => undefined)
        if (run !== undefined) return run
        if (!signal.aborted) await pause(pauseMs, signal)
      }
      return undefined
    },
  }
}
