/** Who else keeps something of ended runs, and who reads what is kept of them. */
import { definePoint, defineToken, hasMembers, type Point, type Token, type Tx } from '../../../../core/plugin.js'
import type { TerminalRun } from '../../runs/contract.js'
import type { MemoryStore, RunMemory } from './store.js'

/** Somebody who keeps more of ended runs than memory does. */
export interface RunMemoryUser {
  readonly id: string
  /**
   * Called in the commit in which a run is remembered, some time after it ended and together with others; once for each
   * run, but where the run was forgotten and is found again. Must be fast, and must not be async, write to what it is
   * told or throw: what it throws is charged to its plugin, what it changed is taken back, and the run is
   * remembered. What a shipped plugin throws undoes the commit.
   */
  remembered(tx: Tx, run: TerminalRun, memory: RunMemory): void
}
/** Everyone who keeps more of ended runs. */
export const RunMemoryUsers: Point<RunMemoryUser> = definePoint<RunMemoryUser>(
  'run-memory-users@1',
  ({ id }) => id,
  hasMembers('a user of run memory', { id: 'id', remembered: 'function' }),
)

/** What is remembered of runs. */
export interface RunMemories {
  /** Undefined if the run is not remembered, or not yet. */
  find(session_id: string, run_id: string): RunMemory | undefined
  /** Resolves when every run that has ended is written, or cannot be. */
  settled(): Promise<void>
}
/** What this daemon remembers of runs. */
export const RunMemories: Token<RunMemories> = defineToken<RunMemories>('run-memories@1')

export const createRunMemories = (
  { memories }: Pick<MemoryStore, 'memories'>,
  settled: () => Promise<void>,
): RunMemories => ({
  settled,
  find: (session_id, run_id) => memories.find(session_id)?.memories.find((memory) => memory.run_id === run_id),
})
