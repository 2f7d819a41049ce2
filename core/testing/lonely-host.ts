/** A host with one plugin alone, and nothing behind the services that it is given. */
import { createLists } from '../host/configuration/lists.js'
import { noFiles } from '../host/load/config-bytes.js'
import { readLayers, settingsOf } from '../base/config.js'
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import { noSecrets } from '../base/text/secrets.js'
import { object } from '../base/schema.js'
import { Host } from '../host/contract.js'
import { createHost, type PluginHost } from '../host/lifecycle/host.js'
import { needed } from '../host/lifecycle/order.js'
import { createRouteTable } from '../http/routes/table.js'
import type { AnyPlugin } from '../plugin/contract.js'
import { untouchable, untouchableHost } from './untouchable.js'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const patienceMs = 5000

/** The configuration that a plugin has when the operator says nothing. */
const defaultsOf = (plugin: AnyPlugin): unknown =>
  readLayers({
    struct: plugin.config ?? object({}),
    settings: settingsOf(plugin),
    file: { name: 'nothing', table: {} },
    environment: {},
    flags: new Map(),
    guard: () => {},
  })

const serviceOf = (token: string): unknown => (token === Host.token ? untouchableHost(token) : untouchable(token))

/** Whatever the plugin needs is there and untouchable. */
export const lonelyHost = (plugin: AnyPlugin): PluginHost => {
  const clock = createClock()
  return createHost({
    core: {
      clock,
      ids: createIds(clock),
      log: silent,
      secrets: noSecrets,
      state: untouchable('state'),
      events: untouchable('events'),
    },
    loaded: [
      {
        candidate: {
          id: plugin.id,
          from: 'shipped',
          required: false,
          owns: () => false,
          load: () => Promise.resolve(plugin),
        },
        ok: true,
        plugin,
        ms: 0,
      },
    ],
    services: needed(plugin).map(([, token]) => [token, serviceOf(token.token)]),
    routes: createRouteTable(),
    configure: defaultsOf,
    lists: createLists({ disk: noFiles, root: '/' }),
    patienceMs,
  })
}
