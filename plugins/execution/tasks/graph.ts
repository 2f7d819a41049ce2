/** What some tasks of a session would be after a change, with both ends of every dependency saying the same. */
import type { SessionTask } from './contract.js'
import { taskErrors } from './errors.js'
import type { TaskStore } from './store.js'

/** Changes that are not written yet, over what is stored. */
export interface TaskSet {
  readonly session_id: string
  readonly store: TaskStore
  /** Unix ms that changed tasks are stamped with. */
  readonly now: number
  find(id: string): SessionTask | undefined
  put(task: SessionTask): void
  changed(): SessionTask[]
}

export const openSet = (store: TaskStore, session_id: string, now: number): TaskSet => {
  const changed = new Map<string, SessionTask>()
  return {
    session_id,
    store,
    now,
    find: (id) => changed.get(id) ?? store.find(session_id, id),
    put: (task) => void changed.set(task.id, { ...task, updated_at_ms: Math.max(now, task.updated_at_ms) }),
    changed: () => [...changed.values()],
  }
}

export interface Dependencies {
  readonly blocked_by: readonly string[]
  readonly blocks: readonly string[]
}
type Side = keyof Dependencies
const opposite: Readonly<Record<Side, Side>> = { blocked_by: 'blocks', blocks: 'blocked_by' }

/** Most dependencies of one task in one direction. */
const most = 100

const setSide = (set: TaskSet, task: SessionTask, { side, ids }: { side: Side; ids: readonly string[] }): void => {
  if (ids.length > most) throw taskErrors.task_dependency_limit({ details: { task_id: task.id, limit: most } })
  set.put({ ...task, [side]: ids })
}

/** The task of the other end, which must be there and another one. */
const endOf = (set: TaskSet, id: string, other: string): SessionTask => {
  if (other === id) throw taskErrors.task_self_dependency({ details: { task_id: id } })
  const task = set.find(other)
  if (task === undefined) throw taskErrors.task_dependency_not_found({ details: { task_id: other } })
  return task
}

const relink = (set: TaskSet, id: string, { side, wanted }: { side: Side; wanted: readonly string[] }): void => {
  const task = set.find(id)
  if (task === undefined) return
  const [before, after] = [new Set(task[side] ?? []), new Set(wanted)]
  const there = opposite[side]
  for (const other of before) {
    const end = after.has(other) ? undefined : set.find(other)
    if (end !== undefined) setSide(set, end, { side: there, ids: (end[there] ?? []).filter((one) => one !== id) })
  }
  for (const other of after) {
    if (before.has(other)) continue
    const end = endOf(set, id, other)
    setSide(set, end, { side: there, ids: [...(end[there] ?? []), id] })
  }
  setSide(set, set.find(id) ?? task, { side, ids: [...after] })
}

/** True if a task waits for itself through others. */
const waitsForItself = (set: TaskSet, id: string): boolean => {
  const seen = new Set<string>()
  const open = [...(set.find(id)?.blocked_by ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === id) return true
    if (seen.has(next)) continue
    seen.add(next)
    open.push(...(set.find(next)?.blocked_by ?? []))
  }
  return false
}

/** Gives a task of the set these dependencies. Throws the problems of dependencies; then the set is of no use. */
export const link = (set: TaskSet, id: string, { blocked_by, blocks }: Dependencies): void => {
  relink(set, id, { side: 'blocked_by', wanted: blocked_by })
  relink(set, id, { side: 'blocks', wanted: blocks })
  if (waitsForItself(set, id)) throw taskErrors.task_dependency_cycle({ details: { task_id: id } })
}
