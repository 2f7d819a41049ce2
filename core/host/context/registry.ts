/**
 * The lists that plugins fill: services, points, routes, repair steps and health checks. Each `add` returns its undo.
 */
import type { HealthCheck } from '../../base/health.js'
import { nearest } from '../../base/words/nearest.js'
import type { RepairStep } from '../../plugin/contract.js'
import type { Route } from '../../http/routes/route.js'
import type { RouteTable } from '../../http/routes/table.js'
import { unsafeCast } from '../../base/schema.js'
import type { Point, Token } from '../../base/token.js'
import { errors } from '../errors.js'

export type Undo = () => void
export interface Owned<T> {
  readonly owner: string
  readonly value: T
}

export interface Registry {
  provide(owner: string, token: Token<unknown>, service: unknown): Undo
  /** The service, or undefined. */
  service(token: Token<unknown>): unknown
  provider(token: Token<unknown>): string | undefined
  contribute<T>(owner: string, point: Point<T>, value: T): Undo
  view<T>(point: Point<T>): () => readonly T[]
  /** What was contributed to points that no plugin reads. */
  unread(): readonly UnreadPoint[]
  route(owner: string, route: Route): Undo
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

export interface UnreadPoint {
  readonly owner: string
  readonly point: string
  /** A point that is read and has nearly this name. */
  readonly meant: string | undefined
}

interface Contributions {
  entries: Owned<unknown>[]
  values: readonly unknown[]
  key: ((value: unknown) => string) | undefined
  check: ((value: unknown) => string | undefined) | undefined
  isRead: boolean
}

/** Told of a contribution that was taken before its point was known, and turned out to be wrong. */
export type OnRefused = (owner: string, error: unknown) => void

/**
 * Contributions by point id. A point may be named again without its key and its check, by a plugin that cannot import
 * it.
 */
const createPoints = (onRefused: OnRefused) => {
  const points = new Map<string, Contributions>()
  const contributionsTo = (point: Point<unknown>): Contributions => {
    const found = points.get(point.point) ?? {
      entries: [],
      values: [],
      key: undefined,
      check: undefined,
      isRead: false,
    }
    found.key ??= point.key
    points.set(point.point, found)
    if (found.check === undefined && point.check !== undefined) {
      found.check = point.check
      checkAgain(found)
    }
    return found
  }
  /** Drops what was taken before its check was known. */
  const checkAgain = (on: Contributions): void => {
    const refused = on.entries.flatMap((entry) => {
      const reason = on.check?.(entry.value)
      return reason === undefined ? [] : [{ entry, reason }]
    })
    for (const { entry, reason } of refused) {
      on.entries.splice(on.entries.indexOf(entry), 1)
      onRefused(entry.owner, errors.contribution_refused({ details: { reason } }))
    }
    if (refused.length > 0) renew(on)
  }
  const refuseTaken = (point: Point<unknown>, { key, entries }: Contributions, value: unknown): void => {
    if (key === undefined) return
    const mine = key(value)
    const taken = entries.find((entry) => key(entry.value) === mine)
    if (taken !== undefined) throw errors.key_taken({ details: { point: point.point, key: mine, plugin: taken.owner } })
  }
  const renew = (on: Contributions): void => {
    on.values = Object.freeze(on.entries.map(({ value }) => value))
  }
  return {
    contribute: (owner: string, point: Point<unknown>, value: unknown): Undo => {
      const on = contributionsTo(point)
      const reason = on.check?.(value)
      if (reason !== undefined) throw errors.contribution_refused({ details: { reason } })
      refuseTaken(point, on, value)
      const undo = add(on.entries, { owner, value })
      renew(on)
      return () => {
        undo()
        renew(on)
      }
    },
    view: (point: Point<unknown>) => {
      const on = contributionsTo(point)
      on.isRead = true
      return () => on.values
    },
    unread: (): UnreadPoint[] => {
      const read = [...points].filter(([, { isRead }]) => isRead).map(([point]) => point)
      return [...points].flatMap(([point, { isRead, entries }]) =>
        isRead
          ? []
          : [...new Set(entries.map(({ owner }) => owner))].map((owner) => ({
              owner,
              point,
              meant: nearest(point, read),
            })),
      )
    },
    count: () => [...points.values()].reduce((sum, { entries }) => sum + entries.length, 0),
  }
}

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
    contribute: (owner, point, value) => points.contribute(owner, point, value),
    view: (point) => unsafeCast(points.view(point)),
    unread: points.unread,
    route: (owner, route) => table.add(owner, route),
    repair,
    health: (owner, value) => add(checks, { owner, value }),
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
