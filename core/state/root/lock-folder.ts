/** The folder `lock/` of a state root, by proper-lockfile: for what the guard does not reach. */
import * as fs from 'node:fs'
import { join } from 'node:path'
import lockfile from 'proper-lockfile'
import { fault } from '../../base/assert.js'
import { codeOf } from '../errors.js'

const staleAfter = 10_000

export interface LockFolder {
  readonly root: string
  /** Removes one that was left: its owner is dead. */
  readonly isLeftover: boolean
  /** Looks whether the root is still ours: one that is not has the folder of another in its place. */
  readonly isOurs: () => boolean
  readonly onTaken: () => void
}

/**
 * Takes the folder; resolves with what removes it. One that may be of a live owner is waited for until proper-lockfile
 * calls it stale: until then throws an error with the code `ELOCKED`.
 */
export const takeLockFolder = async (options: LockFolder): Promise<() => Promise<void>> => {
  const { root, isLeftover, isOurs, onTaken } = options
  const folder = join(root, 'lock')
  if (isLeftover) removeLeftover(folder)
  const unlock = await lockfile.lock(root, {
    lockfilePath: folder,
    realpath: false,
    stale: staleAfter,
    fs: fileSystemWhile(isOurs),
    onCompromised: onTaken,
  })
  return () => unlock().catch(() => {})
}

const removeLeftover = (folder: string): void => {
  try {
    fs.rmdirSync(folder)
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw fault('the folder lock/ of the state root must be empty', cause)
  }
}

type Done = (error: Error | null) => void

/**
 * What proper-lockfile does to the folder. Its timer and its exit hook know nothing but the path, so each change looks
 * first, and is made at once: nobody can take the root in between.
 */
const fileSystemWhile = (isOurs: () => boolean) => {
  const change = (make: () => void): void => {
    if (!isOurs()) throw Object.assign(fault('the state root is no longer ours'), { code: 'ENOENT' })
    make()
  }
  const answer = (done: Done, make: () => void): void => {
    try {
      change(make)
    } catch (cause) {
      return done(cause instanceof Error ? cause : fault('the folder lock/ cannot be changed', cause))
    }
    done(null)
  }
  return {
    stat: fs.stat,
    mkdir: (path: string, done: Done) => answer(done, () => fs.mkdirSync(path, { mode: 0o700 })),
    utimes: (path: string, ...[at, to, done]: [Date, Date, Done]) => answer(done, () => fs.utimesSync(path, at, to)),
    rmdir: (path: string, done: Done) => answer(done, () => fs.rmdirSync(path)),
    rmdirSync: (path: string) => change(() => fs.rmdirSync(path)),
  }
}
