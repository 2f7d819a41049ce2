/** What the reference is made from: a daemon in a temporary root, and what each plugin declared to it. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCommands } from '../../core/cli/client-line.js'
import { createAudit } from '../../core/records/audit.js'
import { createClock } from '../../core/base/clock.js'
import type { Command } from '../../core/plugin/command.js'
import { startDaemon } from '../../core/daemon.js'
import { loadPlugin, shipped, shippedPlugins } from '../../core/shipped.js'
import type {
  AnyPlugin,
  CollectionSpec,
  ListSpec,
  PluginContext,
  Point,
  ShippedPlugin,
  State,
  StreamSpec,
} from '../../core/plugin.js'
import { unsafeCast, type Json, type JsonObject, type JsonSchema } from '../../core/base/schema.js'
import { createSecrets } from '../../core/base/text/secrets.js'
import { readSettings } from '../../core/base/settings.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { unwritten } from '../../core/state/storage-errors.js'
import { withoutNulls } from './without-nulls.js'
import { readModules, type Modules } from './modules.js'

/** What one plugin declared; `core` stands for the daemon itself. */
export interface Declared {
  readonly collections: CollectionSpec<object>[]
  readonly streams: StreamSpec<Json>[]
  readonly documents: string[]
  readonly blobs: string[]
  readonly spools: string[]
  readonly contributions: { readonly point: string; readonly name: string; readonly value: unknown }[]
  readonly routes: string[]
  readonly lists: ListSpec[]
  readonly repairs: string[]
  readonly checks: string[]
}

export interface PluginFacts {
  readonly plugin: AnyPlugin
  readonly required: boolean
  readonly commands: readonly Command[]
  readonly declared: Declared
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly operation: Readonly<Record<string, any>>
}

export interface Facts {
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** Codes that any route may answer with, by status. */
  readonly shared: readonly string[]
  readonly plugins: readonly PluginFacts[]
  readonly core: Declared
  readonly commands: readonly Command[]
  readonly modules: Modules
}

const nothing = (): Declared => ({
  collections: [],
  streams: [],
  documents: [],
  blobs: [],
  spools: [],
  contributions: [],
  routes: [],
  lists: [],
  repairs: [],
  checks: [],
})

const notingState = (state: State, into: Declared): State =>
  new Proxy(state, {
    get: (target, member) => {
      if (member === 'collection')
        return (spec: CollectionSpec<object>) => {
          into.collections.push(spec)
          return target.collection(spec)
        }
      if (member === 'stream')
        return (spec: StreamSpec<Json>) => {
          into.streams.push(spec)
          return target.stream(spec)
        }
      if (member === 'document')
        return (name: string) => {
          into.documents.push(name)
          return target.document(name)
        }
      if (member === 'blobs')
        return (area: string) => {
          into.blobs.push(area)
          return target.blobs(area)
        }
      if (member === 'spools')
        return (area: string) => {
          into.spools.push(area)
          return target.spools(area)
        }
      return Reflect.get(target, member)
    },
  })

const notingContext = (context: PluginContext<unknown>, into: Declared): PluginContext<unknown> => ({
  ...context,
  state: notingState(context.state, into),
  contribute: <T>(point: Point<T>, ...values: readonly T[]) => {
    for (const value of values) into.contributions.push({ point: point.point, name: point.key?.(value) ?? '', value })
    return context.contribute(point, ...values)
  },
  routes: (...routes) => {
    into.routes.push(...routes.map(({ id }) => id))
    context.routes(...routes)
  },
  routesOf: (point, make) =>
    context.routesOf(point, (value) => {
      const route = make(value)
      into.routes.push(route.id)
      return route
    }),
  list: (spec) => {
    into.lists.push(unsafeCast<ListSpec>(spec))
    return context.list(spec)
  },
  repair: (step) => {
    into.repairs.push(step.id)
    context.repair(step)
  },
  health: (check) => {
    into.checks.push(check.id)
    context.health(check)
  },
})

const noting = async (
  entry: ShippedPlugin,
): Promise<{ readonly shipped: ShippedPlugin; readonly facts: PluginFacts }> => {
  const plugin = loadPlugin(await entry.load(), entry.id)
  const declared = nothing()
  const noted: AnyPlugin = {
    ...plugin,
    register: (context, services) => plugin.register(notingContext(context, declared), services),
  }
  return {
    shipped: { ...entry, load: () => Promise.resolve({ default: noted }) },
    facts: { plugin, required: entry.required, commands: (await entry.commands?.load())?.commands ?? [], declared },
  }
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Runs a daemon on a fresh root while `look` looks at it. */
const withDaemon = async <R>(
  shipped: readonly ShippedPlugin[],
  look: (at: { readonly url: string; readonly root: string }) => Promise<R>,
): Promise<R> => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
  const disk = createDisk()
  const flags = new Map([
    ['bind', '127.0.0.1:0'],
    ['state-root', root],
    ['workspace-root', root],
    // Without a search engine there is no tool to tell of; nobody is asked.
    ['web-search-engine', 'searxng'],
    ['web-search-url', 'http://127.0.0.1:9/search'],
  ])
  const daemon = await startDaemon({
    settings: readSettings({ environment: {}, flags, guard: () => {} }),
    shipped,
    log: silent,
    disk,
    flags,
    secrets: createSecrets({ disk, root, unwritten }),
  })
  try {
    return await look({ url: daemon.url, root })
  } finally {
    await daemon.stop()
    rmSync(root, { recursive: true, force: true })
  }
}

const operationsOf = (document: Readonly<Record<string, any>>): Operation[] =>
  Object.entries<Record<string, any>>(document['paths']).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      id: String(operation['operationId']),
      operation,
    })),
  )

/** Codes that a response may carry. */
export const codesOf = (response: Readonly<Record<string, any>>): string[] =>
  Object.keys(response['content']?.['application/problem+json']?.examples ?? {})

const coreDeclared = (documents: readonly string[]): Declared => {
  const core = nothing()
  const state = notingState(unsafeCast<State>({ stream: () => ({}), collection: () => ({}) }), core)
  createAudit({ state, clock: createClock(), log: silent })
  core.documents.push(...documents)
  return core
}

export const gather = async (): Promise<Facts> => {
  const noted = await Promise.all((await shippedPlugins()).map(noting))
  const { document, documents } = await withDaemon(
    noted.map(({ shipped }) => shipped),
    async ({ url, root }) => ({
      document: withoutNulls(unsafeCast<JsonObject>(await (await fetch(`${url}/v1/openapi.json`)).json())),
      // One that is being written has a temporary name beside.
      documents: readdirSync(join(root, 'documents'))
        .filter((name) => /^[a-z0-9_-]+\.json$/u.test(name))
        .map((name) => name.replace(/\.json$/u, '')),
    }),
  )
  const plugins = noted.map(({ facts }) => facts)
  const theirs = new Set(plugins.flatMap(({ declared }) => declared.documents))
  return {
    operations: operationsOf(document),
    schemas: document['components'].schemas,
    shared: Object.values<Record<string, any>>(document['components'].responses).flatMap(codesOf),
    plugins,
    core: coreDeclared(documents.filter((name) => !theirs.has(name))),
    commands: await allCommands(shipped),
    modules: await readModules(),
  }
}
