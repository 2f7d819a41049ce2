/**
 * The story of one life: take the root, open the state, let the plugins
 * declare, recover, repair, start, listen; and back in reverse. Whatever a
 * step takes is given back when a later one fails.
 */
import { createAudit } from './records/audit.js'
import { createClock, type Clock } from './base/clock.js'
import type { Environment, Flags } from './base/config.js'
import type { Bus } from './events/bus.js'
import { createLagCheck } from './events/lagged.js'
import type { Findings } from './records/findings.js'
import { coreRoutes } from './core-routes.js'
import { addressOf, checkAccess, checkAddress, createControlPlane, type ControlPlane } from './control-plane.js'
import { createBoot, type Boot } from './host/lifecycle/boot.js'
import { configContent } from './host/configuration/config-content.js'
import { createConfigure } from './host/configuration/configure.js'
import { createLists, type Lists } from './host/configuration/lists.js'
import { Host, type HostView } from './host/contract.js'
import { errors, isStartEnded } from './host/errors.js'
import { createHost, type PluginHost } from './host/lifecycle/host.js'
import { mayHaveThirdParty } from './host/load/candidates.js'
import type { Loaded } from './host/load/load.js'
import { loadShipped, loadThirdParty, watchFiles, type PluginLoaderOptions } from './host/lifecycle/plugin-loader.js'
import { createView } from './host/lifecycle/view.js'
import { processMetrics } from './metrics/process-metrics.js'
import { createHold, type Hold } from './records/hold.js'
import { openRetention, retentionConfig, type OpenRetention } from './open-retention.js'
import { createIds, type IdSource } from './base/ids.js'
import { keepAlive } from './base/keep-alive.js'
import type { Log } from './base/text/log.js'
import * as kit from './plugin.js'
import { createReadyState } from './readiness.js'
import type { ShippedPlugin } from './plugin/contract.js'
import type { JsonObject } from './base/schema.js'
import type { Secrets } from './base/text/secrets.js'
import { daemonSettings, type Settings } from './base/settings.js'
import type { Disk } from './state/disk/disk.js'
import type { Lock } from './state/root/lock.js'
import { createProcesses, type OwnProcesses } from './processes/processes.js'
import { createProgramServices } from './program-services.js'
import { isBehindLoss } from './state/storage-errors.js'
import type { OpenState, RecoveryReport } from './state/store/root.js'
import { isDeclared, recoveryFound } from './start-findings.js'
import { isMade } from './state/root/root-document.js'
import { giveLastAnswers, openRoot, takeRoot, type RootParts } from './take-root.js'
import { version } from './base/version.js'
import { beginWork } from './work.js'

export interface DaemonOptions {
  readonly settings: Settings
  readonly shipped: readonly ShippedPlugin[]
  readonly log: Log
  readonly secrets: Secrets
  readonly disk: Disk
  readonly guards?: RootParts['guards']
  readonly clock?: Clock
  readonly environment?: Environment
  readonly flags?: Flags
  /** Configuration by plugin id that stands in for `config/<id>.toml`. */
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Told of the host before any plugin runs, so that faults of a start can be charged. */
  readonly onHost?: (host: PluginHost) => void
  /** False to begin no run, schedule or delivery in this life, without a word to the next; true when absent. */
  readonly begins?: boolean
  /** Most milliseconds that one plugin may take to start or stop; 10 s when absent. To import ours, six times that. */
  readonly patienceMs?: number
  /** True: records cannot be written to where no plugin of others is loaded either. */
  readonly freezesRecords?: boolean
  /** Aborts when the daemon is asked to stop before it has started. */
  readonly asked?: AbortSignal
}

/** How a daemon ended: `clean` is false if a step of the shutdown failed. */
export interface Ending {
  readonly reason: 'stopped' | 'lock_lost'
  readonly clean: boolean
}

export interface Daemon {
  readonly url: string
  readonly root: string
  readonly host: PluginHost
  readonly view: HostView
  /** Most milliseconds that a stop waits on purpose: for requests in flight and for the plugins. */
  readonly stopMs: () => number
  /** Has ready what would take time at the first need. */
  prepare(): void
  /** Drains, stops the plugins backwards, closes the state, frees the root. Every call returns the same promise. */
  stop(): Promise<Ending>
  readonly ended: Promise<Ending>
}

