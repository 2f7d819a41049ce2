import {
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
  type Route,
} from '../../../core/plugin.js'
import { ingressDomain, observationErrors } from '../observations/contract.js'
import { admitAgent, createHeartbeat, HeartbeatRequest, type HeartbeatParts } from './agents/heartbeat.js'
import { alertOf, createDeadlines } from './agents/deadlines.js'
import { createRevoke } from './agents/revoke.js'
import { createProvision } from './provision/provision.js'
import { ProvisionReply } from './provision/reply.js'
import { ProvisionRequest } from './provision/request.js'
import { captureErrors } from './record/errors.js'
import { viewOf, type AgentRecord } from './record/store.js'
import { CaptureAgent, CaptureAlert, HeartbeatReply } from './record/structs.js'

const ofAgent = object({ machine_id: doc(string({ min: 1, max: 200 }), 'Id of the machine, as it is kept.') })

export const captureRoutes = (parts: HeartbeatParts): readonly Route[] => [
  provision(parts),
  list(parts),
  read(parts),
  heartbeat(parts),
  revoke(parts),
  alerts(parts),
]

const provision = (parts: HeartbeatParts): Route => {
  const apply = createProvision(parts, parts.hearing.latest)
  return defineRoute({
    id: 'capture_agents.provision',
    method: 'POST',
    path: '/v1/capture-agent-provisions',
    summary: 'Provisions agents, or provisions them anew; tokens are in this answer and nowhere else.',
    access: 'admin',
    body: ProvisionRequest,
    invalidBody: captureErrors.capture_provisioning_invalid,
    reply: jsonReply(ProvisionReply),
    problems: [
      captureErrors.capture_provisioning_invalid,
      captureErrors.capture_provisioning_batch_conflict,
      observationErrors.observation_source_kind_conflict,
      observationErrors.capture_source_managed_by_agent,
    ],
    durability: 'A',
    example: {
      body: {
        batch_id: 'office 1',
        daemon_base_url: 'https://holdfast.example',
        agents: [{ machine_id: 'Reception' }],
      },
    },
    handler: ({ body }) => apply(body),
  })
}

const shown =
  ({ store, hearing }: HeartbeatParts) =>
  (record: AgentRecord): CaptureAgent =>
    viewOf(store, hearing.latest(record))

const list = (parts: HeartbeatParts): Route => {
  const { look } = createDeadlines(parts)
  return defineRoute({
    id: 'capture_agents.list',
    method: 'GET',
    path: '/v1/capture-agents',
    summary: 'Lists capture agents by machine.',
    access: 'read',
    query: object(pageFields),
    reply: jsonReply(pageOf(CaptureAgent)),
    problems: [...pageProblems],
    handler: async ({ query }) => {
      await look()
      const { all: source, skip } = parts.store
      return listPage({ query, source, label: 'machine_id_asc', view: shown(parts), skip })
    },
  })
}

const read = (parts: HeartbeatParts): Route => {
  const { look } = createDeadlines(parts)
  return defineRoute({
    id: 'capture_agents.get',
    method: 'GET',
    path: '/v1/capture-agents/:machine_id',
    summary: 'Reads a capture agent, with its leases.',
    access: 'read',
    params: ofAgent,
    reply: jsonReply(CaptureAgent),
    problems: [captureErrors.capture_agent_not_found],
    handler: async ({ params: { machine_id } }) => {
      await look()
      return shown(parts)(parts.store.get(machine_id))
    },
  })
}

const heartbeat = (parts: HeartbeatParts): Route => {
  const beat = createHeartbeat(parts)
  return defineRoute({
    id: 'capture_agents.heartbeat',
    method: 'POST',
    path: '/v1/capture-agents/:machine_id/heartbeat',
    summary: 'An agent says that it lives, by its heartbeat token.',
    access: 'ingress',
    ingress: admitAgent(parts),
    scheme: {
      id: 'capture_agent',
      header: 'Authorization',
      description: 'The heartbeat token of the agent that the path names.',
    },
    params: ofAgent,
    body: HeartbeatRequest,
    bodyOptional: true,
    bodyLimit: 64 * 1024,
    invalidBody: captureErrors.capture_heartbeat_invalid,
    problemDomain: ingressDomain,
    reply: jsonReply(HeartbeatReply),
    problems: [observationErrors.ingress_token_invalid, captureErrors.capture_heartbeat_invalid],
    durability: 'C',
    example: { body: { observed_source_ids: ['macos-reception-screen'], agent_version: 'holdfast-capture/0.1.0' } },
    handler: ({ params: { machine_id }, caller: { subject: sha256 }, body }) => beat({ machine_id, sha256, body }),
  })
}

const revoke = (parts: HeartbeatParts): Route => {
  const end = createRevoke(parts)
  return defineRoute({
    id: 'capture_agents.revoke',
    method: 'POST',
    path: '/v1/capture-agents/:machine_id/revoke',
    summary: 'Ends an agent: nothing is opened by its tokens any more, and its sources are disabled.',
    access: 'admin',
    params: ofAgent,
    body: object({ reason: optional(string({ max: 512 })) }),
    bodyOptional: true,
    reply: jsonReply(CaptureAgent),
    problems: [captureErrors.capture_agent_not_found],
    durability: 'A',
    example: { body: { reason: 'the machine was sold' } },
    handler: async ({ params: { machine_id }, body: { reason } }) => viewOf(parts.store, await end(machine_id, reason)),
  })
}

const alerts = (parts: HeartbeatParts): Route => {
  const { look } = createDeadlines(parts)
  return defineRoute({
    id: 'capture_alerts.list',
    method: 'GET',
    path: '/v1/capture-alerts',
    summary: 'Lists agents that were not heard in time, by machine.',
    access: 'read',
    query: object(pageFields),
    reply: jsonReply(pageOf(CaptureAlert)),
    problems: [...pageProblems],
    handler: async ({ query }) => {
      await look()
      const now = parts.clock.now()
      return listPage({
        query,
        source: parts.store.inState('missing'),
        label: 'machine_id_asc',
        view: (record) => alertOf(record, now),
        skip: parts.store.skip,
      })
    },
  })
}
