/** The service that starts programs, for tests without a daemon. */
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import { createSupervised, type OwnSupervised } from '../../core/processes/supervised.js'
import { createProcesses, type OwnProcesses } from '../../core/processes/processes.js'

/** Lines that were logged, beside what it starts. */
export const processesFor = (t: ExecutionContext): OwnProcesses & { readonly warnings: string[] } => {
  const clock = createClock()
  const warnings: string[] = []
  const quiet = (): void => {}
  const log = { debug: quiet, info: quiet, error: quiet, warn: (fact: string) => void warnings.push(fact) }
  const processes = createProcesses({ ids: createIds(clock), log })
  t.teardown(processes.close)
  return { ...processes, warnings }
}

/** The service that supervises programs, as of the first life of a root. */
export const supervisedFor = (t: ExecutionContext, stateRoot: string): OwnSupervised => {
  const clock = createClock()
  return createSupervised({ processes: processesFor(t), clock, ids: createIds(clock), stateRoot, generation: () => 1 })
}
