/** A daemon for the test of a plugin: in its process, with a clock and a disk that the test commands. */
import path from 'node:path'
import { tmpdir } from 'node:os'
import { fault } from '../base/assert.js'
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import { keepAlive } from '../base/keep-alive.js'
import type { JsonObject } from '../base/schema.js'
import { messageOf, stackOf } from '../base/text/thrown.js'
import { printError } from '../cli/terminal.js'
import type { PluginReport } from '../host/contract.js'
import type { AnyPlugin, AnyPluginModule } from '../plugin/contract.js'
import { shippedPlugins } from '../shipped.js'
import { createDisk } from '../state/disk/real-disk.js'
import { createFaultyDisk, type DiskFaults } from './faulty-disk.js'
import { checkReady, faultsIn, givenPlugin, toolOwners } from './given-plugin.js'
import { createLeapingClock, type LeapingClock } from './leaping-clock.js'
import { send, type Ask } from './send.js'
import { asShipped, removeTree, startInProcess, type InProcessDaemon, type LogEntry } from './test-daemon.js'

/** A plugin that comes with settings of others, such as a model that is the default one. */
export interface Companion {
  readonly plugin: AnyPlugin
  readonly config?: Readonly<Record<string, JsonObject>>
}

/** What a test daemon is made of. */
export interface TestDaemonOptions {
  /** The default exports of the plugins under test and of others that they need. Shipped plugins are there. */
  readonly plugins: readonly (AnyPluginModule['default'] | Companion)[]
  /** Settings by plugin id, as in `config/<id>.toml`. */
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Flags of `serve` without dashes. */
  readonly flags?: Readonly<Record<string, string>>
  /** True: time goes on by leaps of the clock alone. Default: by itself too. */
  readonly still?: boolean
  /** True: plugins may do wrong while they work; `close` does not reject for it, and nothing is printed of it. */
  readonly expectsFaults?: boolean
}

/** A daemon in the process of the test, on a temporary root. */
export interface TestDaemon {
  /** Where it listens; another one after a restart. */
  readonly url: string
  readonly root: string
  /** Its time: a leap makes every timer that becomes due fire, soon after and not within the call. */
  readonly clock: LeapingClock
  /** Faults of its disk. */
  readonly disk: DiskFaults
  /** What this life of it logged. What plugins threw is printed on standard error as well, as it comes. */
  readonly log: readonly LogEntry[]
  readonly request: Ask
  /** How each plugin is. */
  plugins(): readonly PluginReport[]
  /** Looks until there is something, and resolves with it; rejects after `ms`, ten seconds, with what did not come. */
  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>, ms?: number): Promise<T>
  /** Stops it as an operator does and starts it again on the same root. */
  restart(): Promise<void>
  /** Ends it as a kill does: nothing more reaches the disk. Then starts it again on the same root. */
  crash(): Promise<void>
  /**
   * Stops it and removes its root. Rejects if a plugin did wrong while it worked, or left something wrong behind. May
   * be called twice.
   */
  close(): Promise<void>
}

const untilMs = 10_000
const lookMs = 10

const until: TestDaemon['until'] = async (what, look, ms = untilMs) => {
  const clock = createClock()
  const deadline = clock.elapsed() + ms
  const release = keepAlive()
  try {
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (clock.elapsed() > deadline) throw fault(`${what} did not come within ${ms} ms`)
      await clock.sleep(lookMs)
    }
  } finally {
    release()
  }
}

/** Prints what plugins throw while it is on: the test may fail by what follows of it, long before `close` tells it. */
const createPrinter = () => {
  const printer = {
    isOn: false,
    tell({ level, fact, details: { error, ...details } }: LogEntry): void {
      if (!printer.isOn || level !== 'error' || error === undefined) return
      const facts = Object.entries(details).map(([name, value]) => `, ${name} ${String(value)}`)
      const cause = stackOf(error) ?? messageOf(error)
      printError(`The test daemon: ${fact}${facts.join('')}: ${cause}`)
    },
  }
  return printer
}

/** Settings of companions, under those that the test gives. */
const configOf = ({ plugins, config = {} }: TestDaemonOptions): Readonly<Record<string, JsonObject>> => {
  const layers = [...plugins.flatMap((entry) => ('plugin' in entry ? [entry.config ?? {}] : [])), config]
  const merged: Record<string, JsonObject> = {}
  for (const layer of layers)
    for (const [id, settings] of Object.entries(layer)) merged[id] = { ...merged[id], ...settings }
  return merged
}

