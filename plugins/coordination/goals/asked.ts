/** The goal as it was when the model of a run was asked last: what the model says of a goal is about that one. */
import { begunAt, type Runs } from '../../execution/runs/contract.js'
import type { SystemSubject } from '../../execution/models/contract.js'
import type { GoalRecord } from './record.js'
import type { GoalStore } from './store.js'

export interface AskedGoals {
  /** To be called when a model is about to be asked. */
  note(run: Pick<SystemSubject, 'run_id' | 'session_id'>): void
  /** True if the goal is the one that the model was asked with, unchanged, or one that its run has set since. */
  isOf(run_id: string, goal: GoalRecord): boolean
  forget(run_id: string): void
}

export const createAsked = (store: Pick<GoalStore, 'find'>, runs: Pick<Runs, 'find'>): AskedGoals => {
  const asked = new Map<string, GoalRecord | undefined>()
  return {
    note({ run_id, session_id }) {
      // Prompts are put together for runs that are over too, such as to sum up what they said.
      if (runs.find(run_id)?.status === 'running') asked.set(run_id, store.find(session_id))
    },
    isOf(run_id, goal) {
      const { goal_id, version, created_by_run_id, updated_at_ms } = goal
      if (created_by_run_id === run_id && version === 1) return true
      const before = asked.get(run_id)
      if (asked.has(run_id)) return before?.goal_id === goal_id && before.version === version
      // An earlier life of the daemon has asked: what was there when the run began was there then too.
      const run = runs.find(run_id)
      return run !== undefined && updated_at_ms <= (begunAt(run) ?? 0)
    },
    forget: (run_id) => void asked.delete(run_id),
  }
}
