/** What models are told of where their run works. */
import type { SystemSection } from '../../execution/models/contract.js'
import type { RunWorkspaces } from '../../execution/runs/contract.js'

export const toldOf = (worktrees: Pick<RunWorkspaces, 'find'>): SystemSection => ({
  id: 'worktree',
  rank: 31,
  text: ({ run_id }) => {
    const worktree = worktrees.find(run_id)
    return worktree === undefined
      ? undefined
      : [
          `The workspace is a git worktree of this run alone, at ${worktree.path}.`,
          `It began with commit ${worktree.base_commit}, without a branch.`,
          'What is changed or committed here is kept for people to look at;',
          'the working tree that others use is elsewhere, and is not to be changed.',
        ].join(' ')
  },
})
