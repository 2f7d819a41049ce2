/** Notices that a skill may have changed. */
import { relative, sep } from 'node:path'
import type { FSWatcher } from 'chokidar'
import { realFolder, type Clock, type Log } from '../../../core/plugin.js'
import type { SkillRoot } from './roots.js'

/** Quiet time after a change before the folders are read, milliseconds. */
const quietMs = 200
/** Between two looks for folders that were not there, milliseconds: a watcher is never told of them. */
const pauseMs = 2_000
/** Folders below each other that are watched: those that are read, and what stands beside their files. */
const depth = 7

const isHidden = (root: string, path: string): boolean =>
  relative(root, path)
    .split(sep)
    .some((name) => name.startsWith('.') && name !== '..')

export interface SkillWatch {
  readonly roots: readonly SkillRoot[]
  readonly clock: Clock
  readonly log: Log
  readonly look: () => Promise<void>
}

/** Returns what ends it. */
export const watchSkills = ({ roots, clock, log, look }: SkillWatch): (() => Promise<void>) => {
  const watched = new Map<string, FSWatcher>()
  let [isOver, cancelLook, cancelPause]: [boolean, () => void, () => void] = [false, () => {}, () => {}]
  const soon = (): void => {
    cancelLook()
    if (isOver) return
    cancelLook = clock.after(quietMs, () => {
      look().catch((error: unknown) => log.error('skills could not be read', { error }))
    })
  }
  const add = async (folder: string): Promise<void> => {
    const { watch } = await import('chokidar')
    if (isOver || watched.has(folder)) return
    const ignored = (path: string): boolean => isHidden(folder, path)
    const watcher = watch(folder, { ignoreInitial: true, depth, followSymlinks: false, ignored })
    watched.set(folder, watcher)
    watcher.on('all', soon)
    watcher.on('ready', soon)
    watcher.on('error', (error) => log.warn('a folder of skills cannot be watched', { folder, error }))
  }
  const visit = (): void => {
    const there = new Set(
      roots.flatMap(({ folder }) => {
        const real = realFolder(folder)
        return real?.isFolder === true ? [real.path] : []
      }),
    )
    for (const [folder, watcher] of watched) {
      if (there.has(folder)) continue
      watched.delete(folder)
      void watcher.close()
      soon()
    }
    for (const folder of there)
      if (!watched.has(folder)) add(folder).catch((error: unknown) => log.error('skills cannot be watched', { error }))
    cancelPause = clock.after(pauseMs, visit)
  }
  visit()
  return async () => {
    isOver = true
    cancelLook()
    cancelPause()
    await Promise.all([...watched.values()].map((watcher) => watcher.close()))
  }
}
