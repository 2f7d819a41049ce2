/** A whole daemon in the process of a test, on a root of its own. */
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClock, type Clock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import type { JsonObject } from '../base/schema.js'
import { createSecrets } from '../base/text/secrets.js'
import { readSettings } from '../base/settings.js'
import { startDaemon, type Daemon } from '../daemon.js'
import { declarationsOf } from '../shipped.js'
import type { AnyPlugin, ShippedPlugin } from '../plugin/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { createDisk } from '../state/disk/real-disk.js'
import { verifyRoot } from '../state/inspect/verify.js'
import { unwritten } from '../state/storage-errors.js'

/** A line that the daemon logged. */
export interface LogEntry {
  readonly level: string
  readonly fact: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface InProcessOptions {
  readonly root: string
  readonly plugins: readonly ShippedPlugin[]
  /** Configuration by plugin id. */
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Flags of serve without dashes. */
  readonly flags?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly disk?: Disk
  /** Most milliseconds that one plugin may take to start or stop. */
  readonly patienceMs?: number
  /** Told of each line of the log as it comes. */
  readonly tell?: (entry: LogEntry) => void
}

export interface InProcessDaemon {
  readonly daemon: Daemon
  readonly log: readonly LogEntry[]
  /** What is wrong with the root, in sentences. Ask when the daemon has stopped. */
  rootFaults(): Promise<readonly string[]>
}

const createLog = (tell: InProcessOptions['tell']): { readonly log: Log; readonly entries: LogEntry[] } => {
  const entries: LogEntry[] = []
  const at =
    (level: string): Log['info'] =>
    (fact, details = {}) => {
      const entry = { level, fact, details }
      entries.push(entry)
      tell?.(entry)
    }
  return { entries, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

export interface StoppedRoot {
  readonly root: string
  readonly disk: Disk
  readonly clock: Clock
  readonly plugins: readonly ShippedPlugin[]
}

/** The plugins of one list declare the same whenever they are asked. */
const declared = new WeakMap<readonly ShippedPlugin[], ReturnType<typeof declarationsOf>>()
const declaredBy = (plugins: readonly ShippedPlugin[]): ReturnType<typeof declarationsOf> => {
  const known = declared.get(plugins) ?? declarationsOf(plugins)
  declared.set(plugins, known)
  return known
}

/**
 * A daemon that was at work leaves a root without a fault. Strangers are what the test itself put there, because the
 * workspace is in the root.
 */
export const rootFaults = async ({ root, disk, clock, plugins }: StoppedRoot): Promise<readonly string[]> => {
  if (disk.stat(path.join(root, 'root.json')) === undefined) return []
  const { findings } = await verifyRoot({ root, disk, clock, live: false, declared: await declaredBy(plugins) })
  return findings
    .filter(({ kind, severity }) => kind !== 'stranger' && severity !== 'leftover')
    .map(({ file, offset, rule }) => `the state root is not clean: ${file} at byte ${offset}: ${rule}`)
}

/** A plugin beside the shipped ones, as one of them. */
export const asShipped = (plugin: AnyPlugin): ShippedPlugin => ({
  id: plugin.id,
  required: false,
  load: () => Promise.resolve({ default: plugin }),
})

/**
 * To take the first of all guards a program is started: to fork the process of many tests for it takes a quarter of a
 * start.
 */
const guards = ['socket', 'flock', 'lockfile'] as const

/** A daemon in this process, on a free port. */
export const startInProcess = async (options: InProcessOptions): Promise<InProcessDaemon> => {
  const { root, plugins, disk = createDisk(), clock = createClock() } = options
  const { log, entries } = createLog(options.tell)
  const flags = new Map(
    Object.entries({ bind: '127.0.0.1:0', 'state-root': root, 'workspace-root': root, ...options.flags }),
  )
  const daemon = await startDaemon({
    settings: readSettings({ environment: {}, flags, guard: () => {} }),
    shipped: plugins,
    log,
    disk,
    guards,
    clock,
    flags,
    secrets: createSecrets({ disk, root, unwritten }),
    config: options.config ?? {},
    freezesRecords: true,
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
  })
  return { daemon, log: entries, rootFaults: () => rootFaults({ root, disk, clock, plugins }) }
}

/** Removes a folder with all that is in it; nothing if it is not there. */
export const removeTree = async (disk: Disk, at: string): Promise<void> => {
  const { kind } = disk.stat(at) ?? {}
  if (kind === undefined) return
  if (kind !== 'folder') return disk.unlink(at)
  for (const name of disk.list(at)) await removeTree(disk, path.join(at, name))
  await disk.removeFolder(at)
}

/** Runs with a fresh folder that is removed afterwards. */
export const withFolder = async <T>(run: (folder: string) => Promise<T>): Promise<T> => {
  const disk = createDisk()
  const folder = path.join(tmpdir(), `holdfast-${createIds(createClock()).random(8)}`)
  await disk.makeFolder(folder)
  try {
    return await run(folder)
  } finally {
    await removeTree(disk, folder)
  }
}
