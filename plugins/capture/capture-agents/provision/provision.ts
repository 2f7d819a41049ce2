/** Provisions a batch: all of its agents, their sources and their leases, in one commit. */
import { createPause, digest, tokenMark, type Tx } from '../../../../core/plugin.js'
import { tokenDigest } from '../../observations/contract.js'
import { ownerPlugin, type AgentParts } from '../record/parts.js'
import { captureErrors } from '../record/errors.js'
import { surplusBatch, surplusLeases, type AgentRecord } from '../record/store.js'
import { renderFile, type IssuedAgent } from './render.js'
import type { ProvisionReply } from './reply.js'
import { batchOf, type Batch, type Machine, type ProvisionRequest } from './request.js'
import { plannedSources, type PlannedSource } from './sources.js'

/** Bytes of a token, and of what tells leases of one source apart. */
const [tokenBytes, leaseBytes] = [32, 8]

interface NewLease {
  readonly lease_id: string
  readonly source: PlannedSource
  readonly token: string
  readonly sha256: string
}
/** An agent that is about to be: with its tokens, before anything of it is kept. */
interface NewAgent {
  readonly machine: Machine
  readonly sources: readonly PlannedSource[]
  /** One for each source, whatever streams it has. */
  readonly leases: readonly NewLease[]
  readonly heartbeat_token: string
  readonly heartbeat_sha256: string
}
interface Applied {
  readonly record: AgentRecord
  readonly agent: NewAgent
}

const created = ({ ids }: AgentParts, batch: Batch, machine: Machine): NewAgent => {
  const token = (): string => `${tokenMark}${ids.random(tokenBytes)}`
  const sources = plannedSources(batch, machine)
  const distinct = new Map(sources.map((source) => [source.source_id, source] as const))
  const heartbeat_token = token()
  return {
    machine,
    sources,
    heartbeat_token,
    heartbeat_sha256: tokenDigest(heartbeat_token),
    leases: [...distinct.values()].map((source) => {
      const upload = token()
      const lease_id = `lease-${source.source_id}-${ids.random(leaseBytes)}`
      return { lease_id, source, token: upload, sha256: tokenDigest(upload) }
    }),
  }
}

/** Leases that are still good end here; each has its successor, if its source has one. */
const supersede = ({ store }: AgentParts, { tx, agent }: Applying): void => {
  const next = new Map(agent.leases.map(({ source, lease_id }) => [source.source_id, lease_id] as const))
  for (const lease of store.goodLeases(agent.machine.machine_id)) {
    const superseded_by = next.get(lease.view.source_id)
    const ended = { revoked_at_ms: tx.now, ...(superseded_by !== undefined && { superseded_by }) }
    tx.put(store.leases, { ...lease, view: { ...lease.view, ...ended } })
  }
}

/** Makes its sources, or makes them again; what the machine no longer has takes no uploads. */
const applySources = (
  { sources, store }: AgentParts,
  { tx, batch, agent }: Applying,
  before: AgentRecord | undefined,
): string[] => {
  const { machine_id } = agent.machine
  const owner = { plugin: ownerPlugin, id: machine_id }
  const own = new Set(agent.leases.map(({ source }) => source.source_id))
  for (const source_id of before?.source_ids ?? [])
    if (!own.has(source_id)) sources.setStatus(tx, source_id, 'disabled')
  const { retention_seconds, max_active_observations, max_active_bytes } = batch
  return agent.leases.map(({ source, token, sha256, lease_id }, place) => {
    const draft = {
      source_id: source.source_id,
      display_name: source.display_name,
      kind: source.kind,
      sensitivity: source.sensitivity,
      upload_token: token,
      retention_seconds,
      max_active_observations,
      max_active_bytes,
      ingest_rate_limit_window_ms: 60_000,
      ingest_rate_limit_burst: 120,
      purge_raw_on_retention: false,
      allow_materialization: true,
      allow_output_delivery: false,
    }
    const { upload_token_version } = sources.keep(tx, draft, owner)
    const { source_id, kind } = source
    const times = { issued_at_ms: tx.now, expires_at_ms: tx.now + batch.token_ttl_ms }
    const view = { lease_id, source_id, kind, upload_token_version, ...times }
    tx.insert(store.leases, { view, machine_id, place, upload_token_sha256: sha256 })
    return source_id
  })
}

interface Applying {
  readonly tx: Tx
  readonly batch: Batch
  readonly agent: NewAgent
  readonly fingerprint_sha256: string
}

