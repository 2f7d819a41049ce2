/** What a command has that goes on: loaded by such a command alone. */
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import { keepAlive } from '../base/keep-alive.js'
import type { Lasting } from '../plugin/command.js'
import { startDirectly } from '../processes/direct.js'
import { createDisk } from '../state/disk/real-disk.js'
import { takeGuard } from '../state/root/guard.js'
import { mechanisms } from '../state/root/owner.js'
import type { Line } from './dispatch.js'

type Work<T> = (tools: Lasting) => Promise<T>

export const lasting = async <T>(
  { onTerminate = () => () => {} }: Pick<Line, 'onTerminate'>,
  work: Work<T>,
): Promise<T> => {
  const undo = [keepAlive(), onTerminate()]
  const clock = createClock()
  const hold = async (folder: string) => (await takeGuard(folder, mechanisms))?.release
  return work({ clock, ids: createIds(clock), disk: createDisk(), start: startDirectly, hold }).finally(() => {
    for (const end of undo) end()
  })
}
