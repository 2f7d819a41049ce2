import {
  array,
  arraySource,
  boundedPage,
  collectionSource,
  createPause,
  defineRoute,
  doc,
  enums,
  fingerprint,
  idempotencyErrors,
  idempotencyKey,
  inTurns,
  jsonReply,
  object,
  optional,
  pageFields,
  pageProblems,
  paginationOf,
  string,
  timeKey,
  union,
  type PageSource,
  type Route,
} from '../../../core/plugin.js'
import { fileBytesOf, mostSubmissionBytes, submitProblems } from '../../execution/runs/contract.js'
import { playbookErrors } from '../playbooks/contract.js'
import { FlowView, StartFlowRequest } from './contract.js'
import { flowErrors } from './errors.js'
import { project } from './projection.js'
import type { FlowRecord } from './record.js'
import { startFlow, type StartParts } from './start.js'
import { flowStatuses, type FlowStatus } from './status.js'
import { flowRow, flowView } from './views.js'

export const flowPath = '/v1/flows'
export const flowParams = object({ flow_id: string({ min: 1, max: 200 }) })

export const flowRoutes = (parts: StartParts): readonly Route[] => [list(parts), start(parts), read(parts)]

/** Flows of one page, and of a plain array. */
/** Flows of a list at most, and of a page without a limit. */
const [most, usual] = [100, 50]
const keyOf = ({ created_at_ms, flow_id }: FlowRecord): string => `${timeKey(created_at_ms)}${flow_id}`

interface Filter {
  readonly playbook_id?: string | undefined
  readonly session_id?: string | undefined
  readonly status?: FlowStatus | undefined
}

const sourceOf = ({ store }: StartParts, { playbook_id, session_id }: Filter): PageSource<FlowRecord> => {
  if (session_id !== undefined) return collectionSource(store.flows, 'session', session_id)
  if (playbook_id !== undefined) return collectionSource(store.flows, 'playbook', playbook_id)
  return collectionSource(store.flows, 'all', 'all')
}

/** Those that pass, looked at one after the other. */
const matching = async (parts: StartParts, filter: Filter): Promise<PageSource<FlowRecord>> => {
  const { playbook_id, status, session_id } = filter
  const isOpen = status === undefined && (playbook_id === undefined || session_id === undefined)
  const source = sourceOf(parts, filter)
  if (isOpen) return source
  const found: FlowRecord[] = []
  const pause = createPause(16)
  for (let beyond: string | undefined; ;) {
    const range = { limit: most, order: 'asc' as const, skip: parts.store.skip }
    const some = source.list({ ...range, ...(beyond !== undefined && { beyond }) })
    for (const flow of some) {
      const isOf = (playbook_id ?? flow.playbook_ref.playbook_id) === flow.playbook_ref.playbook_id
      const now = isOf && status !== undefined ? (await inTurns(project(parts, flow))).status : status
      if (isOf && now === status) found.push(flow)
      await pause()
    }
    const last = some.at(-1)
    if (some.length < most || last === undefined) return arraySource(found, keyOf)
    beyond = keyOf(last)
  }
}

const list = (parts: StartParts): Route =>
  defineRoute({
    id: 'flows.list',
    method: 'GET',
    path: flowPath,
    summary: `Lists flows, the newest first and without their runs; as a plain array the newest ${most}.`,
    access: 'read',
    query: object({
      playbook_id: optional(doc(string({ min: 1, max: 200 }), 'Only those of this playbook.')),
      session_id: optional(doc(string({ min: 1, max: 200 }), 'Only those of this session.')),
      status: optional(doc(enums(flowStatuses), 'Only those in this status.')),
      ...pageFields,
    }),
    reply: jsonReply(union(array(FlowView), object({ items: array(FlowView), pagination: paginationOf(most) }))),
    problems: [...pageProblems],
    handler: async ({ query: { playbook_id, session_id, status, page, cursor, limit } }) => {
      const source = await matching(parts, { playbook_id, session_id, status })
      const found = boundedPage(
        {
          query: { page, cursor, limit: limit ?? (page === true || cursor !== undefined ? usual : undefined) },
          source,
          label: 'created_at_desc',
          order: 'desc',
          view: (flow) => flow,
          skip: parts.store.skip,
        },
        most,
      )
      const items: FlowView[] = []
      for (const flow of found.items) items.push(await flowRow(parts, flow))
      return page === true || cursor !== undefined ? { items, pagination: found.pagination } : items
    },
  })

const start = (parts: StartParts): Route =>
  defineRoute({
    id: 'flows.start',
    method: 'POST',
    path: flowPath,
    summary: 'Starts a flow of a playbook: its root run is accepted with it.',
    access: 'admin',
    body: StartFlowRequest,
    bodyLimit: mostSubmissionBytes,
    fileBytes: ({ request }) => fileBytesOf(request),
    idempotent: true,
    reply: jsonReply(FlowView, 201),
    problems: [
      ...submitProblems,
      playbookErrors.playbook_not_found,
      playbookErrors.playbook_version_not_found,
      playbookErrors.playbook_digest_mismatch,
      playbookErrors.playbook_not_startable,
      flowErrors.flow_conflict,
      flowErrors.flow_scope_too_wide,
      flowErrors.flow_evidence_unresolved,
      idempotencyErrors.idempotency_conflict,
    ],
    durability: 'A',
    example: {
      body: {
        flow_id: 'notes-7',
        playbook_ref: { playbook_id: 'release-notes', version: '1', digest: 'aa…' },
        session_id: 'first',
        request: { content: 'Write the notes of version 7.' },
      },
    },
    handler: async ({ body, idempotencyKey: header, hashes, caller }) => {
      const request = { ...body, idempotency_key: idempotencyKey(header, body.idempotency_key) }
      const { flow, wasThere } = await startFlow(parts, { request, digest: fingerprint(request, hashes) })
      const view = await flowView(parts, parts.store.get(flow.flow_id), caller)
      return wasThere ? { ...view, started_before: true as const } : view
    },
  })

const read = (parts: StartParts): Route =>
  defineRoute({
    id: 'flows.get',
    method: 'GET',
    path: `${flowPath}/:flow_id`,
    summary: 'Reads a flow as it is now, with its root run.',
    access: 'read',
    params: flowParams,
    reply: jsonReply(FlowView),
    problems: [flowErrors.flow_not_found],
    handler: ({ params: { flow_id }, caller }) => flowView(parts, parts.store.get(flow_id), caller),
  })
