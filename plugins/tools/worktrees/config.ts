import { defaulted, doc, integer, object, type Infer } from '../../../core/plugin.js'

export const WorktreesConfig = object({
  most: doc(
    defaulted(integer({ min: 1, max: 1_000 }), 50),
    'Worktrees at the same time, kept ones included: beyond them no run gets one until some are removed.',
  ),
  timeout_ms: doc(
    defaulted(integer({ min: 1_000, max: 3_600_000 }), 600_000),
    'Longest time that one git command may take, such as the one that makes a worktree. Milliseconds.',
  ),
})
export type WorktreesConfig = Infer<typeof WorktreesConfig>
