/** What is kept of worktrees: those that there are, and those that are being made or removed. */
import { timeKey, type Collection, type CollectionSpec } from '../../../core/plugin.js'
import type { RunWorktree } from '../../execution/runs/contract.js'
import type { Worktree } from './contract.js'

/** `name` is that of its folder below `worktrees/` of the state root. */
export type WorktreeRecord = {
  readonly run_id: string
  readonly session_id: string
  readonly name: string
  readonly state: RunWorktree['state']
  readonly created_at_ms: number
  /** The git folder that it belongs to. Absolute path. */
  readonly repository: string
  /** Where the workspace is in its repository: `` or a path that ends in a slash. */
  readonly prefix: string
  readonly base_commit: string
  /** The git folder of the worktree itself; absent while it is being made. */
  readonly git_dir?: string
  readonly kept_for?: Worktree['kept_for']
}

export const everything = 'all'

export const worktreeCollection: CollectionSpec<WorktreeRecord> = {
  name: 'worktrees',
  version: 1,
  id: ({ run_id }) => run_id,
  indexes: {
    all: { group: () => everything, sort: ({ created_at_ms, run_id }) => `${timeKey(created_at_ms)}:${run_id}` },
  },
  removed: 'forgotten',
  bounded: { worktrees: 'worktrees.most' },
}

export const allOf = (worktrees: Collection<WorktreeRecord>): WorktreeRecord[] =>
  worktrees.ids('all', everything).flatMap((run_id) => worktrees.find(run_id) ?? [])
