/** How sources change. All of it is within a commit. */
import type { Tx } from '../../../../core/plugin.js'
import { observationErrors } from '../record/errors.js'
import type { Audit } from '../record/audit.js'
import type { ObservationStore, SourceRecord } from '../record/store.js'
import type { AuditEvent, ObservationSourceView, SourceOwner } from '../record/structs.js'
import type { RotateRequest, SourceDraft } from './draft.js'
import { sameDigest, tokenDigest } from './token.js'

export interface SourceChanges {
  /** Throws `observation_source_kind_conflict`, `capture_source_managed_by_agent`, `upload_token_revoked`. */
  put(tx: Tx, draft: SourceDraft, owner?: SourceOwner): SourceRecord
  /** Throws what `put` throws, and `observation_source_not_found`. */
  rotate(tx: Tx, source_id: string, wish: RotateRequest): SourceRecord
  /** `reason` is sanitised already. Throws as `rotate`. */
  revoke(tx: Tx, source_id: string, reason: string | undefined): SourceRecord
  setStatus(tx: Tx, source_id: string, status: 'active' | 'disabled'): void
}

type View = ObservationSourceView

/** What the audit is told of a change. */
interface Told {
  readonly event: AuditEvent
  readonly reason?: string | undefined
}
const stampOf = ({ now }: Tx, { updated_at_ms }: View): number => Math.max(now, updated_at_ms)

const settingsOf = ({ upload_token: _upload_token, display_name, ...rest }: SourceDraft) => ({
  ...rest,
  display_name: display_name.trim(),
})

const created = (draft: SourceDraft, now: number): View => {
  const { source_id, display_name, kind, sensitivity, ...limits } = settingsOf(draft)
  return {
    source_id,
    display_name,
    kind,
    status: 'active',
    sensitivity,
    ...limits,
    created_at_ms: now,
    updated_at_ms: now,
    upload_token_version: 1,
    last_token_rotated_at_ms: now,
    active_observation_count: 0,
    active_byte_length: 0,
  }
}

/** The same source with another token, of which no older one opens. */
const withToken = (source: SourceRecord, upload_token_sha256: string, at: number): SourceRecord => {
  const { upload_token_revoked_at_ms: _revoked, ...view } = source.view
  return {
    ...source,
    view: { ...view, upload_token_version: view.upload_token_version + 1, last_token_rotated_at_ms: at },
    upload_token_sha256,
    previous_upload_tokens: [],
  }
}

const isOwn = ({ owner }: SourceRecord, wanted: SourceOwner | undefined): boolean =>
  owner?.plugin === wanted?.plugin && owner?.id === wanted?.id

const checkOwner = (source: SourceRecord, owner?: SourceOwner): void => {
  const { source_id } = source.view
  if (!isOwn(source, owner)) throw observationErrors.capture_source_managed_by_agent({ details: { source_id } })
}

/** Tokens that were taken away and are known as such, at most. */
const mostRevoked = 256

/** What is taken away is not taken again. */
const checkToken = ({ view, upload_token_sha256, revoked_upload_tokens = [] }: SourceRecord, sha256: string): void => {
  const current = view.upload_token_revoked_at_ms === undefined ? [] : [upload_token_sha256]
  if (![...revoked_upload_tokens, ...current].some((one) => sameDigest(one, sha256))) return
  throw observationErrors.upload_token_revoked({
    details: { source_id: view.source_id },
    errors: [{ path: 'body.upload_token', rule: 'must be another' }],
  })
}

/** With none of the tokens that opened it. */
const withoutTokens = (source: SourceRecord, at: number): SourceRecord => {
  const { view, upload_token_sha256, previous_upload_tokens, revoked_upload_tokens = [] } = source
  const { upload_token_revoked_at_ms = at } = view
  const taken = [...previous_upload_tokens.map(({ sha256 }) => sha256), upload_token_sha256]
  return {
    ...source,
    view: { ...view, upload_token_revoked_at_ms, updated_at_ms: at },
    previous_upload_tokens: [],
    revoked_upload_tokens: [...new Set([...revoked_upload_tokens, ...taken])].slice(-mostRevoked),
  }
}

