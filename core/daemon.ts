/**
 * The story of one life: take the root, open the state, let the plugins
 * declare, recover, repair, start, listen; and back in reverse. Whatever a
 * step takes is given back when a later one fails.
 */
import { createAudit } from './audit.js'
import { createBackupRoute } from './backup-route.js'
import { createClock, type Clock } from './clock.js'
import type { Environment, Flags } from './config.js'
import { nextEpoch } from './epoch.js'
import { createBus, type Bus } from './events/bus.js'
import { createLagCheck } from './events/lagged.js'
import { createFindings, type Findings } from './findings.js'
import { findingRoutes } from './findings-routes.js'
import { addressOf, checkAccess, createFront, type Front } from './front.js'
import { createStory, type Story } from './host/boot.js'
import { shippedCandidate } from './host/candidate.js'
import { mayHaveThirdParty, thirdParty } from './host/candidates.js'
import { configContent } from './host/config-content.js'
import { checkFlags, createConfigure, refuseUnknownFlags } from './host/configure.js'
import { Host, type HostView } from './host/contract.js'
import { createHost, type PluginHost } from './host/host.js'
import { loadAll, type Loaded } from './host/load.js'
import { createView } from './host/view.js'
import { createHold, releaseRoute, type Hold } from './hold.js'
import { createIds, type IdSource } from './ids.js'
import { keepAlive } from './keep-alive.js'
import type { Log } from './log.js'
import type { ShippedPlugin } from './plugin.js'
import type { JsonObject } from './schema.js'
import type { Secrets } from './secrets.js'
import { daemonSettings, type Settings } from './settings.js'
import type { State } from './state/contract.js'
import type { Disk } from './state/disk.js'
import { acquireLock, type Lock } from './state/lock.js'
import { openState, type OpenState, type RecoveryReport } from './state/root.js'
import { damageFound, recoveryFound } from './start-findings.js'
import { storageErrors } from './state/storage-errors.js'
import { version } from './version.js'
import { beginWork } from './work.js'

export interface DaemonOptions {
  readonly settings: Settings
  readonly shipped: readonly ShippedPlugin[]
  readonly log: Log
  readonly secrets: Secrets
  readonly disk: Disk
  readonly clock?: Clock
  readonly environment?: Environment
  readonly flags?: Flags
  /** Configuration by plugin id that stands in for `config/<id>.toml`. */
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Told of the host before any plugin runs, so that faults of a start can be charged. */
  readonly onHost?: (host: PluginHost) => void
  /** Most milliseconds that one plugin may take to start or stop; 10 s when absent. To import it, six times as long. */
  readonly patienceMs?: number
}

/** All plugins are imported at once, on a machine that may have much else to do. */
const importPatience = 6

/** How a daemon ended: `clean` is false if something on the way back failed. */
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
  /** Drains, stops the plugins backwards, closes the state, frees the root. Every call returns the same promise. */
  stop(): Promise<Ending>
  readonly ended: Promise<Ending>
}

interface Life extends DaemonOptions {
  readonly patienceMs: number
  readonly clock: Clock
  readonly ids: IdSource
  readonly story: Story
  phase: 'starting' | 'ready' | 'draining'
}

const ownFlags: ReadonlySet<string> = new Set(daemonSettings.map(({ flag }) => flag))

export const startDaemon = async (options: DaemonOptions): Promise<Daemon> => {
  const { settings, log, clock = createClock() } = options
  const story = createStory({
    clock,
    safe: settings.safe,
    onFault: (step, error) => log.error('a step of the stop failed', { step, error }),
  })
  story.own('process', keepAlive())
  try {
    return await live({ patienceMs: 10_000, ...options, clock, ids: createIds(clock), story, phase: 'starting' })
  } catch (error) {
    await story.back()
    throw error
  }
}

