/** What the shipped plugins add to the command line. */
import type { Command } from './command.js'
import { settingsOf } from '../base/config.js'
import { shippedPlugins } from '../host/candidates.js'
import { shippedCandidate } from '../host/candidate.js'
import type { AnyPlugin } from '../plugin.js'
import { inlineSchema, unsafeCast, type JsonSchema } from '../base/schema.js'
import type { PluginFlag } from './help.js'

const plugins = async (): Promise<readonly AnyPlugin[]> =>
  Promise.all((await shippedPlugins()).map((entry) => shippedCandidate(entry).load()))

export const pluginCommands = async (): Promise<readonly Command[]> =>
  (await plugins()).flatMap(({ commands = [] }) => commands)

const flagsOf = ({ config, flags = {} }: AnyPlugin): PluginFlag[] => {
  const properties =
    config === undefined
      ? {}
      : unsafeCast<Readonly<Record<string, JsonSchema>>>(inlineSchema(config)['properties'] ?? {})
  return settingsOf(flags).map(({ flag, variable, field }) => ({
    flag,
    variable,
    description: String(properties[field]?.['description'] ?? ''),
  }))
}
export const pluginFlags = async (): Promise<readonly PluginFlag[]> => (await plugins()).flatMap(flagsOf)