/** Settings as they are wished now; all else stays. */
const remade = (before: SourceRecord, draft: SourceDraft, tx: Tx): SourceRecord => {
  const { kind, source_id } = before.view
  if (kind !== draft.kind) throw observationErrors.observation_source_kind_conflict({ details: { source_id, kind } })
  const sha256 = tokenDigest(draft.upload_token)
  checkToken(before, sha256)
  const at = stampOf(tx, before.view)
  const isSame = sameDigest(sha256, before.upload_token_sha256)
  const source = isSame ? before : withToken(before, sha256, at)
  return { ...source, view: { ...source.view, ...settingsOf(draft), updated_at_ms: at } }
}

export const createChanges = ({ sources, getSource }: ObservationStore, audit: Audit): SourceChanges => {
  const save = (tx: Tx, source: SourceRecord, told: Told): SourceRecord => {
    const { event, reason } = told
    tx.put(sources, source)
    const { source_id, upload_token_version } = source.view
    audit.note(tx, { event, source_id, upload_token_version, ...(reason !== undefined && { reason }) })
    return source
  }
  const getOwn = (source_id: string): SourceRecord => {
    const source = getSource(source_id)
    checkOwner(source)
    return source
  }
  return {
    put(tx, draft, owner) {
      const before = sources.find(draft.source_id)
      const batch = owner === undefined ? undefined : 'source_batch_upserted'
      if (before === undefined)
        return save(
          tx,
          {
            view: created(draft, tx.now),
            upload_token_sha256: tokenDigest(draft.upload_token),
            previous_upload_tokens: [],
            ...(owner !== undefined && { owner }),
          },
          { event: batch ?? 'source_created' },
        )
      checkOwner(before, owner)
      const source = remade(before, draft, tx)
      const isNew = source.view.upload_token_version !== before.view.upload_token_version
      if (owner === undefined) return save(tx, source, { event: isNew ? 'source_rotated' : 'source_updated' })
      return save(tx, { ...source, view: { ...source.view, status: 'active' } }, { event: 'source_batch_upserted' })
    },
    rotate(tx, source_id, { upload_token, grace_period_ms }) {
      const before = getOwn(source_id)
      const sha256 = tokenDigest(upload_token)
      checkToken(before, sha256)
      const isSame = sameDigest(sha256, before.upload_token_sha256)
      const at = stampOf(tx, before.view)
      const reason = grace_period_ms > 0 ? `grace_period_ms=${grace_period_ms}` : undefined
      const turned = isSame ? before : withToken(before, sha256, at)
      const older = graceOf(before, { now: tx.now, grace_period_ms, isSame }).filter((one) => one.sha256 !== sha256)
      const source = { ...turned, previous_upload_tokens: older }
      const dated = { ...source, view: { ...source.view, updated_at_ms: at } }
      return save(tx, dated, { event: 'source_token_rotated', reason })
    },
    revoke(tx, source_id, reason) {
      const before = getOwn(source_id)
      const at = stampOf(tx, before.view)
      return save(tx, withoutTokens(before, at), { event: 'source_token_revoked', reason })
    },
    setStatus(tx, source_id, status) {
      const source = sources.find(source_id)
      if (source === undefined || source.view.status === status) return
      tx.put(sources, { ...source, view: { ...source.view, status, updated_at_ms: stampOf(tx, source.view) } })
    },
  }
}

/** Tokens of a source that open in a window of grace at most. */
const mostOlder = 16

/** A revoked token has no grace; without a grace nothing older opens. */
const graceOf = (
  { view, upload_token_sha256, previous_upload_tokens }: SourceRecord,
  { now, grace_period_ms, isSame }: { now: number; grace_period_ms: number; isSame: boolean },
): SourceRecord['previous_upload_tokens'] => {
  if (grace_period_ms === 0) return []
  const still = previous_upload_tokens.filter(({ expires_at_ms }) => expires_at_ms >= now)
  if (isSame || view.upload_token_revoked_at_ms !== undefined) return still
  const last = { sha256: upload_token_sha256, version: view.upload_token_version, expires_at_ms: now + grace_period_ms }
  return [...still, last].slice(-mostOlder)
}
