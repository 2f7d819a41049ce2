/**
 * What every plugin must keep: `conformPlugin(test, shipped, id)` adds the
 * tests. Register declares and does nothing else; everything that is
 * registered is owned; after a stop nothing is left.
 */
import { createKnownValues } from '../../core/base/known-values.js'
import type { ExecutionContext, TestFn } from 'ava'
import { fault } from '../../core/base/assert.js'
import { createClock, type Clock } from '../../core/base/clock.js'
import { readLayers, settingsOf } from '../../core/base/config.js'
import { shippedCandidate } from '../../core/host/candidate.js'
import { createHost, type PluginHost } from '../../core/host/host.js'
import { needed } from '../../core/host/order.js'
import { createRouteTable } from '../../core/http/table.js'
import { createIds } from '../../core/base/ids.js'
import { Host, parse, type AnyPlugin, type PluginContext, type ShippedPlugin } from '../../core/plugin.js'
import { inlineSchema, object, unsafeCast, type JsonSchema } from '../../core/base/schema.js'
import { startTestDaemon } from '../support/daemon.js'

/** May be held and passed on; calling it or anything in it is a fault. */
const untouchable = (name: string): any =>
  new Proxy(function untouched() {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => name : untouchable(`${name}.${String(key)}`)),
    apply: () => {
      throw fault(`register must not call ${name}`)
    },
  })

/** A context whose disk, clock, ids, bus and secrets refuse; collections and streams may be declared. */
const sealedContext = (context: PluginContext<unknown>): PluginContext<unknown> => ({
  ...context,
  clock: untouchable('clock'),
  ids: untouchable('ids'),
  events: untouchable('events'),
  secrets: untouchable('secrets'),
  state: {
    ...untouchable('state'),
    commit: untouchable('state.commit'),
    durable: untouchable('state.durable'),
    health: untouchable('state.health'),
    collection: (spec) => untouchable(`the collection ${spec.name}`),
    stream: (spec) => untouchable(`the stream ${spec.name}`),
    document: (name) => untouchable(`the document ${name}`),
    blobs: (area) => untouchable(`the blobs ${area}`),
    spools: (area) => untouchable(`the spools ${area}`),
  },
})

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const secrets = {
  find: () => undefined,
  guard: () => {},
  redact: (text: string) => text,
  redacting: (text: string) => createKnownValues().replacing(text, ''),
}

const defaultsOf = (plugin: AnyPlugin): unknown =>
  readLayers({
    struct: plugin.config ?? object({}),
    settings: settingsOf(plugin.flags ?? {}),
    file: { name: 'nothing', table: {} },
    environment: {},
    flags: new Map(),
    guard: () => {},
  })

/** The host's facts may be read; its methods are as untouchable as any service. */
const hostFacts: Readonly<Record<string, unknown>> = {
  version: '0.0.0',
  processId: 1,
  startedAtMs: 0,
  stateRoot: '/nowhere',
  workspaceRoot: '/nowhere',
}
const serviceOf = (token: string): any =>
  token === Host.token
    ? new Proxy({}, { get: (_, member) => hostFacts[String(member)] ?? untouchable(`${token}.${String(member)}`) })
    : untouchable(token)