interface Life extends InProcessDaemon {
  /** What is wrong because the test wanted it. */
  isHarmed: boolean
}

/**
 * Starts a daemon with the shipped plugins and those that are given. Rejects, and leaves nothing, if one of the given
 * ones does not come up; the error names it and says why. Give it back with `close`.
 */
export const createTestDaemon = async (options: TestDaemonOptions): Promise<TestDaemon> => {
  const given = options.plugins.map(givenPlugin)
  const root = path.join(tmpdir(), `holdfast-${createIds(createClock()).random(8)}`)
  const clock = createLeapingClock({ still: options.still ?? false })
  const faulty = createFaultyDisk()
  const printer = createPrinter()
  const plugins = [...(await shippedPlugins()), ...given.map(asShipped)]
  const start = async (): Promise<Life> => {
    const { flags = {}, expectsFaults = false } = options
    const config = configOf(options)
    const started = await startInProcess({
      root,
      plugins,
      config,
      flags,
      clock,
      disk: faulty.disk,
      tell: printer.tell,
    })
    try {
      checkReady(given, started)
      printer.isOn = !expectsFaults
      return { ...started, isHarmed: false }
    } catch (error) {
      await started.daemon.stop()
      throw error
    }
  }
  const clear = async (): Promise<void> => {
    clock.clear()
    faulty.heal()
    await removeTree(createDisk(), root)
  }
  const first = await start().catch(async (error: unknown) => {
    await clear()
    throw error
  })
  return liveOf({ ...options, given, root, clock, faulty, printer, first, start, clear })
}

interface Lives extends TestDaemonOptions {
  readonly given: readonly AnyPlugin[]
  readonly root: string
  readonly clock: LeapingClock
  readonly faulty: ReturnType<typeof createFaultyDisk>
  readonly printer: ReturnType<typeof createPrinter>
  readonly first: Life
  start(): Promise<Life>
  clear(): Promise<void>
}

const liveOf = ({ given, root, clock, faulty, printer, first, start, clear, ...options }: Lives): TestDaemon => {
  const { expectsFaults = false } = options
  let life = first
  let closed: Promise<void> | undefined
  /** Ends this life; what is wrong with it. */
  const end = async (): Promise<readonly string[]> => {
    faulty.heal()
    printer.isOn = false
    const owners = toolOwners(life)
    const { clean } = await life.daemon.stop()
    const stopped = clean ? [] : ['its stop was not clean']
    const own = life.isHarmed || expectsFaults ? [] : [...faultsIn(given, life, owners), ...stopped]
    return [...own, ...(await life.rootFaults())]
  }
  const endWell = async (): Promise<void> => {
    const [wrong] = await end()
    if (wrong !== undefined) throw fault(wrong, life.log.findLast(({ level }) => level === 'error')?.details['error'])
  }
  const crash = async (): Promise<void> => {
    faulty.cut()
    printer.isOn = false
    await life.daemon.stop()
    faulty.heal()
    life = await start()
  }
  const restart = async (): Promise<void> => {
    await endWell()
    life = await start()
  }
  let lives = Promise.resolve()
  /** One after the other, and none behind the close: nobody would end what that started. */
  const inTurn = (step: () => Promise<void>) => async (): Promise<void> => {
    refuseClosed()
    const done = lives.then(step)
    lives = done.catch(() => undefined)
    await done
  }
  const refuseClosed = (): void => {
    if (closed !== undefined) throw fault('this test daemon was closed')
  }
  return {
    root,
    clock,
    get url() {
      return life.daemon.url
    },
    get log() {
      return life.log
    },
    disk: {
      heal: faulty.heal,
      fail: (what) => {
        life.isHarmed = true
        printer.isOn = false
        faulty.fail(what)
      },
    },
    request: async (...[method, at, body, headers = {}]) => {
      refuseClosed()
      return send(new URL(at, life.daemon.url).href, { method, body, headers })
    },
    plugins: () => life.daemon.view.plugins(),
    until,
    restart: inTurn(restart),
    crash: inTurn(crash),
    close: () => (closed ??= lives.then(endWell).finally(clear)),
  }
}
