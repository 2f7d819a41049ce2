/** What every plugin must keep, checked on a host and on whole daemons in this process. */
import { fault } from '../base/assert.js'
import type { Clock } from '../base/clock.js'
import { keepAlive } from '../base/keep-alive.js'
import { parse } from '../base/parse.js'
import { object, fieldSchemas } from '../base/schema.js'
import type { PluginReport } from '../host/contract.js'
import { tellUnread } from '../host/context/points.js'
import type { PluginHost } from '../host/lifecycle/host.js'
import { needed } from '../host/lifecycle/order.js'
import type { AnyPlugin, AnyPluginModule } from '../plugin/contract.js'
import { loadPlugin, shippedPlugins } from '../shipped.js'
import { runCheck, skipped, verdictOf, type CheckResult, type Verdict } from './check-result.js'
import { closureOf, coreTokens, type Closure } from './closure.js'
import { createCountingClock, footprint, gained, lost, settledFootprint } from './footprint.js'
import { loadAlone } from './load-alone.js'
import { lonelyHost } from './lonely-host.js'
import { asShipped, startInProcess, withFolder, type InProcessDaemon } from './test-daemon.js'
import { sealedContext, withoutNetwork } from './untouchable.js'

/** What the checks of a plugin are told. */
export interface PluginCheckOptions {
  /** Default exports of plugins that provide what it needs. Shipped plugins need not be named. */
  readonly beside?: readonly AnyPluginModule['default'][]
}

interface Subject {
  readonly exported: AnyPluginModule['default']
  readonly plugin: AnyPlugin
  /** It and every plugin that it may have to do with. */
  readonly all: readonly AnyPlugin[]
  readonly closure: Closure
}

type Check = (subject: Subject) => Verdict | Promise<Verdict>
type Register = AnyPlugin['register']

const withRegister = (plugin: AnyPlugin, wrap: (register: Register) => Register): AnyPlugin => ({
  ...plugin,
  register: wrap((context, services) => plugin.register(context, services)),
})
const sealed = (plugin: AnyPlugin): AnyPlugin =>
  withRegister(plugin, (register) => (context, services) => register(sealedContext(context), services))

const stateOf = ({ id, state, reason, last_fault: last }: PluginReport): string =>
  `${id} is ${state}: ${reason ?? last?.message ?? 'nothing is said of why'}`

const checkRegister: Check = async ({ plugin }) => {
  const host = lonelyHost(sealed(plugin))
  await withoutNetwork(host.register)
  const wrong = host.reports().filter(({ state }) => state !== 'registered')
  return verdictOf(
    wrong.map(stateOf),
    'register declares: it calls no service, nothing of its context that works, and no fetch',
  )
}

/** What is in the registry beside `services` services. */
const entriesIn = ({ registry }: PluginHost, services: number): string[] =>
  Object.entries(registry.counts())
    .map(([kind, count]) => [kind, kind === 'services' ? count - services : count] as const)
    .flatMap(([kind, count]) => (count === 0 ? [] : [`${count} ${kind} are left`]))

const endOfRegister = 'register failed at its end'

const checkUndo: Check = async ({ plugin }) => {
  const failing = withRegister(plugin, (register) => (context, services) => {
    register(context, services)
    throw fault(endOfRegister)
  })
  const host = lonelyHost(sealed(failing))
  await host.register()
  const early = host.reports().filter(({ reason }) => reason !== endOfRegister)
  return verdictOf(
    [...early.map(stateOf), ...entriesIn(host, needed(plugin).length)],
    'a register that fails at its end leaves nothing behind',
  )
}

const checkSettings: Check = ({ plugin: { config = object({}), flags = {} } }) => {
  const properties = fieldSchemas(config)
  const silent = Object.entries(properties).filter(([, { description = '' }]) => description === '')
  const strange = Object.keys(flags).filter((field) => !Object.hasOwn(properties, field))
  return verdictOf(
    [
      ...(parse(config, {}).ok ? [] : ['not every setting has a default']),
      ...(parse(config, { 'no such field': 1 }).ok ? ['unknown settings are not refused'] : []),
      ...silent.map(([name]) => `the setting ${name} has no sentence: give it one with doc()`),
      ...strange.map((field) => `the flag --${flags[field]} names ${field}, which is no setting`),
    ],
    'every setting has a default and a sentence, and unknown ones are refused',
  )
}

/** What is wrong according to `look`, and with the root when the daemon has stopped. */
const onDaemon = (
  plugins: readonly AnyPlugin[],
  look: (started: InProcessDaemon) => Promise<readonly string[]>,
  clock?: Clock,
): Promise<readonly string[]> =>
  withFolder(async (root) => {
    const started = await startInProcess({
      root,
      plugins: plugins.map(asShipped),
      ...(clock !== undefined && { clock }),
    })
    try {
      const wrong = await look(started)
      await started.daemon.stop()
      return [...wrong, ...(await started.rootFaults()).slice(0, 1)]
    } finally {
      await started.daemon.stop()
    }
  })

/** Runs on a daemon with everything that the plugin needs. */
const withNeeds =
  (run: (plugins: readonly AnyPlugin[], subject: Subject) => Promise<Verdict>): Check =>
  (subject) =>
    subject.closure.kind === 'whole'
      ? run(subject.closure.plugins, subject)
      : skipped(`no plugin that is given provides ${subject.closure.token}: name its provider in beside`)