/** A host with this plugin alone; whatever it needs is untouchable. */
const hostOf = (plugin: AnyPlugin): PluginHost => {
  const clock = createClock()
  return createHost({
    core: {
      clock,
      ids: createIds(clock),
      log: silent,
      secrets,
      state: untouchable('state'),
      events: untouchable('events'),
    },
    loaded: [
      {
        candidate: {
          id: plugin.id,
          from: 'shipped',
          required: false,
          folder: `/${plugin.id}/`,
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
    patienceMs: 5000,
  })
}

type Register = AnyPlugin['register']
const withRegister = (plugin: AnyPlugin, wrap: (register: Register) => Register): AnyPlugin => ({
  ...plugin,
  register: wrap((context, services) => plugin.register(context, services)),
})

const withoutFetch = async (run: () => Promise<void>): Promise<void> => {
  const { fetch } = globalThis
  globalThis.fetch = untouchable('fetch')
  try {
    await run()
  } finally {
    globalThis.fetch = fetch
  }
}

/** The plugin with those that provide what it needs. */
const closure = async (shipped: readonly ShippedPlugin[], id: string): Promise<readonly ShippedPlugin[]> => {
  const plugins = await Promise.all(shipped.map((entry) => shippedCandidate(entry).load()))
  const wanted = new Set([id])
  const add = (plugin: AnyPlugin): void => {
    for (const [, { token }] of needed(plugin)) {
      const provider = plugins.find(({ provides = [] }) => provides.some((entry) => entry.token === token))
      if (provider === undefined || wanted.has(provider.id)) continue
      wanted.add(provider.id)
      add(provider)
    }
  }
  plugins.filter((plugin) => plugin.id === id).forEach(add)
  return shipped.filter((entry) => wanted.has(entry.id))
}

/** A clock that knows which of its timers wait. */
const countingClock = (): Clock & { readonly waiting: Set<() => void> } => {
  const clock = createClock()
  const waiting = new Set<() => void>()
  const after: Clock['after'] = (ms, callback) => {
    const drop = clock.after(ms, () => {
      waiting.delete(cancel)
      callback()
    })
    const cancel = (): void => {
      waiting.delete(cancel)
      drop()
    }
    waiting.add(cancel)
    return cancel
  }
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(false)
      const end = (whole: boolean) => (): void => {
        cancel()
        signal?.removeEventListener('abort', stop)
        resolve(whole)
      }
      const stop = end(false)
      const cancel = after(ms, end(true))
      signal?.addEventListener('abort', stop, { once: true })
    })
  return { now: clock.now, elapsed: clock.elapsed, after, sleep, waiting }
}

/** What keeps a process alive and who listens to it. */
const footprint = () => ({
  resources: process
    .getActiveResourcesInfo()
    .filter((kind) => !/^(?:MessagePort|Immediate|TickObject|TTYWrap|PipeWrap|FSReqPromise|CloseReq)$/u.test(kind))
    .toSorted(),
  listeners: process
    .eventNames()
    .map((name) => [String(name), process.listenerCount(name)])
    .toSorted(),
})

const settled = async (before: ReturnType<typeof footprint>): Promise<ReturnType<typeof footprint>> => {
  for (let look = 0; look < 50 && JSON.stringify(footprint()) !== JSON.stringify(before); look += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  return footprint()
}

const counts = ({ registry }: PluginHost, core: number): readonly number[] => {
  const { services, ...rest } = registry.counts()
  return [services - core, ...Object.values(rest)]
}

const checkConfig = (t: ExecutionContext, plugin: AnyPlugin): void => {
  const { config = object({}), flags = {} } = plugin
  const properties = unsafeCast<Readonly<Record<string, JsonSchema>>>(inlineSchema(config)['properties'] ?? {})
  t.true(parse(config, {}).ok, 'every field has a default')
  t.false(parse(config, { 'no such field': 1 }).ok, 'unknown fields are refused')
  for (const [name, schema] of Object.entries(properties))
    t.truthy(schema['description'], `the field ${name} has a sentence`)
  for (const field of Object.keys(flags))
    t.true(Object.hasOwn(properties, field), `the flag --${flags[field]} names a field`)
  t.true(Object.isFrozen(defaultsOf(plugin)))
}

/** Adds the suite for one plugin of a list. The tests are serial: they look at the whole process. */
export const conformPlugin = (test: TestFn<any>, shipped: readonly ShippedPlugin[], id: string): void => {
  const load = async (): Promise<AnyPlugin> => {
    const entry = shipped.find((line) => line.id === id)
    if (entry === undefined) throw fault(`there is no plugin ${id}`)
    return shippedCandidate(entry).load()
  }

  test.serial(`${id}: register declares and touches neither disk, clock, network nor services`, async (t) => {
    const host = hostOf(
      withRegister(await load(), (register) => (context, services) => register(sealedContext(context), services)),
    )
    await withoutFetch(host.register)
    t.deepEqual(
      host.reports().map(({ state, reason }) => [state, reason]),
      [['registered', undefined]],
    )
  })

  test.serial(`${id}: a register that fails at its end leaves nothing behind`, async (t) => {
    const plugin = withRegister(await load(), (register) => (context, services) => {
      register(context, services)
      throw fault('register failed at its end')
    })
    const host = hostOf(
      withRegister(plugin, (register) => (context, services) => register(sealedContext(context), services)),
    )
    await host.register()
    t.is(host.reports()[0]?.reason, 'register failed at its end')
    t.deepEqual(counts(host, needed(plugin).length), [0, 0, 0, 0, 0])
  })

  test.serial(`${id}: its configuration has a default and a sentence for every field`, async (t) =>
    checkConfig(t, await load()),
  )

  test.serial(`${id}: after a stop no entry, handle, timer or listener is left`, async (t) => {
    const list = await closure(shipped, id)
    // The first daemon of a process leaves what libraries keep for good.
    await (await startTestDaemon(t, { shipped: list })).stop()
    const before = footprint()
    const clock = countingClock()
    const { daemon } = await startTestDaemon(t, { shipped: list, clock })
    t.is(daemon.view.plugins().find((report) => report.id === id)?.state, 'ready')
    t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: true })
    t.deepEqual(counts(daemon.host, 1), [0, 0, 0, 0, 0])
    t.is(clock.waiting.size, 0, 'timers that still wait')
    t.deepEqual(await settled(before), before)
  })

  test.serial(`${id}: its repair steps find nothing in a fresh root and fixing nothing changes nothing`, async (t) => {
    const { daemon } = await startTestDaemon(t, { shipped: await closure(shipped, id) })
    for (const { value: step } of daemon.host.registry.repairs()) {
      t.deepEqual(step.check(), [])
      await step.fix([])
      t.deepEqual(step.check(), [])
    }
    t.deepEqual(
      daemon.view.plugins().filter(({ fault_count: faults }) => faults > 0),
      [],
    )
  })
}
