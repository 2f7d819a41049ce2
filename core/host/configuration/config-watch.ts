/**
 * Files in `config/` are read at the start. Those that have a list are applied
 * when they change. Any other change is noticed, checked and told to the
 * operator; the daemon goes on with what it started with, so that a
 * half-written or wrong file changes nothing. A file that nobody reads is told
 * as well.
 */
import path from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import type { Clock } from '../../base/clock.js'
import { Problem } from '../../base/errors.js'
import type { HealthCheck, Warning } from '../../base/health.js'
import { sentence } from '../../base/text/command-text.js'
import type { Log } from '../../base/text/log.js'
import { visibleLine } from '../../base/text/visible.js'
import { configContent } from './config-content.js'
import { knownFiles, strangeFiles, type ConfigFiles } from './config-files.js'
import type { Lists } from './lists.js'
import { createMissed } from './missed.js'

export interface ConfigWatchOptions extends Pick<ConfigFiles, 'disk' | 'root' | 'plugins'> {
  readonly log: Log
  readonly clock: Pick<Clock, 'after'>
  /** What `configContent` said when the daemon read its configuration. */
  readonly before: ReadonlyMap<string, string>
  /** Files, or parts of files, that are applied while the daemon runs. */
  readonly lists: Pick<Lists, 'covers' | 'files' | 'elsewhere' | 'look'>
  /** Reads every file as a start would; throws the problem of the first that is wrong. */
  readonly check: () => void
  /** What is wrong with the rest of the configuration, as long as the daemon runs. */
  readonly lasting: readonly Warning[]
}

export interface ConfigWatch {
  readonly health: HealthCheck
  close(): Promise<void>
}

/** Names of files that somebody has read at the start, and would read otherwise now. */
const changedFiles = ({ before, disk, root, lists }: ConfigWatchOptions, files: ConfigFiles): readonly string[] => {
  const [now, known] = [configContent(disk, root), knownFiles(files)]
  return [...new Set([...before.keys(), ...now.keys()])].filter(
    (file) => known.has(file) && !lists.covers(file) && before.get(file) !== now.get(file),
  )
}

/** What a problem is of: such as a file, with its line. */
const sourceIn = ({ occurrence: { details = {} } }: Problem): string => visibleLine(String(details['source'] ?? 'it'))

/** What holds while a changed file is wrong: of one with a list the entries are applied already. */
const meanwhile = (source: string, { lists }: ConfigWatchOptions): string =>
  lists.files().some((file) => source.split(':')[0] === `config/${file}.toml`)
    ? 'Until then what stands beside its entries is as it was at the start.'
    : 'Until then the daemon uses what it started with.'

const compare = (options: ConfigWatchOptions, files: ConfigFiles): Warning[] => {
  try {
    const changed = changedFiles(options, files).map((file) => `config/${file}.toml`)
    if (changed.length === 0) return []
    options.check()
    return [
      {
        severity: 'info',
        code: 'config_changed',
        message: `${changed.join(', ')} ${changed.length === 1 ? 'has' : 'have'} changed since the start.`,
        action: `Restart the daemon to use ${changed.join(', ')}.`,
      },
    ]
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return [
      {
        severity: 'warning',
        code: 'config_invalid',
        message: sentence(`A changed file is wrong: ${error.message}`),
        action: `Correct ${sourceIn(error)}: the next start would refuse it. ` + meanwhile(sourceIn(error), options),
      },
    ]
  }
}

/** Between looks whether the folder is another one: who watches the one that was renamed is told nothing. */
const renewMs = 1_000
const watchOptions = {
  ignoreInitial: true,
  depth: 0,
  atomic: 200,
  awaitWriteFinish: { stabilityThreshold: 200, pollInterval: 50 },
} as const

/** Tells a folder from another one of its name; undefined if there is none that can be watched. */
const folderIn = (disk: ConfigWatchOptions['disk'], folder: string): number | undefined => {
  try {
    return disk.stat(folder)?.ino
  } catch {
    return undefined
  }
}

/** Watches the folder, which is made if it is missing: a path that is not there at first would never be seen. */
export const watchConfig = async (options: ConfigWatchOptions): Promise<ConfigWatch> => {
  const { disk, root, log, lists, clock } = options
  const files: ConfigFiles = { ...options, lists: lists.files }
  const folder = path.join(root, 'config')
  await disk.makeFolder(folder)
  let warnings: readonly Warning[] = []
  const missed = createMissed(clock, (file) => look(file))
  const look = (believed?: string): void => {
    const told = new Set(warnings.map(({ message }) => message))
    missed.note(lists.look(believed))
    warnings = [...options.lasting, ...strangeFiles(files), ...compare(options, files)]
    for (const { message, code } of warnings) if (!told.has(message)) log.warn(message, { code })
  }
  let seen = folderIn(disk, folder)
  /** Looks for another folder until all is looked at once more. */
  let owed = 0
  const begin = (): FSWatcher => {
    const watcher = watch([folder, ...lists.elsewhere()], watchOptions)
    watcher.on('all', (event, name) => {
      if (event === 'unlinkDir' && name === folder) seen = undefined
      look()
    })
    watcher.on('ready', () => {
      look()
      // Of a file that is not there the folder is watched, and only from some moment after this on.
      owed = 2
    })
    return watcher.on('error', (error) => log.warn('config/ cannot be watched', { error }))
  }
  let watcher = begin()
  const renew = (): void => {
    const there = folderIn(disk, folder)
    if (there !== undefined && there !== seen) {
      void watcher.close()
      watcher = begin()
      seen = there
    } else if (owed > 0) {
      owed -= 1
      if (owed === 0) look()
    }
    cancel = clock.after(renewMs, renew)
  }
  let cancel = clock.after(renewMs, renew)
  return {
    health: { id: 'config', check: () => warnings },
    close() {
      cancel()
      missed.note([])
      return watcher.close()
    },
  }
}
