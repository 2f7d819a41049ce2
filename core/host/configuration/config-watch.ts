/**
 * Files in `config/` are read at the start. Those that have a list are applied
 * when they change. Any other change is noticed, checked and told to the
 * operator; the daemon goes on with what it started with, so that a
 * half-written or wrong file changes nothing.
 */
import path from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import { Problem } from '../../base/errors.js'
import type { HealthCheck, Warning } from '../../base/health.js'
import { sentence } from '../../base/text/command-text.js'
import type { Log } from '../../base/text/log.js'
import type { Disk } from '../../state/disk/disk.js'
import { configContent } from './config-content.js'
import type { Lists } from './lists.js'

export interface ConfigWatchOptions {
  readonly disk: Disk
  readonly root: string
  readonly log: Log
  /** What `configContent` said when the daemon read its configuration. */
  readonly before: ReadonlyMap<string, string>
  /** Files, or parts of files, that are applied while the daemon runs. */
  readonly lists: Pick<Lists, 'covers' | 'look'>
  /** Reads every file as a start would; throws the problem of the first that is wrong. */
  readonly check: () => void
}

export interface ConfigWatch {
  readonly health: HealthCheck
  close(): Promise<void>
}

const sameBut = ({ before, lists }: ConfigWatchOptions, now: ReadonlyMap<string, string>): boolean =>
  [...new Set([...before.keys(), ...now.keys()])].every(
    (file) => lists.covers(file) || before.get(file) === now.get(file),
  )

const compare = (options: ConfigWatchOptions): Warning | undefined => {
  const { disk, check, root } = options
  try {
    if (sameBut(options, configContent(disk, root))) return undefined
    check()
    return {
      severity: 'info',
      code: 'config_changed',
      message: 'Files in config/ have changed since the start.',
      action: 'Restart the daemon to use them.',
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return {
      severity: 'warning',
      code: 'config_invalid',
      message: sentence(`A changed file is wrong: ${error.message}`),
      action: 'Correct it: the next start would refuse it. Until then the daemon uses what it started with.',
    }
  }
}

/** Watches the folder, which is made if it is missing: a path that is not there at first would never be seen. */
export const watchConfig = async (options: ConfigWatchOptions): Promise<ConfigWatch> => {
  const { disk, root, log, lists } = options
  const folder = path.join(root, 'config')
  await disk.makeFolder(folder)
  let warning: Warning | undefined
  const look = (): void => {
    lists.look()
    warning = compare(options)
    if (warning !== undefined) log.warn(warning.message, { code: warning.code })
  }
  const watcher: FSWatcher = watch(folder, {
    ignoreInitial: true,
    depth: 0,
    atomic: 200,
    awaitWriteFinish: { stabilityThreshold: 200, pollInterval: 50 },
  })
  watcher.on('all', look)
  watcher.on('ready', look)
  watcher.on('error', (error) => log.warn('config/ cannot be watched', { error }))
  return {
    health: { id: 'config', check: () => (warning === undefined ? [] : [warning]) },
    close: () => watcher.close(),
  }
}
