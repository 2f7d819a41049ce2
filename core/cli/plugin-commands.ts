/** The flags of serve that the shipped plugins add. */
import { settingsOf } from '../base/config.js'
import type { AnyPlugin } from '../plugin/contract.js'
import { fieldSchemas } from '../base/schema.js'
import type { PluginFlag } from './help.js'

const flagsOf = ({ config, flags = {} }: AnyPlugin): PluginFlag[] => {
  const properties = config === undefined ? {} : fieldSchemas(config)
  return settingsOf(flags).map(({ flag, variable, field }) => ({
    flag,
    variable,
    schema: properties[field] ?? {},
  }))
}

export const pluginFlags = (plugins: readonly AnyPlugin[]): readonly PluginFlag[] => plugins.flatMap(flagsOf)