const live = async (life: Life): Promise<Daemon> => {
  const { story } = life
  checkAccess(life.settings)
  const shipped = await loadShipped(life)
  const lock = await takeRoot(life)
  const { opened, bus, findings, keepEpoch } = await openRoot(life, lock)
  const loaded = await story.step(
    'plugins',
    () => loadPlugins(life, lock.root, shipped),
    (plugins) => ({ count: plugins.length }),
  )
  const before = configContent(life.disk, lock.root)
  const { clock, log } = life
  const hold = createHold({ state: opened.state, clock, log })
  const { host, view, front } = assemble(life, { lock, opened, bus, findings, hold, loaded })

  await story.step('register', host.register)
  const report = await story.step('recover', opened.load, tellRecovery)
  findings.load()
  await hold.load(life.settings.hold)
  findings.note(recoveryFound(lock.root, report))
  await keepEpoch()
  await beginWork({ ...life, state: opened.state, host, findings })
  story.own('http', () => front.server.drain(life.settings.drainMs))
  const bound = await story.step('listen', front.listen)
  for (const { message, code, action } of front.warnings()) life.log.warn(message, { code, action })
  story.done()
  life.phase = 'ready'
  watchFiles(life, { root: lock.root, before, loaded, host })
  return createDaemon(life, { lock, host, view, url: `http://${addressOf(bound)}` })
}

/** What is wrong with the command line is said before the root is touched. */
const loadShipped = async (life: Life): Promise<readonly Loaded[]> => {
  const { clock, disk, settings, flags = new Map(), patienceMs } = life
  const shipped = await loadAll(life.shipped.map(shippedCandidate), { clock, ms: importPatience * patienceMs })
  checkFlags(configureOptions(life, settings.stateRoot), shipped)
  if (settings.safe || !mayHaveThirdParty(disk, settings.stateRoot)) refuseUnknownFlags(flags, ownFlags, shipped)
  return shipped
}

const tellRecovery = ({ replayed, segments, sequence }: RecoveryReport) => ({ replayed, segments, sequence })

const takeRoot = ({ settings, story, clock, log, disk }: Life): Promise<Lock> =>
  story.step('lock', async () => {
    const lock = await acquireLock({ root: settings.stateRoot, clock, log, disk })
    story.own('lock', lock.release)
    return lock
  })

/** Nothing is published before the state is loaded, so the bus may come after the state whose epoch it needs. */
const openRoot = async (
  life: Life,
  lock: Lock,
): Promise<{ opened: OpenState; bus: Bus; findings: Findings; keepEpoch: () => Promise<void> }> => {
  const { story, clock, ids, log, disk, settings } = life
  const { root, generation } = lock
  const opened = await story.step('open', () =>
    openState({
      root,
      disk,
      clock,
      ids,
      log,
      generation,
      owned: lock.held,
      publish: (event) => bus.post(event),
      onDamage: (fault) => findings.note([damageFound(root, fault)]),
    }),
  )
  story.own('state', async () => {
    if (!(await opened.close())) throw storageErrors.storage_not_clean()
  })
  lock.onLost(() => opened.halt('lock_lost'))
  const findings = createFindings({ state: opened.state, clock, ids, log })
  const epoch = nextEpoch(opened.state, clock, log)
  const bus = createBus({
    epoch: epoch.value,
    capacity: settings.eventHistoryCapacity,
    bytes: settings.eventHistoryBytes,
    onFault: ({ owner, event, error }) => log.error('an event listener failed', { owner, event, error }),
  })
  return { opened, bus, findings, keepEpoch: epoch.save }
}

/** Third-party code is looked at only after the root has been checked and taken. */
const loadPlugins = async (life: Life, root: string, shipped: readonly Loaded[]): Promise<readonly Loaded[]> => {
  const { settings, clock, disk, flags, patienceMs } = life
  const candidates = settings.safe ? [] : await thirdParty(disk, root)
  const added = await loadAll(candidates, { clock, ms: importPatience * patienceMs })
  checkFlags(configureOptions(life, root), added)
  const loaded = [...shipped, ...added]
  refuseUnknownFlags(flags ?? new Map(), ownFlags, loaded)
  return loaded
}

interface Taken {
  readonly lock: Lock
  readonly opened: OpenState
  readonly bus: Bus
  readonly findings: Findings
  readonly hold: Hold
  readonly loaded: readonly Loaded[]
}

