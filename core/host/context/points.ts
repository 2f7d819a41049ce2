/**
 * Contributions by point id. A point may be named again without its key and its check, by a plugin that cannot import
 * it.
 */
import { noteContributor } from './blame.js'
import { nearest } from '../../base/words/nearest.js'
import { visibleLine } from '../../base/text/visible.js'
import type { Point } from '../../base/token.js'
import { errors } from '../errors.js'

export type Undo = () => void
export interface Owned<T> {
  readonly owner: string
  readonly value: T
}
type Entry = Owned<unknown>

export interface UnreadPoint {
  readonly owner: string
  readonly point: string
  /** A point that is read and has nearly this name. */
  readonly meant: string | undefined
}

/** A name that is nearly that of a point is a mistake; another may be that of a plugin which is not here. */
export const tellUnread = ({ point, meant }: UnreadPoint): string =>
  meant === undefined
    ? `contributes to ${point}, which no plugin here reads: it has no effect`
    : `contributes to ${point}, which no plugin reads; did you mean ${meant}?`

/** Somebody who takes each contribution, and what undoes that. */
interface Taking {
  readonly take: (entry: Entry) => Undo
  readonly taken: Map<Entry, Undo>
}

interface Contributions {
  entries: readonly Entry[]
  values: readonly unknown[]
  key: ((value: unknown) => string) | undefined
  check: ((value: unknown) => string | undefined) | undefined
  isRead: boolean
  readonly takings: Set<Taking>
}

/** Most characters of a key in the words of a fault. */
const mostKey = 100

/** What of a contribution was asked or told, with its key: of one plugin there may be twenty. */
export const withKey = <T>(what: string, { key }: Point<T>, value: T): string =>
  key === undefined ? what : `${what} ${visibleLine(key(value)).slice(0, mostKey)}`

/** Told of a contribution that was taken before its point was known, and turned out to be wrong. */
export type OnRefused = (owner: string, error: unknown) => void

const renew = (on: Contributions, entries: readonly Entry[]): void => {
  on.entries = entries
  on.values = Object.freeze(entries.map(({ value }) => value))
}

const letGo = ({ takings }: Contributions, gone: Iterable<Entry>): void => {
  for (const entry of gone)
    for (const { taken } of takings) {
      taken.get(entry)?.()
      taken.delete(entry)
    }
}

/** All who take contributions take these, or nobody does. */
const give = (on: Contributions, added: readonly Entry[]): void => {
  try {
    for (const entry of added) for (const { take, taken } of on.takings) taken.set(entry, take(entry))
  } catch (error) {
    letGo(on, added)
    throw error
  }
}

const without = ({ entries }: Contributions, gone: ReadonlySet<Entry>): Entry[] =>
  entries.filter((entry) => !gone.has(entry))

/** Drops what was taken before its check was known. */
const checkAgain = (on: Contributions, onRefused: OnRefused): void => {
  const refused = new Map<Entry, string>()
  for (const entry of on.entries) {
    const reason = on.check?.(entry.value)
    if (reason !== undefined) refused.set(entry, reason)
  }
  if (refused.size === 0) return
  renew(on, without(on, new Set(refused.keys())))
  letGo(on, refused.keys())
  for (const [{ owner }, reason] of refused) onRefused(owner, errors.contribution_refused({ details: { reason } }))
}

/** Throws if a key is taken, by another plugin or by another one of those that are to be added. */
const refuseTaken = (point: string, { key, entries }: Contributions, added: readonly Entry[]): void => {
  if (key === undefined) return
  const owners = new Map(entries.map(({ owner, value }) => [key(value), owner]))
  for (const { owner, value } of added) {
    const mine = key(value)
    const taken = owners.get(mine)
    if (taken !== undefined) throw errors.key_taken({ details: { point, key: mine, plugin: taken } })
    owners.set(mine, owner)
  }
}

const fresh = (): Contributions => ({
  entries: [],
  values: [],
  key: undefined,
  check: undefined,
  isRead: false,
  takings: new Set(),
})

export const createPoints = (onRefused: OnRefused) => {
  const points = new Map<string, Contributions>()
  const contributionsTo = (point: Point<unknown>): Contributions => {
    const found = points.get(point.point) ?? fresh()
    found.key ??= point.key
    points.set(point.point, found)
    if (found.check === undefined && point.check !== undefined) {
      found.check = point.check
      checkAgain(found, onRefused)
    }
    return found
  }
  const read = (point: Point<unknown>): Contributions => {
    const on = contributionsTo(point)
    on.isRead = true
    return on
  }
  return {
    /** All of them, or none. */
    contribute: (owner: string, point: Point<unknown>, values: readonly unknown[]): Undo => {
      const on = contributionsTo(point)
      for (const value of values) {
        const reason = on.check?.(value)
        if (reason !== undefined) throw errors.contribution_refused({ details: { reason } })
      }
      const added = values.map((value): Entry => ({ owner, value }))
      for (const value of values) noteContributor(value, owner)
      refuseTaken(point.point, on, added)
      give(on, added)
      renew(on, [...on.entries, ...added])
      return () => {
        renew(on, without(on, new Set(added)))
        letGo(on, added)
      }
    },
    /** Takes each contribution, those that come later too; what `take` returns is called when the contribution goes. */
    each: (point: Point<unknown>, take: Taking['take']): Undo => {
      const on = read(point)
      const taken = new Map<Entry, Undo>()
      for (const entry of on.entries)
        try {
          taken.set(entry, take(entry))
        } catch (error) {
          onRefused(entry.owner, error)
        }
      const taking: Taking = { take, taken }
      on.takings.add(taking)
      return () => {
        on.takings.delete(taking)
        for (const undo of taken.values()) undo()
      }
    },
    view: (point: Point<unknown>) => {
      const on = read(point)
      return () => on.values
    },
    owned: (point: Point<unknown>) => {
      const on = read(point)
      return () => on.entries
    },
    unread: (): UnreadPoint[] => {
      const known = [...points].filter(([, { isRead }]) => isRead).map(([point]) => point)
      return [...points].flatMap(([point, { isRead, entries }]) =>
        isRead
          ? []
          : [...new Set(entries.map(({ owner }) => owner))].map((owner) => ({
              owner,
              point,
              meant: nearest(point, known),
            })),
      )
    },
    count: () => [...points.values()].reduce((sum, { entries }) => sum + entries.length, 0),
  }
}
