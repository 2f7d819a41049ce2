/** Services that a plugin may hold and pass on, and must not call while it registers. */
import { fault } from '../base/assert.js'
import { unsafeCast } from '../base/schema.js'
import type { PluginContext } from '../plugin/contract.js'
import type { State } from '../state/contract.js'

/** Calling it, or anything in it, throws. */
export const untouchable = <T>(name: string): T =>
  unsafeCast<T>(
    new Proxy(() => {}, {
      get: (_, key) => (key === Symbol.toPrimitive ? () => name : untouchable(`${name}.${String(key)}`)),
      apply: () => {
        throw fault(`register must not call ${name}`)
      },
    }),
  )

const sealedState = (): State => ({
  commit: untouchable('state.commit'),
  durable: untouchable('state.durable'),
  health: untouchable('state.health'),
  retention: untouchable('state.retention'),
  collection: (spec) => untouchable(`the collection ${spec.name}`),
  stream: (spec) => untouchable(`the stream ${spec.name}`),
  document: (name) => untouchable(`the document ${name}`),
  blobs: (area) => untouchable(`the blobs ${area}`),
  spools: (area) => untouchable(`the spools ${area}`),
})

/** A context whose disk, clock, ids, bus and secrets refuse; collections and streams may be declared. */
export const sealedContext = (context: PluginContext<unknown>): PluginContext<unknown> => ({
  ...context,
  clock: untouchable('clock'),
  ids: untouchable('ids'),
  events: untouchable('events'),
  secrets: untouchable('secrets'),
  state: sealedState(),
})

/** The host's facts may be read; its methods are as untouchable as any service. */
const hostFacts: Readonly<Record<string, unknown>> = {
  version: '0.0.0',
  processId: 1,
  startedAtMs: 0,
  stateRoot: '/nowhere',
  workspaceRoot: '/nowhere',
}

/** Stands in for the service of the host. */
export const untouchableHost = (token: string): unknown =>
  new Proxy({}, { get: (_, member) => hostFacts[String(member)] ?? untouchable(`${token}.${String(member)}`) })

/** Runs with a network that refuses. */
export const withoutNetwork = async (run: () => Promise<void>): Promise<void> => {
  const { fetch } = globalThis
  globalThis.fetch = untouchable('fetch')
  try {
    await run()
  } finally {
    globalThis.fetch = fetch
  }
}
