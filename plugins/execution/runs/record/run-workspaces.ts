/** Folders of their own that runs work in; a plugin keeps them. */
import { defineToken, doc, enums, named, object, string, type Infer, type Token } from '../../../../core/plugin.js'
import type { RunRecord } from './run-record.js'

/** Its fields, for views that add to them. */
export const worktreeFields = {
  path: doc(string(), 'Where it is on the machine of the daemon.'),
  base_commit: doc(string(), 'The commit that it began with.'),
  state: doc(
    enums(['making', 'in_use', 'closing', 'kept']),
    '`kept`: the run has ended, and what it left there stays until somebody removes it.',
  ),
}
/** The git worktree of a run, as views show it. */
export const RunWorktree = named('RunWorktree', object(worktreeFields))
/** The value form of `RunWorktree`. */
export type RunWorktree = Infer<typeof RunWorktree>

/** Where the calls of a run work. */
export interface RunFolder {
  /** Absolute path. */
  readonly path: string
  /** Folders beside it that version control writes to. Absolute paths. */
  readonly beside: readonly string[]
  /** The folder that it is a part of, where it is one. Absolute path without links, as `path` is then. */
  readonly within?: string
}

/** Folders of runs that do not share the workspace (worktrees-1). */
export interface RunWorkspaces {
  /** Throws `isolation_unavailable` if no run of the session can have one now. */
  check(session_id: string): Promise<void>
  /**
   * The folder of a run: made at the first call, and the same at each later one, also in later lives of the daemon.
   * Rejects with `isolation_unavailable`. When the signal aborts it must end soon.
   */
  open(run: Pick<RunRecord, 'run_id' | 'session_id'>, signal: AbortSignal): Promise<RunFolder>
  /** Undefined if the run has none, or none any more. Must be fast and must not throw. */
  find(run_id: string): RunWorktree | undefined
}
/** Provided by the plugin that keeps worktrees. */
export const RunWorkspaces: Token<RunWorkspaces> = defineToken<RunWorkspaces>('run-workspaces@1')
