/**
 * What the shipped plugins declare, learned by registering them on a state that only takes notes. Nothing is started.
 */
import { createAudit } from '../../records/audit.js'
import { fault } from '../../base/assert.js'
import { createClock } from '../../base/clock.js'
import { createBus } from '../../events/bus.js'
import { createIds } from '../../base/ids.js'
import type { Route } from '../../http/routes/route.js'
import { createRouteTable } from '../../http/routes/table.js'
import { noSecrets } from '../../base/text/secrets.js'
import type { Log } from '../../base/text/log.js'
import type { AnyKit, ShippedPlugin } from '../../plugin/contract.js'
import { defaultsOf } from '../../base/config.js'
import { unsafeCast, type Json } from '../../base/schema.js'
import type { Collection, CollectionSpec, Document, State, Stream, StreamSpec } from '../../state/contract.js'
import type { Declarations } from '../../state/inspect/verify-records.js'
import { version } from '../../base/version.js'
import { shippedCandidate } from '../load/candidate.js'
import { Host } from '../contract.js'
import { Processes, Supervised } from '../../processes/contract.js'
import { Sandbox } from '../../sandbox/contract.js'
import { createLists } from '../configuration/lists.js'
import { noFiles } from '../load/config-bytes.js'
import { createHost } from './host.js'
import { loadAll } from '../load/load.js'

const patienceMs = 60_000

/** Stands in for a value that `register` keeps and must not use. */
const untouched = <T extends object>(facts: object, what: string): T =>
  unsafeCast<T>(
    new Proxy(facts, {
      get: (target, member): unknown => {
        if (member in target) return Reflect.get(target, member)
        throw fault(`${what} is used before the daemon starts`)
      },
    }),
  )

const noteTaker = (): { readonly state: State; readonly declared: Declarations } => {
  const collections = new Map<string, CollectionSpec<object>>()
  const streams = new Map<string, StreamSpec<Json>>()
  const state: State = untouched<State>(
    {
      collection: <T extends object>(spec: CollectionSpec<T>): Collection<T> => {
        collections.set(spec.name, spec)
        return untouched({ spec }, `the collection ${spec.name}`)
      },
      stream: <E extends Json>(spec: StreamSpec<E>): Stream<E> => {
        streams.set(spec.name, spec)
        return untouched({ spec }, `the stream ${spec.name}`)
      },
      document: (name: string) => untouched<Document<never>>({ path: name }, `the document ${name}`),
      blobs: (area: string) => untouched({}, `the blobs ${area}`),
      spools: (area: string) => untouched({}, `the spools ${area}`),
      retention: untouched({}, 'the partitions'),
    },
    'the state',
  )
  return { state, declared: { collections, streams } }
}

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** `routes` are those of the plugins; core's own are added by the server. */
export const declarationsOf = async (
  shipped: readonly ShippedPlugin[],
  kit: AnyKit,
): Promise<Declarations & { readonly routes: readonly Route[] }> => {
  const table = createRouteTable()
  const clock = createClock()
  const { state, declared } = noteTaker()
  createAudit({ state, clock, log: silent })
  const host = createHost({
    core: {
      clock,
      ids: createIds(clock),
      log: silent,
      state,
      secrets: noSecrets,
      events: createBus({ clock, epoch: 0, capacity: 1, onFault: () => {} }),
    },
    loaded: await loadAll(
      shipped.map((entry) => shippedCandidate(entry, kit)),
      { clock, ms: patienceMs },
    ),
    services: [
      [Processes, untouched({}, 'the processes')],
      [Supervised, untouched({}, 'the supervised programs')],
      [Sandbox, untouched({}, 'the sandbox')],
      [
        Host,
        untouched(
          {
            version,
            processId: process.pid,
            startedAtMs: 0,
            stateRoot: '/',
            workspaceRoot: '/',
            leaving: new AbortController().signal,
          },
          'the host',
        ),
      ],
    ],
    configure: (plugin) => {
      const defaults = plugin.config === undefined ? undefined : defaultsOf(plugin.config)
      return defaults?.ok === true ? defaults.value : {}
    },
    lists: createLists({ disk: noFiles, root: '/' }),
    routes: table,
    patienceMs,
  })
  await host.register()
  const routes = table.list().map(({ route }) => route)
  await host.stop()
  return { ...declared, routes }
}
