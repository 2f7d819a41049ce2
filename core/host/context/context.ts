/** What a plugin is given: the core's services, each bound to the plugin's scope and charged to it. */
import type { Clock } from '../../base/clock.js'
import type { Events } from '../../events/contract.js'
import type { Route } from '../../http/routes/route.js'
import type { Ids } from '../../base/ids.js'
import type { Log } from '../../base/text/log.js'
import type { HealthCheck } from '../../base/health.js'
import type { AnyPlugin, PluginContext, RepairStep } from '../../plugin/contract.js'
import type { Secrets } from '../../base/text/secrets.js'
import type { State } from '../../state/contract.js'
import type { Point, Token } from '../../base/token.js'
import { errors } from '../errors.js'
import type { Faults } from './faults.js'
import { ownObservers } from './own-observers.js'
import { ownState } from './own-state.js'
import { mindedBy, ownView } from './own-view.js'
import type { Registry } from './registry.js'
import type { List, ListSpec } from '../../plugin/list.js'
import type { Lists } from '../configuration/lists.js'
import type { Scope } from './scope.js'

/** What core lends to every plugin. */
export interface Core {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly secrets: Secrets
  readonly state: State
  readonly events: Events
}

export type StartRun = Parameters<PluginContext<unknown>['onStart']>[0]

export interface ContextParts {
  readonly plugin: AnyPlugin
  readonly config: unknown
  readonly core: Core
  readonly scope: Scope
  readonly registry: Registry
  readonly faults: Faults
  readonly lists: Pick<Lists, 'open'>
}

export interface OpenContext {
  readonly context: PluginContext<unknown>
  readonly starts: readonly StartRun[]
  /** Ends the time for declaring; throws if a token of `provides` is missing. */
  seal(): void
}

/** Lines of one plugin carry its id; an error that another plugin threw into its call is charged to that one. */
const ownLog = (log: Log, plugin: string, faults: Faults): Log => ({
  debug: (fact, details) => log.debug(fact, { plugin, ...details }),
  info: (fact, details) => log.info(fact, { plugin, ...details }),
  warn: (fact, details) => log.warn(fact, { plugin, ...details }),
  error: (fact, details = {}) => {
    if (!faults.chargeThrower(plugin, fact, details)) log.error(fact, { plugin, ...details })
  },
})

/** A callback that is charged to the plugin, and whose work the scope waits for. */
const owned = <A extends readonly unknown[]>(
  { plugin, scope, faults }: ContextParts,
  where: string,
  callback: (...args: A) => unknown,
): ((...args: A) => void) => {
  const run = faults.guard(plugin.id, where, callback)
  return (...args) => {
    const work = run(...args)
    if (work !== undefined) scope.track(work)
  }
}

/** Timers end with the scope, and what their callbacks throw is charged. */
const ownClock = (parts: ContextParts, { core: { clock }, scope } = parts): Clock => ({
  now: () => clock.now(),
  elapsed: () => clock.elapsed(),
  after: (ms, callback) => {
    const run = owned(parts, 'a timer', callback)
    const cancel = clock.after(ms, () => {
      forget()
      run()
    })
    const forget = scope.own(cancel)
    return () => {
      forget()
      cancel()
    }
  },
  sleep: (ms, signal) => clock.sleep(ms, signal ?? scope.signal),
})

const ownEvents = (parts: ContextParts, { core: { events }, scope } = parts): Events => ({
  emit: (event, keys, data) => events.emit(event, keys, data),
  on: (event, listener, listening) => {
    const off = events.on(event, owned(parts, `the listener for ${event.name}`, listener), listening)
    const forget = scope.own(off)
    return () => {
      forget()
      off()
    }
  },
  openDeltas: (spec, keys, subject) => events.openDeltas(spec, keys, subject),
  onDeltas: (spec, listener, listening) => {
    const off = events.onDeltas(spec, owned(parts, `the listener for ${spec.include}`, listener), listening)
    const forget = scope.own(off)
    return () => {
      forget()
      off()
    }
  },
  since: (id, filter) => events.since(id, filter),
})