const leftBehind = (line: string): string =>
  `left behind: ${line}${line.endsWith(' Timeout') ? ' (wait with ctx.clock: its timers end with the plugin)' : ''}`

const notReadyIn = ({ daemon }: InProcessDaemon, id: string): readonly string[] =>
  daemon.view
    .plugins()
    .filter((report) => report.id === id && report.state !== 'ready')
    .map(stateOf)

const checkContributions = withNeeds(async (_, { plugin: { id }, all }) => {
  const wrong = await onDaemon(all, (started) => {
    const unread = started.daemon.host.registry
      .unread()
      .filter(({ owner, meant }) => owner === id && meant !== undefined)
    return Promise.resolve([...notReadyIn(started, id), ...unread.map((one) => `it ${tellUnread(one)}`)])
  })
  return verdictOf(wrong, 'the points that it contributes to are there, and take what it contributes')
})

/** After `checkContributions`: the first daemon of a process leaves what libraries keep for good. */
const checkStop = withNeeds(async (plugins, { plugin: { id } }) => {
  const before = footprint()
  const clock = createCountingClock()
  const wrong = await onDaemon(
    plugins,
    async (started) => {
      const { daemon, log } = started
      const notReady = notReadyIn(started, id)
      const { clean } = await daemon.stop()
      const after = await settledFootprint(before)
      return [
        ...notReady,
        ...(clean ? [] : [`the stop was not clean: ${log.findLast(({ level }) => level === 'error')?.fact ?? ''}`]),
        ...entriesIn(daemon.host, coreTokens.size),
        ...(clock.waiting.size === 0 ? [] : [`${clock.waiting.size} timers still wait`]),
        ...gained(before, after).map(leftBehind),
        ...lost(before, after).map((line) => `taken away: ${line}`),
      ]
    },
    clock,
  )
  return verdictOf(wrong, 'after a stop no entry, handle, timer or listener is left')
})

const checkRepair = withNeeds(async (plugins, { plugin: { id } }) => {
  const wrong = await onDaemon(plugins, async ({ daemon }) => {
    const found: string[] = []
    for (const { owner, value: step } of daemon.host.registry.repairs()) {
      if (owner !== id) continue
      if (step.check().length > 0) found.push(`the repair step ${step.id} finds something in a fresh root`)
      await step.fix([])
      if (step.check().length > 0) found.push(`the repair step ${step.id} finds something after it fixed nothing`)
    }
    const faulty = daemon.view.plugins().filter(({ fault_count: count }) => count > 0)
    return [...found, ...faulty.map(stateOf)]
  })
  return verdictOf(wrong, 'its repair steps find nothing in a fresh root, and fixing nothing changes nothing')
})

const checks: Readonly<Record<string, Check>> = {
  load: ({ exported, plugin }) => loadAlone(exported, plugin),
  register: checkRegister,
  undo: checkUndo,
  settings: checkSettings,
  contributions: checkContributions,
  stop: checkStop,
  repair: checkRepair,
}
/** These need a plugin that registers. */
const onWholeDaemons: ReadonlySet<string> = new Set(['contributions', 'stop', 'repair'])

const pluginsOf = async ({ beside = [] }: PluginCheckOptions, plugin: AnyPlugin): Promise<readonly AnyPlugin[]> => {
  const shipped = await Promise.all((await shippedPlugins()).map(({ load }) => load()))
  const given = [...beside.map((exported) => ({ default: exported })), ...shipped].map((module) => loadPlugin(module))
  return [plugin, ...given.filter(({ id }) => id !== plugin.id)]
}

const checkMade = async (
  { exported, plugin }: Pick<Subject, 'exported' | 'plugin'>,
  options: PluginCheckOptions,
): Promise<readonly CheckResult[]> => {
  const all = await pluginsOf(options, plugin)
  const subject = { exported, plugin, all, closure: closureOf(plugin, all) }
  const results: CheckResult[] = []
  for (const [check, run] of Object.entries(checks)) {
    const registers = results.every(({ check: name, outcome }) => name !== 'register' || outcome === 'passed')
    const verdict = (): ReturnType<Check> =>
      registers || !onWholeDaemons.has(check) ? run(subject) : skipped('its register did not pass')
    results.push(await runCheck(check, verdict))
  }
  return results
}

/**
 * Checks what every plugin must keep, with the default export of its main file: `export` (it is a plugin), `load` (a
 * daemon can load it, without what only its author has), `register` (it declares and does nothing else), `undo` (a
 * register that fails leaves nothing behind), `settings` (each has a default and a sentence), `contributions` (their
 * points are there and take them), `stop` (nothing is left after a stop), `repair` (its steps find nothing in a fresh
 * root). Starts daemons in this process, on temporary roots, and looks at the whole process: run nothing beside it.
 * Never rejects for what a plugin does.
 */
export const checkPlugin = async (
  exported: AnyPluginModule['default'],
  options: PluginCheckOptions = {},
): Promise<readonly CheckResult[]> => {
  const release = keepAlive()
  try {
    const made: AnyPlugin[] = []
    const first = await runCheck('export', () => {
      made.push(loadPlugin({ default: exported }))
      return verdictOf([], 'its default export is a plugin')
    })
    const [plugin] = made
    if (plugin !== undefined) return [first, ...(await checkMade({ exported, plugin }, options))]
    const reason = 'its default export is not a plugin'
    return [first, ...Object.keys(checks).map((check) => ({ check, ...skipped(reason) }))]
  } finally {
    release()
  }
}