const assemble = (
  life: Life,
  { lock, opened, bus, findings, hold, loaded }: Taken,
): { host: PluginHost; view: HostView; front: Front } => {
  const { settings, log, clock, ids, secrets, disk, story, patienceMs } = life
  const { root } = lock
  const audit = createAudit({ state: opened.state, clock, log })
  story.own('audit', audit.close)
  const front = createFront({
    settings,
    bus,
    log,
    clock,
    secrets,
    watch: () => watchState(opened.state),
    audit: audit.record,
    ready: () => life.phase === 'ready',
    storage: () => opened.state.health,
    onFault: ({ owner, route, error }) => host.fault(owner, `the route ${route}`, error),
  })
  const view = createView({
    version,
    stateRoot: root,
    workspaceRoot: settings.workspaceRoot,
    story,
    bus,
    phase: () => life.phase,
    lock: () => ({ ...lock.status(), generation: lock.generation }),
    controlPlane: front.report,
    accessWarnings: front.warnings,
    findings,
    hold,
    host: () => host,
  })
  const configure = createConfigure(configureOptions(life, root))
  const host = createHost({
    core: { clock, ids, log, secrets, state: opened.state, events: bus },
    loaded,
    services: [[Host, view]],
    routes: front.routes,
    configure,
    patienceMs,
  })
  story.own('event streams', host.registry.health('core', createLagCheck(bus, clock)))
  front.routes.add('core', createBackupRoute({ opened, lock, disk, clock }))
  front.routes.add('core', releaseRoute(hold))
  for (const route of findingRoutes(findings)) front.routes.add('core', route)
  // Probes are answered until the plugins have stopped.
  story.own('listener', front.server.close)
  story.own('plugins', host.stop)
  life.onHost?.(host)
  return { host, view, front }
}

/** Nothing of the start waits for this; the way back does. */
const watchFiles = (
  life: Life,
  { root, before, loaded, host }: { root: string; before: string; loaded: readonly Loaded[]; host: PluginHost },
): void => {
  const { disk, log, story } = life
  const check = (): void => {
    const configure = createConfigure(configureOptions(life, root))
    for (const entry of loaded) if (entry.ok) configure(entry.plugin)
  }
  const begin = async (): Promise<() => Promise<void>> => {
    const { watchConfig } = await import('./host/config-watch.js')
    const watching = await watchConfig({ disk, root, before, log, check })
    const forget = host.registry.health('core', watching.health)
    return () => {
      forget()
      return watching.close()
    }
  }
  const begun = begin().catch((error: unknown) => log.warn('config/ cannot be watched', { error }))
  story.own('config', async () => {
    await (
      await begun
    )?.()
  })
}

const configureOptions = ({ disk, environment, flags, secrets, config }: Life, root: string) => ({
  disk,
  root,
  environment: environment ?? {},
  flags: flags ?? new Map(),
  taken: ownFlags,
  guard: secrets.guard,
  given: config ?? {},
})

/** What a request saw is on disk before its answer leaves; what was undone meanwhile is never told. */
const watchState = ({ health, durable }: State): (() => Promise<void>) => {
  const since = health.undone
  return () => durable(since)
}

interface Running {
  readonly lock: Lock
  readonly host: PluginHost
  readonly view: HostView
  readonly url: string
}

const createDaemon = (life: Life, { lock, host, view, url }: Running): Daemon => {
  let ending: Promise<Ending> | undefined
  let tell: (ending: Ending) => void
  const ended = new Promise<Ending>((resolve) => {
    tell = resolve
  })
  const end = async (reason: Ending['reason']): Promise<Ending> => {
    life.phase = 'draining'
    const outcome: Ending = { reason, clean: await life.story.back() }
    tell(outcome)
    return outcome
  }
  const stop = (reason: Ending['reason']): Promise<Ending> => (ending ??= end(reason))
  lock.onLost(() => void stop('lock_lost'))
  const stopMs = (): number => life.settings.drainMs + host.stopMs()
  return { url, root: lock.root, host, view, stopMs, stop: () => stop('stopped'), ended }
}
