/** The plugins that a test gives to its daemon, and what is told of those that do wrong. */
import { fault } from '../base/assert.js'
import { sentence } from '../base/text/command-text.js'
import type { Point } from '../base/token.js'
import type { PluginReport } from '../host/contract.js'
import type { AnyPlugin, AnyPluginModule } from '../plugin/contract.js'
import { loadPlugin } from '../shipped.js'
import type { InProcessDaemon, LogEntry } from './test-daemon.js'
import { messageOf } from '../base/text/thrown.js'

type Given = AnyPluginModule['default'] | { readonly plugin: AnyPlugin }

/** The plugin of an entry of `plugins`. */
export const givenPlugin = (entry: Given, at: number): AnyPlugin => {
  try {
    return loadPlugin({ default: 'plugin' in entry ? entry.plugin : entry })
  } catch (error) {
    throw fault(
      `plugins[${at}] is no plugin: ${sentence(messageOf(error))} ` +
        'Give what the main file of the plugin exports as default.',
      error,
    )
  }
}

const actions: Partial<Record<PluginReport['state'], string>> = {
  skipped: 'Correct its declaration, or give the plugin that provides what it needs in plugins, before it.',
  failed: 'Correct it: what it threw is the cause of this error, and the guide says what register and onStart may do.',
  degraded: 'Correct it: what it threw is the cause of this error.',
}

const thrownBy = (log: readonly LogEntry[], id: string): unknown =>
  log.findLast(({ level, details }) => level === 'error' && details['plugin'] === id)?.details['error']

/** Throws one error for the first plugin that did not come up: which, why, and what to do. */
export const checkReady = (given: readonly AnyPlugin[], { daemon, log }: InProcessDaemon): void => {
  const wrong = daemon.view
    .plugins()
    .find(({ id, state }) => given.some((plugin) => plugin.id === id) && state !== 'ready')
  if (wrong === undefined) return
  const { id, state, reason, last_fault: last } = wrong
  const why = reason ?? last?.message ?? 'nothing is said of why'
  throw fault(
    `the plugin ${id} did not come up, it is ${state}: ${sentence(why)} ${actions[state] ?? ''}`.trim(),
    thrownBy(log, id),
  )
}

const expected = 'Correct it, or say expectsFaults where the test wants it.'

/** Faults that the host charged to one of them. */
const charged = (given: readonly AnyPlugin[], { daemon }: InProcessDaemon): readonly string[] =>
  daemon.view
    .plugins()
    .filter(({ id, fault_count: count }) => count > 0 && given.some((plugin) => plugin.id === id))
    .map(({ id, fault_count: count, last_fault: last }) => {
      const often = count === 1 ? '' : ` ${count} times, the last time`
      return `the plugin ${id} did wrong${often} in ${last?.where}: ${sentence(last?.message ?? '')} ${expected}`
    })

/** The plugin of each tool, by the name of the tool. */
export type ToolOwners = ReadonlyMap<unknown, string>

/** To be asked before a stop takes the tools back. */
export const toolOwners = ({ daemon }: InProcessDaemon): ToolOwners => {
  const tools: Point<{ readonly name: string }> = { point: 'tools@1' }
  return new Map(
    daemon.host.registry
      .owned(tools)()
      .map(({ owner, value }) => [value.name, owner]),
  )
}

/** What came out of code that others called for them, such as a tool: the log has it, and knows at most the tool. */
const thrown = (given: readonly AnyPlugin[], { log }: InProcessDaemon, owners: ToolOwners): readonly string[] =>
  log
    .filter(({ level, details }) => level === 'error' && details['error'] !== undefined)
    .map(({ fact, details: { error, where, tool } }) => {
      const owner = owners.get(tool)
      const who = owner === undefined ? `one of ${given.map(({ id }) => id).join(', ')}` : `the plugin ${owner}`
      const place = typeof where === 'string' ? `in ${where}` : `(${fact})`
      return `${who} did wrong ${place}: ${sentence(messageOf(error))} ${expected}`
    })

/** What they did wrong in a life that is over, in sentences. */
export const faultsIn = (given: readonly AnyPlugin[], life: InProcessDaemon, owners: ToolOwners): readonly string[] => [
  ...charged(given, life),
  ...thrown(given, life, owners),
]
