/** What became of agents, for those who supervise them (agents-20). */
import {
  boundedPage,
  clampLimit,
  collectionSource,
  defineRoute,
  enums,
  jsonReply,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type ListReply,
  type PageRequest,
  type PageSource,
  type Route,
  type Skip,
} from '../../../../core/plugin.js'
import { agentErrors } from '../bounds/errors.js'
import { agentAuditEvents, AgentAuditRecord, type AgentAuditEntry, type AgentAuditStore } from './audit.js'

export interface AuditRouteParts {
  readonly audit: AgentAuditStore
  /** Throws `agent_not_found`. */
  readonly check: (agent_id: string) => void
  readonly skip: Skip
}

/** Events of a page, at most and without a limit. */
const [mostOfPage, usualPage] = [100, 50]

const newest = (
  source: PageSource<AgentAuditEntry>,
  { page, cursor, limit = usualPage }: PageRequest,
  skip: Skip,
): ListReply<AgentAuditRecord> => {
  const found = boundedPage(
    {
      query: { page, cursor, limit: clampLimit(limit, mostOfPage) },
      source,
      label: 'recorded_at_desc',
      order: 'desc',
      view: ({ record }) => record,
      skip,
    },
    mostOfPage,
  )
  return page === true || cursor !== undefined ? found : found.items
}

export const auditRoutes = ({ audit, check, skip }: AuditRouteParts): readonly Route[] => [
  defineRoute({
    id: 'agents.audit',
    method: 'GET',
    path: '/v1/agents/audit',
    summary: 'What became of agents, newest first: starts, refused starts, names, questions to parents, ends.',
    access: 'read',
    query: object({ event: optional(enums(agentAuditEvents)), ...pageFields }),
    reply: jsonReply(pageOf(AgentAuditRecord)),
    problems: [...pageProblems],
    handler: ({ query: { event, ...query } }) => {
      const [index, group] = event === undefined ? ['all', 'all'] : ['event', event]
      return newest(collectionSource(audit.collection, index, group), query, skip)
    },
  }),
  defineRoute({
    id: 'agents.agent_audit',
    method: 'GET',
    path: '/v1/agents/:agent_id/audit',
    summary: 'What became of an agent and of those that it started or wanted to start, newest first.',
    access: 'read',
    params: object({ agent_id: string({ min: 1, max: 400 }) }),
    query: object({ ...pageFields }),
    reply: jsonReply(pageOf(AgentAuditRecord)),
    problems: [...pageProblems, agentErrors.agent_not_found],
    handler: ({ params: { agent_id }, query }) => {
      check(agent_id)
      return newest(audit.of(agent_id), query, skip)
    },
  }),
]