/** Of an agent that was heard before: it is waited for from then on. */
const heardOf = (before: AgentRecord | undefined) => {
  if (before === undefined || before.status === 'revoked') return { heartbeat_state: 'pending' as const }
  const {
    heartbeat_state,
    last_heartbeat_at_ms,
    last_heartbeat_agent_version,
    last_heartbeat_observed_source_ids,
    last_heartbeat_unobserved_source_ids,
    heartbeat_missing_since_ms,
  } = before
  return {
    heartbeat_state,
    ...(last_heartbeat_at_ms !== undefined && { last_heartbeat_at_ms }),
    ...(last_heartbeat_agent_version !== undefined && { last_heartbeat_agent_version }),
    ...(last_heartbeat_observed_source_ids && { last_heartbeat_observed_source_ids }),
    ...(last_heartbeat_unobserved_source_ids && { last_heartbeat_unobserved_source_ids }),
    ...(heartbeat_missing_since_ms !== undefined && { heartbeat_missing_since_ms }),
  }
}

const apply = (parts: AgentParts, applying: Applying, before: AgentRecord | undefined): Applied => {
  const { tx, batch, agent, fingerprint_sha256 } = applying
  const { machine_id, os_profile } = agent.machine
  const { heartbeat_interval_ms, heartbeat_grace_ms, token_ttl_ms, batch_id } = batch
  supersede(parts, applying)
  const source_ids = applySources(parts, applying, before)
  const heard = heardOf(before)
  const record: AgentRecord = {
    machine_id,
    batch_id,
    provision_fingerprint_sha256: fingerprint_sha256,
    os_profile,
    status: 'active',
    source_ids,
    created_at_ms: before?.created_at_ms ?? tx.now,
    updated_at_ms: Math.max(tx.now, before?.updated_at_ms ?? 0),
    heartbeat_interval_ms,
    heartbeat_grace_ms,
    heartbeat_deadline_ms: (heard.last_heartbeat_at_ms ?? tx.now) + heartbeat_interval_ms + heartbeat_grace_ms,
    heartbeat_token_version: (before?.heartbeat_token_version ?? 0) + 1,
    ...heard,
    token_expires_at_ms: tx.now + token_ttl_ms,
    heartbeat_token_sha256: agent.heartbeat_sha256,
  }
  tx.put(parts.store.agents, record)
  for (const lease_id of surplusLeases(parts.store, machine_id)) tx.remove(parts.store.leases, lease_id, 'older')
  parts.sources.note(tx, { event: 'capture_agent_provisioned', source_id: machine_id })
  return { record, agent }
}

type Told = ProvisionReply['agents'][number]
const told = (batch: Batch, { record, agent }: Applied): Told => {
  const { machine_id, os_profile, heartbeat_interval_ms, heartbeat_grace_ms, heartbeat_deadline_ms } = record
  const { heartbeat_token, leases, machine, sources } = agent
  const token_expires_at_ms = record.token_expires_at_ms ?? 0
  const upload_tokens = new Map(leases.map(({ source, token }) => [source.source_id, token] as const))
  const issued: IssuedAgent = {
    machine,
    heartbeat_token,
    heartbeat_deadline_ms,
    token_expires_at_ms,
    sources,
    upload_tokens,
  }
  return {
    machine_id,
    os_profile,
    heartbeat_interval_ms,
    heartbeat_grace_ms,
    heartbeat_deadline_ms,
    heartbeat_token,
    token_expires_at_ms,
    config_toml: renderFile(batch, issued),
    sources: leases.map(({ source: { source_id, kind }, lease_id, token }) => ({
      source_id,
      kind,
      lease_id,
      expires_at_ms: token_expires_at_ms,
      upload_token: token,
    })),
  }
}

/** Rejects with `capture_provisioning_invalid`, `capture_provisioning_batch_conflict`, and what `keep` throws. */
export const createProvision = (parts: AgentParts, latest: (record: AgentRecord) => AgentRecord) => {
  const { store } = parts
  const refuseApplied = (batch_id: string): void => {
    if (store.batches.has(batch_id)) throw captureErrors.capture_provisioning_batch_conflict({ details: { batch_id } })
  }
  return async (request: ProvisionRequest): Promise<ProvisionReply> => {
    const batch = batchOf(request)
    const { batch_id, machines } = batch
    refuseApplied(batch_id)
    const fingerprint_sha256 = digest(request)
    const pause = createPause(1)
    const made: NewAgent[] = []
    for (const machine of machines) {
      made.push(created(parts, batch, machine))
      await pause()
    }
    const applied = await store.state.commit((tx) => {
      refuseApplied(batch_id)
      tx.insert(store.batches, { batch_id, fingerprint_sha256, agents: machines.length, applied_at_ms: tx.now })
      const surplus = surplusBatch(store)
      if (surplus !== undefined) tx.remove(store.batches, surplus, 'older')
      return made.map((agent) => {
        const before = store.find(agent.machine.machine_id)
        return apply(parts, { tx, batch, agent, fingerprint_sha256 }, before && latest(before))
      })
    })
    const agents: Told[] = []
    for (const one of applied) {
      agents.push(told(batch, one))
      await pause()
    }
    return { batch_id, agents }
  }
}
