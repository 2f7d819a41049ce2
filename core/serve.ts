/** `holdfast serve`: one daemon in the foreground, from its first line to its exit code. */
import { setMaxListeners } from 'node:events'
import { createClock, type Clock } from './base/clock.js'
import { boundHeap, collectAtRest } from './base/memory/heap.js'
import { errors as configErrors, type Environment, type Flags } from './base/config.js'
import { isStartEnded } from './host/errors.js'
import { startDaemon, type Daemon, type Ending } from './daemon.js'
import { Problem } from './base/errors.js'
import { shippedPlugins } from './shipped.js'
import type { PluginHost } from './host/lifecycle/host.js'
import { createLog, type Log } from './base/text/log.js'
import { isError } from './base/text/thrown.js'
import { createSecrets, type Secrets } from './base/text/secrets.js'
import { readSettings, type Settings } from './base/settings.js'
import { sameKeyMs } from './same-key.js'
import { limitStop } from './stop-limit.js'
import type { Disk } from './state/disk/disk.js'
import { createDisk } from './state/disk/real-disk.js'
import { version } from './base/version.js'
import { within } from './base/within.js'
import { isTerminal, logLine } from './cli/terminal.js'
import { unwritten } from './state/storage-errors.js'

export interface ServeInput {
  readonly flags: Flags
  readonly environment: Environment
  /** Ends the process at once. */
  readonly exit: (code: number) => never
  readonly print: (line: string) => void
}

const logTo = (settings: Settings, secrets: Secrets, write: (line: string) => void): Log => {
  const { logFormat, logLevel: level } = settings
  const format = logFormat === 'auto' ? (isTerminal() ? 'pretty' : 'json') : logFormat
  return createLog({ level, format, secrets, write })
}

/** An error's line as the log would write it. */
type LineOf = (fact: string, details: Readonly<Record<string, unknown>>) => string
const lineMaker =
  (settings: Settings, secrets: Secrets): LineOf =>
  (fact, details) => {
    let made = ''
    logTo(settings, secrets, (line) => {
      made = line
    }).error(fact, details)
    return made
  }

/** Aborts with the first signal, which asks for a drain; a second one does not wait. */
const onSignals = ({ exit, log, clock }: Pick<ServeInput, 'exit'> & { log: Log; clock: Clock }): AbortSignal => {
  const asking = new AbortController()
  setMaxListeners(0, asking.signal)
  let asked: number | undefined
  const hear = (signal: string): void => {
    if (asked !== undefined) {
      if (signal === 'SIGTERM') exit(143)
      else if (signal === 'SIGHUP') exit(129)
      else if (clock.elapsed() - asked > sameKeyMs) exit(130)
      return
    }
    asked = clock.elapsed()
    log.info('asked to stop', { signal })
    asking.abort(signal)
  }
  // A file that reaches the limit of its size is a failed write, as a full disk is, and not the end.
  process.on('SIGXFSZ', () => log.warn('a file reached the limit of its size'))
  process.on('SIGTERM', hear)
  process.on('SIGINT', hear)
  // Node hears it also where it was started to be ignored.
  process.on('SIGHUP', hear)
  return asking.signal
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })

/** The exit code of a start that was asked to stop; throws what else kept the daemon from starting. */
const unstarted = (error: unknown, log: Log): number => {
  if (!isStartEnded(error)) throw error
  const clean = error.occurrence.members?.['clean'] === true
  log.info('stopped', { reason: 'stopped', clean })
  return clean ? 0 : 1
}

/**
 * What nobody caught. A plugin's is charged to it. A problem, such as a
 * refused commit, or something that is no error leaves the daemon whole. Any
 * other error may have broken it, so it ends.
 */
const watchFaults = (log: Log, host: () => PluginHost | undefined, broken: (reason: Broken) => void): void => {
  const hear =
    (what: string, reason: Broken) =>
    (error: unknown): void => {
      if (host()?.charge(what, error) !== undefined) return
      log.error(what, { ...host()?.suspects(error), error })
      if (isError(error) && !(error instanceof Problem)) broken(reason)
    }
  process.on('uncaughtException', hear('an uncaught exception', 'uncaught_exception'))
  process.on('unhandledRejection', hear('an unhandled rejection', 'unhandled_rejection'))
}

/** Why a daemon stops that nobody asked to. */
type Broken = 'uncaught_exception' | 'unhandled_rejection'

/** For what a stop does beside waiting on purpose, such as the last checkpoint. */
const slackMs = 30_000
/** For the lines about a stop that took too long, while the event loop still turns. */
const lastMs = 5_000

const stopped = async (daemon: Daemon, clock: Clock, lineOf: LineOf): Promise<Ending> => {
  const ms = daemon.stopMs() + slackMs
  limitStop({ ms: ms + lastMs, line: lineOf('the stop did not end in time: the process is killed', { ms }) })
  const end = daemon.stop()
  return (await within(clock, ms, end)) ? end : { reason: 'stopped', clean: false }
}

const readyLine = ({ url, root }: Daemon, settings: Settings): string =>
  `Holdfast ${version} is ready at ${url}, state in ${root}, logs on standard error (${settings.logLevel} and above)`

/** Tools would fail one by one in a folder that is not there. */
const checkWorkspace = ({ workspaceRoot }: Settings, flags: Flags, disk: Disk): void => {
  if (disk.stat(workspaceRoot)?.kind === 'folder') return
  const source = flags.has('workspace-root') ? '--workspace-root' : 'SERVICE_WORKSPACE_ROOT'
  throw configErrors.config_invalid({ details: { source, problem: `must be a folder that exists: ${workspaceRoot}` } })
}

/** By then the first requests are answered, and memory has not grown yet. */
const preparedMs = 1_000

/** Resolves with the exit code: 0 after a clean stop, 1 otherwise. */
export const serve = async ({ flags, environment, exit, print }: ServeInput): Promise<number> => {
  const guarded: string[] = []
  const settings = readSettings({ environment, flags, guard: (value) => guarded.push(value) })
  const disk = createDisk()
  checkWorkspace(settings, flags, disk)
  const secrets = createSecrets({ disk, root: settings.stateRoot, unwritten })
  guarded.forEach(secrets.guard)
  const log = logTo(settings, secrets, logLine)
  const clock = createClock()
  let daemon: Daemon | undefined
  let host: PluginHost | undefined
  const asked = onSignals({ exit, log, clock })
  const broke = new Promise<Broken>((resolve) =>
    watchFaults(
      log,
      () => host,
      (why) => (daemon === undefined ? exit(1) : resolve(why)),
    ),
  )
  const started = await startDaemon({
    asked,
    settings,
    shipped: await shippedPlugins(),
    log,
    secrets,
    disk,
    environment,
    flags,
    clock,
    onHost: (made) => {
      host = made
    },
  }).catch((error: unknown) => unstarted(error, log))
  if (typeof started === 'number') return started
  daemon = started
  print(readyLine(daemon, settings))
  log.info('ready', { url: daemon.url, root: daemon.root, ms: daemon.view.boot().total_ms })
  const { prepare } = daemon
  clock.after(preparedMs, () => {
    boundHeap()
    prepare()
  })
  const endCollecting = collectAtRest(clock)
  const cause = await Promise.race([aborted(asked), broke, daemon.ended])
  endCollecting()
  const { clean, reason } = await stopped(daemon, clock, lineMaker(settings, secrets))
  const why = reason === 'stopped' && typeof cause === 'string' ? cause : reason
  log.info('stopped', { reason: why, clean })
  return clean && why === 'stopped' ? 0 : 1
}
