/** What a command has that goes on: loaded by such a command alone. */
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import { keepAlive } from '../base/keep-alive.js'
import type { Lasting } from '../plugin/command.js'
import { startDirectly } from '../processes/direct.js'
import { stopLeftovers } from '../processes/leftovers.js'
import { rootTag } from '../processes/marker.js'
import { createSupervised } from '../processes/supervised.js'
import { createDisk } from '../state/disk/real-disk.js'
import { takeGuard } from '../state/root/guard.js'
import { mechanisms } from '../state/root/owner.js'
import type { Line } from './dispatch.js'

/** Generations in markers: of all holders of a folder, and of none of them. */
const [every, none] = [1, 0]

type Work<T> = (tools: Lasting) => Promise<T>

export const lasting = async <T>(
  { onTerminate = () => () => {} }: Pick<Line, 'onTerminate'>,
  work: Work<T>,
): Promise<T> => {
  const undo = [keepAlive(), onTerminate()]
  const clock = createClock()
  const ids = createIds(clock)
  const hold = async (folder: string) => {
    const guard = await takeGuard(folder, mechanisms)
    if (guard === undefined) return undefined
    // No life of a holder has a number: whoever holds the folder knows that all others have ended.
    await stopLeftovers({ clock, grace_ms: 0, tag: rootTag(folder), generation: none })
    const processes = { start: startDirectly }
    const programs = createSupervised({ processes, clock, ids, stateRoot: folder, generation: () => every })
    return { programs, release: guard.release }
  }
  return work({ clock, ids, disk: createDisk(), hold }).finally(() => {
    for (const end of undo) end()
  })
}