interface DaemonContext extends DaemonOptions {
  readonly patienceMs: number
  readonly clock: Clock
  readonly ids: IdSource
  readonly boot: Boot
  readonly loader: PluginLoaderOptions
  readonly processes: OwnProcesses
  phase: 'starting' | 'ready' | 'draining'
}

const ownFlags: ReadonlySet<string> = new Set(daemonSettings.map(({ flag }) => flag))

/** Throws `start_ended` if it is asked to stop meanwhile; its member `clean` is false if a step of that failed. */
export const startDaemon = async (options: DaemonOptions): Promise<Daemon> => {
  const { settings, log, clock = createClock(), patienceMs = 10_000, asked } = options
  const boot = createBoot({
    clock,
    safe: settings.safe,
    asked,
    onFault: (step, error) =>
      log[isBehindLoss(error) ? 'debug' : 'error']('a step of the stop failed', { step, error }),
  })
  boot.own('process', keepAlive())
  try {
    const loader = loaderOptions({ ...options, clock, patienceMs })
    const ids = createIds(clock)
    const processes = createProcesses({ ids, log })
    boot.own('processes', processes.close)
    return await start({ ...options, patienceMs, clock, ids, boot, loader, processes, phase: 'starting' })
  } catch (error) {
    const clean = await boot.teardown()
    throw isStartEnded(error) ? errors.start_ended({ members: { clean } }) : error
  }
}

const loaderOptions = (
  options: DaemonOptions & Pick<PluginLoaderOptions, 'clock' | 'patienceMs'>,
): PluginLoaderOptions => ({
  ...options,
  kit,
  safe: options.settings.safe,
  environment: options.environment ?? {},
  flags: options.flags ?? new Map(),
  taken: ownFlags,
  guard: options.secrets.guard,
  given: options.config ?? {},
})

const start = async (context: DaemonContext): Promise<Daemon> => {
  const { boot, loader, settings, clock, log } = context
  checkAccess(settings)
  const checkRetention = (): void => void (settings.safe || retentionConfig(context, settings.stateRoot))
  const shipped = await boot.step('load', () => loadShipped(loader, settings.stateRoot, checkRetention))
  // A start that cannot listen leaves no root behind.
  if (!isMade(context.disk, settings.stateRoot)) await checkAddress(settings)
  const lock = await takeRoot(context)
  const { opened, bus, findings, keepEpoch } = await openRoot(context, lock)
  const loaded = await boot.step(
    'plugins',
    () => loadThirdParty(loader, lock.root, shipped),
    (plugins) => ({ count: plugins.length }),
  )
  if (context.freezesRecords === true || loaded.some(({ candidate }) => candidate.from !== 'shipped'))
    opened.freezeRecords()
  const before = configContent(context.disk, lock.root)
  const hold = createHold({ state: opened.state, clock, log })
  const retention = openRetention({ ...context, safe: settings.safe, lock, state: opened.state, hold })
  const taken = { lock, opened, bus, findings, hold, loaded, retention }
  const { host, view, controlPlane, lists } = assemble(context, taken)

  await boot.step('register', host.register)
  retention.declared(areAllHere(context, lock.root, host))
  const report = await boot.step('recover', opened.load, tellRecovery)
  findings.load()
  await hold.load(settings.hold, context.begins !== false)
  findings.note(recoveryFound(lock.root, report))
  for (const what of report.rebuilt.filter(isDeclared)) log.info('an index was made again', { what })
  await keepEpoch()
  await beginWork({ ...context, root: lock.root, state: opened.state, host, findings, hold })
  boot.own('http', () => controlPlane.server.drain(settings.drainMs))
  const bound = await boot.step('listen', controlPlane.listen)
  lock.listensAt(addressOf(bound))
  for (const { message, code, action } of controlPlane.warnings()) log.warn(message, { code, action })
  boot.done()
  context.phase = 'ready'
  boot.own('retention', retention.begin())
  boot.own(
    'config',
    watchFiles(loader, {
      root: lock.root,
      before,
      lists,
      loaded,
      host,
      check: () => void retentionConfig(context, lock.root),
    }),
  )
  return createDaemon(context, { lock, host, view, url: `http://${addressOf(bound)}` })
}

