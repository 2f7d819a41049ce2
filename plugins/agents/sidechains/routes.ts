import {
  array,
  arraySource,
  boolean,
  boundedPage,
  clampLimit,
  defineRoute,
  doc,
  enums,
  fingerprint,
  idempotencyKey,
  integer,
  jsonReply,
  latest,
  collectionSource,
  object,
  optional,
  pageFields,
  pageProblems,
  paginationOf,
  string,
  union,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { fileBytesOf, mostSubmissionBytes, placedBy, submitProblems } from '../../execution/runs/contract.js'
import {
  agentStatuses,
  ManagedAgentSnapshot,
  sessionErrors,
  SessionView,
  type SessionRecord,
} from '../../execution/sessions/contract.js'
import { AgentCounts, AgentSummaryView, SpawnSidechainRequest } from './contract.js'
import { lookUp } from './directory.js'
import { agentErrors, fullErrors } from './bounds/errors.js'
import { sentAs } from './plan.js'
import { spawnAgent, type SpawnParts } from './spawn.js'
import { summaryOf } from './views.js'

export interface AgentRouteParts extends SpawnParts {
  readonly skip: Skip
}

/** Most agents of a plain list. */
const mostPlain = 1000
/** Rows of a page, at most and without a limit. */
const [mostOfPage, usualPage] = [100, 50]
const AgentId = string({ min: 1, max: 400 })
const params = object({ agent_id: AgentId })
const key = ({ agent_id }: { readonly agent_id: string }): string => agent_id

export const agentRoutes = (parts: AgentRouteParts): readonly Route[] => [
  list(parts),
  summaries(parts),
  read(parts),
  spawn(parts),
]

const list = ({ sessions, skip }: AgentRouteParts): Route =>
  defineRoute({
    id: 'agents.list',
    method: 'GET',
    path: '/v1/agents',
    summary: `The newest agents as they are now, at most ${mostPlain}, the oldest of them first.`,
    access: 'read',
    query: object({ limit: optional(doc(integer(), `Most agents to return, 1 to ${mostPlain}.`)) }),
    reply: jsonReply(array(ManagedAgentSnapshot)),
    problems: [...pageProblems],
    handler: ({ query: { limit = mostPlain } }) =>
      latest(
        {
          source: collectionSource(sessions.collection, 'created', 'all'),
          view: (session) => sessions.snapshot(session),
          skip,
        },
        clampLimit(limit, mostPlain),
      ),
  })

const summaries = (parts: AgentRouteParts): Route =>
  defineRoute({
    id: 'agents.summaries',
    method: 'GET',
    path: '/v1/agents/summaries',
    summary: 'Rows of agents in order of their ids, of all or of one root with all below it.',
    access: 'read',
    query: object({
      root_agent_id: optional(doc(AgentId, 'Only this agent and those below it, however deep.')),
      root: optional(doc(AgentId, 'Another name of root_agent_id.')),
      session_id: optional(string({ min: 1, max: 200 })),
      status: optional(enums(agentStatuses)),
      has_runtime: optional(doc(boolean(), 'Whether it works, waits or is queued.')),
      ...pageFields,
    }),
    reply: jsonReply(
      union(
        array(AgentSummaryView),
        object({ items: array(AgentSummaryView), pagination: paginationOf(mostOfPage), counts: AgentCounts }),
      ),
    ),
    problems: [...pageProblems, agentErrors.agent_not_found, agentErrors.agent_root_conflict],
    handler: async ({ query: { page, cursor, limit, root, root_agent_id = root, ...filter } }) => {
      if (root !== undefined && root !== root_agent_id)
        throw agentErrors.agent_root_conflict({ errors: [{ path: 'query.root', rule: 'must say the same' }] })
      const { found, counts } = await lookUp(parts, { root_agent_id, ...filter })
      const shown = {
        source: arraySource(found, key),
        label: 'agent_id_asc',
        view: (session: SessionRecord) => summaryOf(parts, session),
        skip: parts.skip,
      }
      return page === true || cursor !== undefined
        ? { ...boundedPage({ query: { page, cursor, limit: limit ?? usualPage }, ...shown }, mostOfPage), counts }
        : latest(shown, clampLimit(limit ?? mostPlain, mostPlain))
    },
  })

const read = ({ store, sessions }: AgentRouteParts): Route =>
  defineRoute({
    id: 'agents.get',
    method: 'GET',
    path: '/v1/agents/:agent_id',
    summary: 'An agent as it is now.',
    access: 'read',
    params,
    reply: jsonReply(ManagedAgentSnapshot),
    problems: [agentErrors.agent_not_found],
    handler: ({ params: { agent_id } }) => sessions.snapshot(store.get(agent_id).session),
  })

const spawn = (parts: AgentRouteParts): Route =>
  defineRoute({
    id: 'agents.sidechains.create',
    method: 'POST',
    path: '/v1/agents/:agent_id/sidechains',
    summary: 'Starts an agent below another one, in a session of its own.',
    access: 'admin',
    params,
    body: SpawnSidechainRequest,
    bodyLimit: mostSubmissionBytes,
    fileBytes: ({ subtask = { content: '' } }) => fileBytesOf(subtask),
    idempotent: true,
    reply: jsonReply(SessionView),
    problems: [
      ...submitProblems,
      ...Object.values(agentErrors),
      fullErrors.rate_limited,
      sessionErrors.invalid_session_id,
      sessionErrors.blank_scope_entry,
    ],
    durability: 'A',
    example: { body: { subtask: { name: 'review', content: 'Read the change and say what is wrong with it.' } } },
    handler: async ({ params: { agent_id }, body, idempotencyKey: header, hashes, caller }) => {
      const spawn_request_id = idempotencyKey(header, body.spawn_request_id)
      const { session_id } = await spawnAgent(parts, {
        parent_agent_id: agent_id,
        request: { ...body, spawn_request_id },
        profile: body.agent_type ?? 'default',
        run_id: undefined,
        digest: fingerprint({ agent_id, ...body, spawn_request_id: undefined }, hashes),
      }).catch((error: unknown) => {
        throw placedBy(error, sentAs(body))
      })
      return parts.sessions.view(parts.sessions.get(session_id), caller)
    },
  })
