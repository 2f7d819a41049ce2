/** Starting a flow: its record and its root run in one commit (flows-1 to flows-5). */
import { idempotencyErrors, type Ids, type JsonObject, type Tx } from '../../../core/plugin.js'
import {
  placedBy,
  runErrors,
  type ReceiptKey,
  type RunRecord,
  type Submission,
  type SubmitInputRequest,
} from '../../execution/runs/contract.js'
import type { PlaybookManifest, PlaybookRef } from '../playbooks/contract.js'
import type { StartFlowRequest } from './contract.js'
import { flowErrors } from './errors.js'
import { checkResolved } from './evidence.js'
import type { FlowRecord } from './record.js'
import { primitiveKey } from './scope.js'
import { widerCapability, widerCredential } from './scopes.js'
import type { SettleParts } from './settle.js'

export interface StartParts extends SettleParts {
  readonly ids: Ids
}

export interface WantedFlow {
  readonly request: StartFlowRequest
  /** Of all that the request says. */
  readonly digest: string
  /** The fire of a schedule that it is of. */
  readonly fire?: { readonly schedule_id: string; readonly receipt: ReceiptKey }
}

/** The flow that an equal request started. Throws where the id or the key is that of another one. */
export const startedBefore = ({ store }: StartParts, { request, digest }: WantedFlow): FlowRecord | undefined => {
  const { flow_id, idempotency_key } = request
  const byId = flow_id === undefined ? undefined : store.flows.find(flow_id)
  const byKey = idempotency_key === undefined ? undefined : store.ofKey(idempotency_key)
  if (byKey !== undefined && byKey.request_digest !== digest) throw idempotencyErrors.idempotency_conflict()
  if (byId !== undefined && byId.request_digest !== digest)
    throw flowErrors.flow_conflict({ details: { flow_id: byId.flow_id } })
  return byKey ?? byId
}

const checkScopes = ({ sessions }: StartParts, session_id: string, { scopes }: PlaybookManifest): void => {
  const session = sessions.get(session_id)
  const capability = widerCapability(sessions.effectiveCapabilityScope(session), scopes.required_capability_scope)
  const credential = widerCredential(sessions.effectiveCredentialScope(session), scopes.required_credential_scope)
  const wider = capability ?? credential
  if (wider === undefined) return
  const scope = capability === undefined ? 'credential_scope' : 'capability_scope'
  throw flowErrors.flow_scope_too_wide({
    details: { session_id, list: wider, scope },
    errors: [{ path: 'body.session_id', rule: `must be of a session whose ${scope} is no wider for ${wider}` }],
  })
}

/** What the request does not name is the playbook's. */
const inRequest =
  ({ request: { request } }: WantedFlow) =>
  (path: string): string => {
    if (request.provider === undefined && path === 'body.provider') return 'body.playbook_ref.runtime_defaults.provider'
    return path.replace(/^body(?=\.)/u, 'body.request')
  }

/** What stands elsewhere in this request is told with its place here. */
export const placed = <T>(act: () => T, place: (path: string) => string): T => {
  try {
    return act()
  } catch (error) {
    throw placedBy(error, place)
  }
}

/** Only the daemon says of what flow something is. */
export const checkMetadata = (metadata: JsonObject | undefined): void => {
  if (metadata === undefined || !Object.hasOwn(metadata, flowKey)) return
  throw runErrors.reserved_metadata_key({
    details: { key: flowKey },
    errors: [{ path: `body.metadata.${flowKey}`, rule: 'is written by the daemon alone' }],
  })
}
const flowKey = 'service_flow'

/** What of it could never be started is refused. */
const checkStart = (
  parts: StartParts,
  { request, fire }: WantedFlow,
  flow_id: string | undefined,
): PlaybookManifest => {
  const { playbook_ref, session_id, evidence_refs, metadata } = request
  checkMetadata(metadata)
  const manifest = placed(
    () => parts.playbooks.startable(playbook_ref),
    (path) => path.replace(/^body(?=\.)/u, 'body.playbook_ref'),
  )
  checkScopes(parts, session_id, manifest)
  const own = new Set([
    ...(flow_id === undefined ? [] : [primitiveKey('flow', flow_id)]),
    ...(fire === undefined ? [] : [primitiveKey('schedule', fire.schedule_id)]),
  ])
  checkResolved(evidence_refs, own, flow_id)
  return manifest
}

