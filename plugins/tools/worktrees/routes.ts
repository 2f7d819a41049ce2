import {
  boolean,
  collectionSource,
  defineRoute,
  doc,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type Collection,
  type Route,
} from '../../../core/plugin.js'
import { noRun } from '../../execution/runs/contract.js'
import { Worktree } from './contract.js'
import { worktreeErrors } from './errors.js'
import type { Keeper } from './keeper.js'
import { everything, type WorktreeRecord } from './store.js'

export const worktreeRoutes = (keeper: Keeper, worktrees: Collection<WorktreeRecord>): readonly Route[] => [
  defineRoute({
    id: 'worktrees.list',
    method: 'GET',
    path: '/v1/worktrees',
    summary: 'Git worktrees of runs, oldest first: those in use, and those kept for what is in them.',
    access: 'read',
    query: object(pageFields),
    reply: jsonReply(pageOf(Worktree)),
    problems: [...pageProblems],
    handler: ({ query }) =>
      listPage({
        query,
        source: collectionSource(worktrees, 'all', everything),
        label: 'created_at_asc',
        view: keeper.view,
      }),
  }),
  defineRoute({
    id: 'worktrees.remove',
    method: 'DELETE',
    path: '/v1/worktrees/:run_id',
    summary: 'Removes the worktree that is kept of an ended run, with all that is in it.',
    access: 'admin',
    params: object({ run_id: doc(string({ min: 1, max: 200 }), 'Id of the run.') }),
    query: object({ dry_run: optional(doc(boolean(), 'Says what would go with it, and removes nothing.')) }),
    reply: jsonReply(Worktree),
    problems: [
      ...noRun,
      worktreeErrors.worktree_not_found,
      worktreeErrors.worktree_in_use,
      worktreeErrors.worktree_not_removed,
    ],
    durability: 'A',
    handler: ({ params: { run_id }, query }) => (query.dry_run === true ? keeper.plan(run_id) : keeper.remove(run_id)),
  }),
]