/** Listeners end with the scope, and what they throw is charged. */
const ownList = <T, B>(
  parts: ContextParts,
  spec: ListSpec<T, B>,
): { readonly list: List<T, B>; readonly close: () => void } => {
  const { list, close } = parts.lists.open(parts.plugin, spec)
  const onChange: List<T>['onChange'] = (listener) => {
    const off = list.onChange(owned(parts, `the listener for ${list.source}`, listener))
    const forget = parts.scope.own(off)
    return () => {
      forget()
      off()
    }
  }
  return { list: { ...list, onChange }, close }
}

/** Verbs that only `register` may use, and those that work as long as the plugin lives. */
const createGate = (scope: Scope) => {
  let sealed = false
  const alive = (what: string): void => {
    if (scope.closed) throw errors.plugin_gone({ details: { what } })
  }
  const declaring = (what: string): void => {
    alive(what)
    if (sealed) throw errors.plugin_sealed({ details: { what } })
  }
  return {
    alive,
    declaring,
    seal: () => {
      sealed = true
    },
  }
}

const createVerbs = (parts: ContextParts, starts: StartRun[]) => {
  const { plugin, scope, registry } = parts
  const gate = createGate(scope)
  const asking = { registry, scope, faults: parts.faults, clock: ownClock(parts) }
  const declare = (what: string, add: () => () => void): void => {
    gate.declaring(what)
    scope.own(add())
  }
  const listed = ({ token }: Token<unknown>): void => {
    if (!(plugin.provides ?? []).some((entry) => entry.token === token))
      throw errors.token_not_listed({ details: { token } })
  }
  const contribute = <T>(point: Point<T>, ...values: readonly T[]): (() => void) => {
    gate.alive('a contribution')
    const undo = registry.contribute(plugin.id, point, values)
    const forget = scope.own(undo)
    return () => {
      forget()
      undo()
    }
  }
  const verbs = {
    routes: (...routes: readonly Route[]) =>
      routes.forEach((route) => declare('a route', () => registry.route(plugin.id, route))),
    routesOf: <T>(point: Point<T>, make: (value: T) => Route) => {
      const mind = mindedBy(asking, point)
      declare('a route', () => registry.routesOf(point, (entry) => make(mind(entry))))
    },
    provide: <T>(token: Token<T>, service: T) => {
      listed(token)
      declare('a service', () => registry.provide(plugin.id, token, service))
    },
    contribute,
    view: <T>(point: Point<T>) => ownView(asking, point),
    observers: <T>(point: Point<T>) => ownObservers(asking, point),
    list: <T, B>(spec: ListSpec<T, B>): List<T, B> => {
      gate.declaring('a list')
      const { list, close } = ownList(parts, spec)
      scope.own(close)
      return list
    },
    repair: <F>(step: RepairStep<F>) => declare('a repair step', () => registry.repair(plugin.id, step)),
    health: (check: HealthCheck) => declare('a health check', () => registry.health(plugin.id, check)),
    onStart: (run: StartRun) => {
      gate.declaring('onStart')
      starts.push(run)
    },
    own: (undo: () => void | Promise<void>) => {
      scope.own(undo)
    },
  }
  return { verbs, seal: gate.seal }
}

export const openContext = (parts: ContextParts): OpenContext => {
  const { plugin, core, scope, registry, faults } = parts
  const starts: StartRun[] = []
  const { verbs, seal } = createVerbs(parts, starts)
  const context: PluginContext<unknown> = Object.freeze({
    id: plugin.id,
    config: parts.config,
    log: ownLog(core.log, plugin.id, faults),
    clock: ownClock(parts),
    ids: core.ids,
    secrets: core.secrets,
    signal: scope.signal,
    state: ownState({ owner: plugin.id, state: core.state, scope, registry, faults }),
    events: ownEvents(parts),
    ...verbs,
  })
  const missing = (): string | undefined =>
    (plugin.provides ?? []).find((token) => registry.provider(token) !== plugin.id)?.token
  return {
    context,
    starts,
    seal: () => {
      seal()
      const token = missing()
      if (token !== undefined) throw errors.token_missing({ details: { token } })
    },
  }
}