/** The route and model of the playbook where the request names none. */
export const withDefaults = (
  request: SubmitInputRequest,
  { runtime_defaults }: Pick<PlaybookManifest, 'runtime_defaults'>,
): SubmitInputRequest => {
  if (request.provider !== undefined) return request
  const { provider, model } = runtime_defaults
  const isNamed = request.generation?.model !== undefined
  return {
    ...request,
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && !isNamed && { generation: { ...request.generation, model } }),
  }
}

interface Draft {
  readonly flow_id: string
  readonly nonce: string
  readonly manifest: PlaybookManifest
}

const originOf = ({ playbook_id, version, digest }: PlaybookRef, { flow_id, nonce }: Draft) => ({
  service_flow: { flow_id, playbook_id, version, digest, nonce },
})

const submissionOf = (
  { request: { session_id, request, playbook_ref }, fire }: WantedFlow,
  draft: Draft,
): Submission => {
  const input = withDefaults(request, draft.manifest)
  const scheduled = { source_plugin: 'schedules', source_kind: 'schedule', actor_id: fire?.schedule_id, ...input }
  return {
    session_id,
    input: fire === undefined ? input : scheduled,
    origin: originOf(playbook_ref, draft),
    ...(fire !== undefined && { kind: 'scheduled_input', receipt: fire.receipt }),
  }
}

const insert = (
  { store }: StartParts,
  tx: Tx,
  { wanted, draft, run }: { readonly wanted: WantedFlow; readonly draft: Draft; readonly run: RunRecord },
): FlowRecord => {
  const { request, digest, fire } = wanted
  const { playbook_ref, session_id, idempotency_key, metadata, evidence_refs } = request
  const flow: FlowRecord = {
    flow_id: draft.flow_id,
    playbook_ref,
    session_id,
    run_id: run.run_id,
    request_digest: digest,
    nonce: draft.nonce,
    evidence_refs,
    created_at_ms: tx.now,
    updated_at_ms: tx.now,
    revision: 1,
    ...(idempotency_key !== undefined && { idempotency_key }),
    ...(fire !== undefined && { schedule_id: fire.schedule_id }),
    ...(metadata !== undefined && { metadata }),
    ...(evidence_refs.length > 0 && { evidence_at_ms: tx.now }),
  }
  tx.insert(store.flows, flow)
  return flow
}

/** The flow of an equal request or of the same fire. */
const known = (parts: StartParts, wanted: WantedFlow): FlowRecord | undefined => {
  const run = parts.runs.replayed(wanted.fire?.receipt)
  return (run === undefined ? undefined : parts.store.ofRun(run.run_id)) ?? startedBefore(parts, wanted)
}

/** A flow, and whether an equal request or the same fire had started it. */
export interface StartedFlow {
  readonly flow: FlowRecord
  readonly wasThere: boolean
}

/**
 * The flow, which is durable when this resolves; one that an equal request started before is that one. Rejects with the
 * problems of submissions and those of playbooks and flows, and then nothing has changed.
 */
export const startFlow = async (parts: StartParts, wanted: WantedFlow): Promise<StartedFlow> => {
  const { ids, runs, sessions, store } = parts
  const before = known(parts, wanted)
  if (before !== undefined) return { flow: before, wasThere: true }
  const { session_id, flow_id = ids.make('flow') } = wanted.request
  sessions.get(session_id)
  const draft: Draft = { flow_id, nonce: ids.random(16), manifest: checkStart(parts, wanted, flow_id) }
  const prepared = await runs.prepare(submissionOf(wanted, draft)).catch((error: unknown) => {
    throw placedBy(error, inRequest(wanted))
  })
  return store.state.commit((tx) => {
    const meanwhile = known(parts, wanted)
    if (meanwhile !== undefined) return { flow: meanwhile, wasThere: true }
    checkStart(parts, wanted, flow_id)
    const run = placed(() => runs.admit(prepared)(tx), inRequest(wanted))
    return { flow: insert(parts, tx, { wanted, draft, run }), wasThere: false }
  })
}
