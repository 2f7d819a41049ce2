/** What a run did outside the daemon: read, and acknowledged. */
import { array, defineRoute, doc, jsonReply, object, optional, string, type Route } from '../../../core/plugin.js'
import { ExternalActionView } from '../external-actions/contract.js'
import { runErrors } from './contract.js'
import type { RunRouteParts } from './routes.js'

const params = object({ run_id: string({ min: 1, max: 200 }) })

const actionsOf = ({ ledger }: RunRouteParts['parts'], run_id: string): ExternalActionView[] =>
  ledger()?.of(run_id) ?? []

export const actionRoutes = (all: RunRouteParts): readonly Route[] => [list(all), acknowledge(all)]

const list = ({ parts, runs }: RunRouteParts): Route =>
  defineRoute({
    id: 'runs.external_actions',
    method: 'GET',
    path: '/v1/runs/:run_id/external-actions',
    summary: 'Lists what a run did outside the daemon, oldest first: intent, outcome, attempts, and what approved it.',
    access: 'read',
    params,
    reply: jsonReply(array(ExternalActionView)),
    problems: [runErrors.run_not_found],
    handler: ({ params: { run_id } }) => actionsOf(parts, runs.get(run_id).run_id),
  })

const acknowledge = ({ parts, runs }: RunRouteParts): Route =>
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
      await parts.store.state.commit((tx) => parts.ledger()?.acknowledge(tx, { run_id, by: caller.role, note }))
      return actionsOf(parts, run_id)
    },
  })
