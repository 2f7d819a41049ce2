/** The learnings that hold, by scope, as memory asks for them before every model call. */
import { createPause, type Clock, type Collection, type Skip, type State } from '../../../core/plugin.js'
import type { LearningScope } from '../../execution/memory/contract.js'
import { scopeKey } from './checked.js'
import { afterEnds, isLive } from './store.js'
import type { Learning } from './record.js'

export interface LiveLearnings {
  /** A learning is written: it is read again when it is asked for. */
  changed(learning: Learning): void
  /** Those of these scopes that hold. Costs what they hold the first time, then what has changed. */
  of(scopes: readonly LearningScope[]): readonly Learning[]
  /** Reads those of a scope in slices, before anybody asks for them. Ends early when the signal aborts. */
  prepare(scope: LearningScope, signal: AbortSignal): Promise<void>
}

export interface LiveParts {
  readonly learnings: Collection<Learning>
  readonly health: Pick<State['health'], 'undone'>
  readonly clock: Pick<Clock, 'now'>
  /** Given what cannot be read. */
  readonly skip: Skip
}

interface Held {
  readonly items: Map<string, Learning>
  /** What was written since it was read. */
  readonly changed: Set<string>
  /** Changes that came back: what was read before may be of one of them. */
  readonly undone: number
  characters: number
  /** When the next of them ends, Unix ms. */
  ends: number
  /** What it counts among all that is held. */
  weight: number
}

/** Learnings of all scopes together, a long one for two: the scope that was asked for last is held in any case. */
const mostWeight = 20_000
const charactersOfOne = 800
/** With as many changes a scope is read anew. */
const mostChanged = 5_000
const slice = 50

/** What is held by scope, up to a weight; the one that was held last is the last. */
const createShelf = () => {
  const held = new Map<string, Held>()
  let weight = 0
  const drop = (key: string): void => {
    weight -= held.get(key)?.weight ?? 0
    held.delete(key)
  }
  const hold = (key: string, one: Held): void => {
    drop(key)
    one.weight = 1 + one.items.size + one.characters / charactersOfOne
    weight += one.weight
    held.set(key, one)
    for (const oldest of held.keys()) {
      if (weight <= mostWeight || oldest === key) return
      drop(oldest)
    }
  }
  return { get: (key: string) => held.get(key), hold }
}

export const createLive = ({ learnings, health, clock, skip }: LiveParts): LiveLearnings => {
  const shelf = createShelf()
  /** Those that are being read. */
  const coming = new Map<string, Held>()

  const empty = (): Held => ({
    items: new Map(),
    changed: new Set(),
    undone: health.undone,
    characters: 0,
    ends: Infinity,
    weight: 0,
  })
  /** Reads a scope; what is yielded says nothing. */
  function* reading(key: string, one: Held): Generator<void> {
    for (let beyond = afterEnds(clock.now()); ; yield) {
      const some = learnings.list({ index: 'live', group: key, limit: slice, beyond, skip })
      for (const learning of some) add(one, learning)
      const last = some.at(-1)
      if (last === undefined || some.length < slice) return
      beyond = learnings.spec.indexes['live']?.sort?.(last) ?? beyond
    }
  }
  const refresh = (one: Held): Held => {
    for (const id of one.changed) {
      remove(one, id)
      const learning = learnings.find(id)
      if (learning !== undefined && isLive(learning)) add(one, learning)
    }
    one.changed.clear()
    const now = clock.now()
    if (now < one.ends) return one
    for (const { learning_id, expires_at_ms = Infinity } of one.items.values())
      if (expires_at_ms <= now) remove(one, learning_id)
    one.ends = Infinity
    for (const { expires_at_ms = Infinity } of one.items.values()) one.ends = Math.min(one.ends, expires_at_ms)
    return one
  }
  const isUsable = (one: Held): boolean => one.undone === health.undone && one.changed.size < mostChanged
  const get = (key: string): Held => {
    const known = shelf.get(key)
    if (known !== undefined && isUsable(known)) {
      shelf.hold(key, refresh(known))
      return known
    }
    const one = empty()
    for (const _ of reading(key, one)) continue
    shelf.hold(key, one)
    return one
  }
  return {
    changed({ scope, learning_id }) {
      const key = scopeKey(scope)
      for (const one of [shelf.get(key), coming.get(key)])
        if (one !== undefined && one.changed.size < mostChanged) one.changed.add(learning_id)
    },
    of: (scopes) => scopes.flatMap((scope) => [...get(scopeKey(scope)).items.values()]),
    async prepare(scope, signal) {
      const key = scopeKey(scope)
      const one = empty()
      coming.set(key, one)
      const pause = createPause(1)
      for (const _ of reading(key, one)) {
        await pause()
        if (signal.aborted) break
      }
      coming.delete(key)
      if (!signal.aborted && shelf.get(key) === undefined && isUsable(one)) shelf.hold(key, refresh(one))
    },
  }
}

const add = (one: Held, learning: Learning): void => {
  one.items.set(learning.learning_id, learning)
  one.characters += learning.content.length
  one.ends = Math.min(one.ends, learning.expires_at_ms ?? Infinity)
}
const remove = (one: Held, learning_id: string): void => {
  one.characters -= one.items.get(learning_id)?.content.length ?? 0
  one.items.delete(learning_id)
}
