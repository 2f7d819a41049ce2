import {
  array,
  defineRoute,
  doc,
  jsonReply,
  object,
  optional,
  string,
  type Route,
  type State,
} from '../../../core/plugin.js'
import { runErrors, type Runs } from '../runs/contract.js'
import { ExternalActionView } from './contract.js'
import type { Ledger } from './ledger.js'
import type { LedgerStore } from './store.js'
import { actionsOf } from './view.js'

export interface ActionRouteParts {
  readonly state: State
  readonly store: LedgerStore
  readonly ledger: Ledger
  readonly runs: Runs
}

const params = object({ run_id: string({ min: 1, max: 200 }) })

export const actionRoutes = (parts: ActionRouteParts): readonly Route[] => [list(parts), acknowledge(parts)]

const list = ({ store, runs }: ActionRouteParts): Route =>
  defineRoute({
    id: 'runs.external_actions',
    method: 'GET',
    path: '/v1/runs/:run_id/external-actions',
    summary: 'Lists what a run did outside the daemon, oldest first: intent, outcome, attempts, and what approved it.',
    access: 'read',
    params,
    reply: jsonReply(array(ExternalActionView)),
    problems: [runErrors.run_not_found],
    handler: ({ params }) => actionsOf(store, runs.get(params.run_id).run_id),
  })

const acknowledge = ({ state, store, ledger, runs }: ActionRouteParts): Route =>
  defineRoute({
    id: 'runs.external_actions.acknowledge',
    method: 'POST',
    path: '/v1/runs/:run_id/external-actions/acknowledge',
    summary:
      'Enters into the ledger that somebody has looked at what a run did with an unknown outcome: it is no longer ' +
      'counted and warned of. Without such an action nothing is entered.',
    access: 'admin',
    params,
    body: object({ note: optional(doc(string({ min: 1, max: 2000 }), 'What was found.')) }),
    bodyOptional: true,
    example: { body: { note: 'The service shows one payment, made at noon.' } },
    reply: jsonReply(array(ExternalActionView)),
    problems: [runErrors.run_not_found],
    durability: 'A',
    handler: async ({ params: { run_id }, body: { note }, caller }) => {
      runs.get(run_id)
      await state.commit((tx) => ledger.acknowledge(tx, { run_id, by: caller.role, note }))
      return actionsOf(store, run_id)
    },
  })