/** False where a plugin is left out or did not come up: what it would have declared is not known. */
const areAllHere = ({ settings, disk }: DaemonContext, root: string, host: PluginHost): boolean =>
  host.reports().every(({ state }) => state === 'registered') && !(settings.safe && mayHaveThirdParty(disk, root))

const tellRecovery = ({ replayed, segments, sequence }: RecoveryReport) => ({ replayed, segments, sequence })

interface Taken {
  readonly lock: Lock
  readonly opened: OpenState
  readonly bus: Bus
  readonly findings: Findings
  readonly hold: Hold
  readonly retention: OpenRetention
  readonly loaded: readonly Loaded[]
}

const assemble = (
  context: DaemonContext,
  { lock, opened, bus, findings, hold, loaded, retention }: Taken,
): { host: PluginHost; view: HostView; controlPlane: ControlPlane; lists: Lists } => {
  const { settings, log, clock, ids, secrets, disk, boot, patienceMs } = context
  const { root } = lock
  const audit = createAudit({ state: opened.state, clock, log })
  boot.own('audit', audit.close)
  const ready = createReadyState(() => context.phase === 'ready')
  const controlPlane = createControlPlane({
    settings,
    bus,
    log,
    clock,
    secrets,
    audit: audit.record,
    ready: ready.now,
    state: opened.state,
    onFault: ({ owner, route, error }) => host.fault(owner, `the route ${route}`, error),
  })
  const own = processMetrics(boot.report().started_at_ms)
  const lists = createLists({ disk, root, given: context.loader.given, safe: settings.safe, guard: secrets.guard })
  const view = createView({
    version,
    stateRoot: root,
    workspaceRoot: settings.workspaceRoot,
    boot,
    bus,
    phase: () => context.phase,
    lock: () => ({ ...lock.status(), generation: lock.generation }),
    controlPlane: controlPlane.report,
    accessWarnings: controlPlane.warnings,
    findings,
    hold,
    delayReady: ready.delay,
    lists,
    retention: retention.get,
    host: () => host,
    metrics: () => [...own, ...controlPlane.server.metrics, ...opened.metrics()],
  })
  const configure = createConfigure({ ...context.loader, root })
  const generation = (): number => opened.state.health.generation
  const programs = createProgramServices({ ...context, stateRoot: root, generation })
  const host = createHost({
    core: { clock, ids, log, secrets, state: opened.state, events: bus },
    loaded,
    services: [[Host, view], ...programs.services],
    routes: controlPlane.routes,
    configure,
    lists,
    patienceMs,
    asked: context.asked,
  })
  boot.own('lists', host.registry.health('core', lists.health))
  boot.own('event streams', host.registry.health('core', createLagCheck(bus, clock)))
  for (const route of coreRoutes({ opened, lock, disk, clock, hold, findings, retention }))
    controlPlane.routes.add('core', route)
  // Probes are answered until the plugins have stopped.
  boot.own('listener', controlPlane.server.close)
  boot.own('last answers', () => giveLastAnswers(lock, clock))
  boot.own('sandbox', programs.close)
  boot.own('plugins', host.stop)
  boot.own('acting', () => hold.end(patienceMs + host.stopMs()))
  context.onHost?.(host)
  return { host, view, controlPlane, lists }
}

interface Running {
  readonly lock: Lock
  readonly host: PluginHost
  readonly view: HostView
  readonly url: string
}

const createDaemon = (context: DaemonContext, { lock, host, view, url }: Running): Daemon => {
  let ending: Promise<Ending> | undefined
  let tell: (ending: Ending) => void
  const ended = new Promise<Ending>((resolve) => {
    tell = resolve
  })
  const end = async (reason: Ending['reason']): Promise<Ending> => {
    context.phase = 'draining'
    const outcome: Ending = { reason, clean: await context.boot.teardown() }
    tell(outcome)
    return outcome
  }
  const stop = (reason: Ending['reason']): Promise<Ending> => (ending ??= end(reason))
  lock.onLost(() => void stop('lock_lost'))
  const stopMs = (): number => context.settings.drainMs + host.stopMs()
  const { prepare } = context.processes
  return { url, root: lock.root, host, view, stopMs, prepare, stop: () => stop('stopped'), ended }
}
