import { array, defineRoute, jsonReply, object, string, type Route } from '../../../core/plugin.js'
import { runErrors, type Runs } from '../runs/contract.js'
import { ExternalActionView } from './contract.js'
import type { LedgerStore } from './store.js'
import { actionsOf } from './view.js'

export const actionRoutes = ({ store, runs }: { store: LedgerStore; runs: Runs }): readonly Route[] => [
  defineRoute({
    id: 'runs.external_actions',
    method: 'GET',
    path: '/v1/runs/:run_id/external-actions',
    summary: 'Lists what a run did outside the daemon, oldest first: intent, outcome, attempts, and what approved it.',
    access: 'read',
    params: object({ run_id: string({ min: 1, max: 200 }) }),
    reply: jsonReply(array(ExternalActionView)),
    problems: [runErrors.run_not_found],
    handler: ({ params }) => actionsOf(store, runs.get(params.run_id).run_id),
  }),
]
