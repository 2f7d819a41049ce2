/** What the shipped plugins add to the command line. */
import type { Command } from '../plugin/command.js'
import { settingsOf } from '../base/config.js'
import type { AnyPlugin } from '../plugin/contract.js'
import { fieldSchemas } from '../base/schema.js'
import type { PluginFlag } from './help.js'

export const pluginCommands = (plugins: readonly AnyPlugin[]): readonly Command[] =>
  plugins.flatMap(({ commands = [] }) => commands)

const flagsOf = ({ config, flags = {} }: AnyPlugin): PluginFlag[] => {
  const properties = config === undefined ? {} : fieldSchemas(config)
  return settingsOf(flags).map(({ flag, variable, field }) => ({
    flag,
    variable,
    schema: properties[field] ?? {},
  }))
}

export const pluginFlags = (plugins: readonly AnyPlugin[]): readonly PluginFlag[] => plugins.flatMap(flagsOf)
