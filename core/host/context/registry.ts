/**
 * The lists that plugins fill: services, points, routes, repair steps and health checks. Each `add` returns its undo.
 */
import type { HealthCheck } from '../../base/health.js'
import type { RepairStep } from '../../plugin/contract.js'
import type { Route } from '../../http/routes/route.js'
import type { RouteTable } from '../../http/routes/table.js'
import { unsafeCast } from '../../base/schema.js'
import { hasMembers, type Point, type Token } from '../../base/token.js'
import { errors } from '../errors.js'
import { createPoints, type OnRefused, type Owned, type Undo, type UnreadPoint } from './points.js'

export interface Registry {
  provide(owner: string, token: Token<unknown>, service: unknown): Undo
  /** The service, or undefined. */
  service(token: Token<unknown>): unknown
  provider(token: Token<unknown>): string | undefined
  /** All of them, or none: throws what is wrong with the first that is refused. */
  contribute<T>(owner: string, point: Point<T>, values: readonly T[]): Undo
  view<T>(point: Point<T>): () => readonly T[]
  /** The same, each with the plugin that contributed it. */
  owned<T>(point: Point<T>): () => readonly Owned<T>[]
  /** What was contributed to points that no plugin reads. */
  unread(): readonly UnreadPoint[]
  route(owner: string, route: Route): Undo
  /** A route for each contribution, owned by the plugin that contributed. */
  routesOf<T>(point: Point<T>, make: (entry: Owned<T>) => Route): Undo
  repair(owner: string, step: RepairStep): Undo
  health(owner: string, check: HealthCheck): Undo
  /**
   * The collection, stream, document or area of this name belongs to the owner from now on; throws if it is
   * another's.
   */
  claim(owner: string, kind: string, name: string): void
  readonly repairs: () => readonly Owned<RepairStep>[]
  readonly checks: () => readonly Owned<HealthCheck>[]
  /** Number of entries of each kind; all zero after a stop. */
  counts(): Readonly<Record<'services' | 'contributions' | 'routes' | 'repairs' | 'checks', number>>
}

const add = <T>(list: Owned<T>[], entry: Owned<T>): Undo => {
  list.push(entry)
  return () => {
    const at = list.indexOf(entry)
    if (at >= 0) list.splice(at, 1)
  }
}

const healthFault = hasMembers<HealthCheck>('a health check', { id: 'text', check: 'function' })

/** Routes go straight into the server's table, which refuses what is taken or malformed. */
export const createRegistry = (table: RouteTable, onRefused: OnRefused): Registry => {
  const services = new Map<string, Owned<unknown>>()
  const points = createPoints(onRefused)
  const routes = (): number => table.list().filter(({ owner }) => owner !== 'core').length
  const repairs: Owned<RepairStep>[] = []
  const checks: Owned<HealthCheck>[] = []
  const provide = (owner: string, { token }: Token<unknown>, value: unknown): Undo => {
    const taken = services.get(token)
    if (taken !== undefined) throw errors.token_taken({ details: { token, plugin: taken.owner } })
    services.set(token, { owner, value })
    return () => services.delete(token)
  }
  const repair = (owner: string, value: RepairStep): Undo => {
    const taken = repairs.find((entry) => entry.value.id === value.id)
    if (taken !== undefined) throw errors.repair_id_taken({ details: { id: value.id, plugin: taken.owner } })
    return add(repairs, { owner, value })
  }
  /** Kept after a stop: a root that has records of one plugin does not lend their name to another. */
  const claims = new Map<string, string>()
  const claim = (owner: string, kind: string, name: string): void => {
    const plugin = claims.get(`${kind} ${name}`) ?? owner
    if (plugin !== owner) throw errors.state_taken({ details: { kind, name, plugin } })
    claims.set(`${kind} ${name}`, owner)
  }
  return {
    provide,
    claim,
    service: ({ token }) => services.get(token)?.value,
    provider: ({ token }) => services.get(token)?.owner,
    contribute: (owner, point, values) => points.contribute(owner, point, values),
    view: (point) => unsafeCast(points.view(point)),
    owned: (point) => unsafeCast(points.owned(point)),
    unread: points.unread,
    route: (owner, route) => table.add(owner, route),
    routesOf: <T>(point: Point<T>, make: (entry: Owned<T>) => Route) =>
      points.each(point, (entry) => table.add(entry.owner, make(unsafeCast<Owned<T>>(entry)))),
    repair,
    health: (owner, value) => {
      const reason = healthFault(value)
      if (reason !== undefined) throw errors.contribution_refused({ details: { reason } })
      return add(checks, { owner, value })
    },
    repairs: () => repairs,
    checks: () => checks,
    counts: () => ({
      services: services.size,
      contributions: points.count(),
      routes: routes(),
      repairs: repairs.length,
      checks: checks.length,
    }),
  }
}
