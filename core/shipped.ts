/** The shipped plugins, for whoever starts a daemon or looks at a root without one. */
import type { ShippedView } from './cli/shipped-view.js'
import { pluginOf } from './host/load/candidate.js'
import { declarationsOf as declarationsWith } from './host/lifecycle/declarations.js'
import * as kit from './plugin.js'
import type { AnyPlugin, AnyPluginModule, ShippedPlugin } from './plugin/contract.js'

/** The shipped list; core names no plugin. */
export const shippedPlugins = async (): Promise<readonly ShippedPlugin[]> =>
  (await import('../plugins/index.js')).shipped

/** What a main file exports, checked; `id` is what it is listed as. */
export const loadPlugin = (module: Partial<AnyPluginModule>, id?: string): AnyPlugin => pluginOf(module, kit, id)

/** What plugins declare. Nothing of them is started. */
export const declarationsOf = (plugins: readonly ShippedPlugin[]): ReturnType<typeof declarationsWith> =>
  declarationsWith(plugins, kit)

/** The shipped plugins as the command line sees them. */
export const shipped: ShippedView = {
  commands: async (word) => {
    const all = (await shippedPlugins()).flatMap(({ commands }) => commands ?? [])
    const wanted = word === undefined ? all : all.filter(({ words }) => words.includes(word))
    return (await Promise.all(wanted.map(({ load }) => load()))).flatMap(({ commands }) => commands)
  },
  plugins: async () => Promise.all((await shippedPlugins()).map(async ({ id, load }) => loadPlugin(await load(), id))),
  declarations: async () => declarationsOf(await shippedPlugins()),
}
