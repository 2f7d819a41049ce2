/** Jobs on hostile files: a pool for each family, behind walls where there are any. */
import type { Clock } from '../base/clock.js'
import type { Ids } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import { unsafeCast } from '../base/schema.js'
import { findBubblewrap } from '../processes/bubblewrap.js'
import type { Supervised } from '../processes/contract.js'
import { startChild } from './child.js'
import type { JobFamily, Sandbox, Walls } from './contract.js'
import { createPool, type Pool } from './pool.js'
import { commandOf, trialOf } from './walls.js'

export interface SandboxParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly supervised: Supervised
  /** Where the program of the walls is looked for. */
  readonly programs?: readonly string[]
}

export interface OwnSandbox extends Sandbox {
  /** Ends all processes; jobs are refused from then on. */
  close(): Promise<void>
}

export const createSandbox = ({ clock, ids, log, supervised, programs }: SandboxParts): OwnSandbox => {
  const pools = new Map<object, Pick<Pool<unknown>, 'close'>>()
  let walls: Walls | undefined
  const start = async ({ program, limits }: Pick<JobFamily<unknown>, 'program' | 'limits'>) => {
    const commandWith = (bubblewrap: string | undefined): string[] =>
      commandOf({ program, memoryBytes: limits.memoryBytes, bubblewrap })
    const found = await findBubblewrap(supervised, trialOf(program), programs)
    walls = 'reason' in found ? { in_force: false, reason: found.reason } : { in_force: true }
    const command = commandWith('program' in found ? found.program : undefined)
    return startChild({ clock, ids, log, supervised, command, limits, folder: '/' })
  }
  /** The key is the family itself, which says what its pool answers. */
  const poolOf = <A>(family: JobFamily<A>): Pool<A> => {
    const known = pools.get(family)
    if (known !== undefined) return unsafeCast<Pool<A>>(known)
    const made = createPool({ family, clock, start: () => start(family) })
    pools.set(family, made)
    return made
  }
  return {
    run: (family, job) => poolOf(family).run(job),
    walls: () => walls,
    close: async () => void (await Promise.all(Array.from(pools.values(), (pool) => pool.close()))),
  }
}
