/** A plugin's configuration: the same layers as the daemon's own, with the plugin's struct and flags. */
import path from 'node:path'
import { errors as configErrors, readLayers, settingsOf, type Environment, type Flags } from '../../base/config.js'
import { Problem } from '../../base/errors.js'
import { wrongToo } from '../../base/issue-rule.js'
import { unknownFlag } from '../../base/text/unknown-flag.js'
import type { AnyPlugin } from '../../plugin/contract.js'
import { object, type JsonObject } from '../../base/schema.js'
import type { Disk } from '../../state/disk/disk.js'
import { errors, ofList } from '../errors.js'
import type { Loaded } from '../load/load.js'
import { lineIn, readTomlFile, type TomlFile } from '../load/toml.js'
import { placedIn } from './list-parts.js'
import { createLists } from './lists.js'

export interface ConfigureOptions {
  readonly disk: Disk
  readonly root: string
  readonly environment: Environment
  readonly flags: Flags
  /** Flags that the daemon itself understands. */
  readonly taken: ReadonlySet<string>
  readonly guard: (value: string) => void
  /** Values by plugin that stand in for its file, for an embedding program. */
  readonly given: Readonly<Record<string, JsonObject>>
}

const nothing = object({})

type HasFile = (name: string) => boolean

/** Whether `config/` has a file. It is listed once: a start would look for one of each plugin, several times. */
const filesIn = ({ disk, root }: ConfigureOptions): HasFile => {
  let names: ReadonlySet<string> | undefined
  return (name) => {
    try {
      names ??= new Set(disk.list(path.join(root, 'config')))
    } catch {
      // Whoever reads the file is told why not.
      return true
    }
    return names.has(name)
  }
}

/** Throws what is wrong with the file, variables and flags of a plugin. */
const readConfig = (options: ConfigureOptions, plugin: AnyPlugin, hasFile: HasFile): unknown => {
  const name = `config/${plugin.id}.toml`
  const given = options.given[plugin.id]
  const kept = (): TomlFile | undefined =>
    plugin.fileIsList === true || !hasFile(`${plugin.id}.toml`)
      ? undefined
      : readTomlFile(options.disk, path.join(options.root, name))
  return readLayers<unknown>({
    ...options,
    struct: plugin.config ?? nothing,
    settings: settingsOf(plugin),
    file: Object.assign({ name, table: {} }, given === undefined ? kept() : { table: given }),
  })
}

/** Throws also if a flag of the plugin belongs to one before it. */
export const createConfigure = (options: ConfigureOptions) => {
  const owners = new Map<string, string>([...options.taken].map((flag) => [flag, 'the daemon']))
  const claim = (plugin: AnyPlugin): void => {
    for (const flag of Object.values<string>(plugin.flags ?? {})) {
      const owner = owners.get(flag)
      if (owner !== undefined && owner !== plugin.id)
        throw errors.plugin_refused({ details: { reason: `its flag --${flag} belongs to ${owner}` } })
      owners.set(flag, plugin.id)
    }
  }
  const hasFile = filesIn(options)
  return (plugin: AnyPlugin): unknown => {
    claim(plugin)
    return readConfig(options, plugin, hasFile)
  }
}

export type FlagSources = Pick<ConfigureOptions, 'environment' | 'flags' | 'guard'>

/** Throws what is wrong with the flags and variables of plugins, before any file is looked at. */
export const checkFlags = ({ environment, flags, guard }: FlagSources, loaded: readonly Loaded[]): void => {
  for (const entry of loaded) {
    const settings = entry.ok ? settingsOf(entry.plugin) : []
    // That the defaults fit is known since the plugin was loaded.
    const isAnyGiven = settings.some(({ flag, variable }) => flags.has(flag) || environment[variable] !== undefined)
    if (entry.ok && isAnyGiven)
      readLayers<unknown>({
        struct: entry.plugin.config ?? nothing,
        settings,
        file: { name: `the settings of ${entry.plugin.id}`, table: {} },
        environment,
        flags,
        guard,
      })
  }
}

/** The first fault, with the places of the others behind it. */
const withOthers = (faults: readonly Problem[]): Problem => {
  const [{ source = '', problem = '' } = {}, ...others] = faults.map(({ occurrence }) => occurrence.details ?? {})
  const rest = wrongToo(others.map((other) => placedIn(String(other['source']), lineIn(String(other['problem'])))))
  return configErrors.config_invalid({ details: { source, problem: `${problem}${rest}` }, cause: faults[0] })
}

/**
 * Throws what is wrong with the files of shipped plugins: without them guards and budgets would be missing. A safe
 * start leaves out those that the daemon can do without.
 */
export const checkFiles = (
  options: ConfigureOptions & { readonly safe: boolean },
  shipped: readonly Loaded[],
  checkOthers: () => void,
): void => {
  const hasFile = filesIn(options)
  const lists = createLists(options)
  const faults = [
    ...faultsIn(checkOthers),
    ...shipped.flatMap((entry) => {
      if (!entry.ok || (options.safe && !entry.candidate.required)) return []
      return faultsIn(() => {
        const { plugin } = entry
        const config = readConfig(options, plugin, hasFile)
        if (plugin.vitalList !== undefined) lists.open(plugin, plugin.vitalList(config))
      })
    }),
  ]
  if (faults.length > 0) throw withOthers(faults)
}

/** What is wrong with a file that is looked at: one fault, or none. */
const faultsIn = (look: () => void): Problem[] => {
  try {
    look()
    return []
  } catch (error) {
    const fault = ofList(error) ?? error
    if (!(fault instanceof Problem) || fault.code !== configErrors.config_invalid.code) throw error
    return [fault]
  }
}

const flagsOf = (loaded: readonly Loaded[]): readonly string[] =>
  loaded.flatMap((entry) => (entry.ok ? Object.values<string>(entry.plugin.flags ?? {}) : []))

/** Refuses a flag that neither the daemon nor a plugin understands, and says which one was meant. */
export const refuseUnknownFlags = (flags: Flags, taken: ReadonlySet<string>, loaded: readonly Loaded[]): void => {
  const known = new Set([...taken, ...flagsOf(loaded)])
  for (const flag of flags.keys()) if (!known.has(flag)) throw unknownFlag(flag, { command: 'serve', known })
}
