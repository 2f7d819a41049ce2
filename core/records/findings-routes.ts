/** `/v1/state/findings`: what starts and repairs found and nobody has acknowledged. */
import { StateFinding, type Findings } from './findings.js'
import { defineRoute, jsonReply, type Route } from '../http/routes/route.js'
import { array, doc, integer, named, object, string } from '../base/schema.js'
import { errors } from '../state/errors.js'

const Acknowledge = object({
  finding_id: doc(string({ min: 1, max: 64 }), 'The id of a finding, or `all`.'),
})
const Acknowledged = named('AcknowledgedFindings', object({ acknowledged: integer({ min: 0 }) }))

export const findingRoutes = (findings: Findings): readonly Route[] => [
  defineRoute({
    id: 'findings.list',
    method: 'GET',
    path: '/v1/state/findings',
    access: 'read',
    withoutState: true,
    summary: 'What starts, recoveries and repairs of the state root found and nobody has acknowledged, oldest first.',
    reply: jsonReply(named('StateFindings', array(StateFinding))),
    handler: () => [...findings.list()],
  }),
  defineRoute({
    id: 'findings.acknowledge',
    method: 'POST',
    path: '/v1/state/findings/acknowledge',
    access: 'admin',
    withoutState: true,
    durability: 'A',
    summary: 'Takes a finding off the list and out of the status, because somebody has seen to it.',
    body: Acknowledge,
    reply: jsonReply(Acknowledged),
    problems: [errors.finding_not_found],
    example: { body: { finding_id: 'all' } },
    handler: async ({ body: { finding_id } }) => ({ acknowledged: await findings.acknowledge(finding_id) }),
  }),
]
