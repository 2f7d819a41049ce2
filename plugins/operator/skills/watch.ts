/** Notices that a skill may have changed. */
import { realFolder, watchFolders, type Clock, type Log } from '../../../core/plugin.js'
import type { SkillRoot } from './roots.js'

/** Quiet time after a change before the folders are read, milliseconds; and the longest that changes put it off. */
const [quietMs, longestMs] = [200, 2_000]
/** Between two looks for roots that were not there, milliseconds: a watch is never told of them. */
const pauseMs = 2_000

export interface SkillWatch {
  readonly roots: readonly SkillRoot[]
  readonly clock: Clock
  readonly log: Log
  readonly look: () => Promise<void>
  /** The folders that the last look saw. */
  readonly folders: () => Iterable<string>
}

/** Returns what ends it. */
export const watchSkills = ({ roots, clock, log, look, folders }: SkillWatch): (() => void) => {
  let [isOver, cancelLook, cancelPause, known] = [false, () => {}, () => {}, '']
  let since: number | undefined
  const lookNow = async (): Promise<void> => {
    since = undefined
    await look()
    if (!isOver && watching.set(folders())) soon()
  }
  const soon = (): void => {
    cancelLook()
    if (isOver) return
    since ??= clock.elapsed()
    cancelLook = clock.after(Math.max(0, Math.min(quietMs, since + longestMs - clock.elapsed())), () => {
      lookNow().catch((error: unknown) => log.error('skills could not be read', { error }))
    })
  }
  const watching = watchFolders({
    changed() {
      // A root that is away for a moment is there again at the next visit, and is another one.
      known = ''
      soon()
    },
    failed: (folder, error) => log.warn('a folder of skills cannot be watched', { folder, error }),
  })
  const visit = (): void => {
    const there = roots.flatMap(({ folder }) => {
      const real = realFolder(folder)
      return real?.isFolder === true ? [real.path] : []
    })
    if (there.join('\n') !== known) soon()
    known = there.join('\n')
    cancelPause = clock.after(pauseMs, visit)
  }
  visit()
  return () => {
    isOver = true
    cancelLook()
    cancelPause()
    watching.close()
  }
}
