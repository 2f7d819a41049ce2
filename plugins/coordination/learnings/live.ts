/** The learnings that hold, by scope, as memory asks for them before every model call. */
import type { Clock, Collection, Skip, State } from '../../../core/plugin.js'
import type { LearningScope } from '../../execution/memory/contract.js'
import { scopeKey } from './checked.js'
import { afterEnds, isLive } from './store.js'
import type { Learning } from './record.js'

export interface LiveLearnings {
  /** A learning is written: it is read again when it is asked for. */
  changed(learning: Learning): void
  /** Those of these scopes that hold. Costs what they hold the first time, then what has changed. */
  of(scopes: readonly LearningScope[]): readonly Learning[]
}

export interface LiveParts {
  readonly learnings: Collection<Learning>
  readonly health: State['health']
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
}

/** Kept of all scopes together: the scope that was asked for last is kept however large it is. */
const mostItems = 20_000
const mostCharacters = 16_000_000
/** With as many changes a scope is read anew. */
const mostChanged = 1_000
const slice = 500

export const createLive = ({ learnings, health, clock, skip }: LiveParts): LiveLearnings => {
  /** The one that was asked for last is the last. */
  const held = new Map<string, Held>()

  const read = (key: string): Held => {
    const one: Held = { items: new Map(), changed: new Set(), undone: health.undone, characters: 0, ends: Infinity }
    let beyond = afterEnds(clock.now())
    for (;;) {
      const some = learnings.list({ index: 'live', group: key, limit: slice, beyond, skip })
      for (const learning of some) add(one, learning)
      const last = some.at(-1)
      if (last === undefined || some.length < slice) return one
      beyond = learnings.spec.indexes['live']?.sort?.(last) ?? beyond
    }
  }
  const refresh = (one: Held): void => {
    for (const id of one.changed) {
      remove(one, id)
      const learning = learnings.find(id)
      if (learning !== undefined && isLive(learning)) add(one, learning)
    }
    one.changed.clear()
    const now = clock.now()
    if (now < one.ends) return
    for (const { learning_id, expires_at_ms = Infinity } of one.items.values())
      if (expires_at_ms <= now) remove(one, learning_id)
    one.ends = Infinity
    for (const { expires_at_ms = Infinity } of one.items.values()) one.ends = Math.min(one.ends, expires_at_ms)
  }
  const makeRoom = (): void => {
    let [items, characters] = [0, 0]
    for (const [key, one] of [...held].toReversed()) {
      items += one.items.size + 1
      characters += one.characters
      if (items !== one.items.size + 1 && (items > mostItems || characters > mostCharacters)) held.delete(key)
    }
  }
  const get = (key: string): Held => {
    const known = held.get(key)
    const isUsable = known?.undone === health.undone
    const one = isUsable ? known : read(key)
    refresh(one)
    held.delete(key)
    held.set(key, one)
    if (!isUsable) makeRoom()
    return one
  }
  return {
    changed({ scope, learning_id }) {
      const one = held.get(scopeKey(scope))
      one?.changed.add(learning_id)
      if (one !== undefined && one.changed.size >= mostChanged) held.delete(scopeKey(scope))
    },
    of: (scopes) => scopes.flatMap((scope) => [...get(scopeKey(scope)).items.values()]),
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
