/** Git worktrees in which runs work that do not share the workspace. Rules: docs/rules/worktrees.md. */
import {
  array,
  doc,
  enums,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import { worktreeFields } from '../../execution/runs/contract.js'

/** Why a worktree is kept behind its run. */
export const keepReasons = ['changes', 'background_command', 'unknown', 'removal_failed'] as const

/** What goes with a worktree. */
export const WorktreeLoss = named(
  'WorktreeLoss',
  object({
    files: doc(array(string()), 'A line of `git status --porcelain` for each changed or new file, 200 at most.'),
    files_truncated: optional(doc(literal(true), 'Present if there are more.')),
    commits: doc(array(string()), 'Commits that were made there, the newest first, 100 at most.'),
  }),
)
/** The value form of `WorktreeLoss`. */
export type WorktreeLoss = Infer<typeof WorktreeLoss>

/** A worktree as operators see it. */
export const Worktree = named(
  'Worktree',
  object({
    run_id: doc(string(), 'Id of the run that works or worked there.'),
    session_id: doc(string(), 'Id of its session.'),
    ...worktreeFields,
    repository: doc(string(), 'The git folder that it belongs to.'),
    work_tree: doc(string(), 'Its top, which is `path` or lies around it.'),
    git_dir: optional(doc(string(), 'The git folder that git made for it. Absent while it is being made.')),
    created_at_ms: timestamp(),
    kept_for: optional(
      doc(
        enums(keepReasons),
        'Why it is kept: there are changes, a background command works on there, git could not tell, or ' +
          'something in it could not be removed.',
      ),
    ),
    loss: optional(doc(WorktreeLoss, 'Of a dry run: what would go with it. Absent where git cannot tell.')),
  }),
)
/** The value form of `Worktree`. */
export type Worktree = Infer<typeof Worktree>
