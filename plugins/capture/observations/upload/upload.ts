/** An upload on its way to an observation: once for each key, and within the rate of its source. */
import { createHash } from 'node:crypto'
import { Problem, sandboxErrors, type Clock, type Count, type Ids, type Tx } from '../../../../core/plugin.js'
import type { Assets } from '../../../media/assets/contract.js'
import type { Audit } from '../record/audit.js'
import { observationErrors } from '../record/errors.js'
import type { ObservationRecord, ObservationStore, SourceRecord } from '../record/store.js'
import type { AuditDraft, ObservationView, RejectionReason } from '../record/structs.js'
import type { Retention } from '../retention/retention.js'
import { judgeToken, unopened } from '../sources/authorise.js'
import type { SourceKeeper } from '../sources/keeper.js'
import { readContent, storeFiles, type StoredFiles } from './files.js'
import { endingOf } from './media.js'
import type { Rates } from './rate.js'
import { checkUpload, keyOf, type UploadRequest } from './request.js'

/** Who was let in: a source, and the digest of the token. */
export interface Uploader {
  readonly source_id: string
  readonly sha256: string
}

export interface UploadParts {
  readonly store: ObservationStore
  readonly assets: Assets
  readonly audit: Audit
  readonly rates: Rates
  readonly retention: Pick<Retention, 'evict' | 'noteDue' | 'poke'>
  readonly keepers: () => readonly SourceKeeper[]
  readonly noteRefusal: (place: string, event: AuditDraft) => Promise<void>
  readonly clock: Clock
  readonly ids: Ids
  readonly uploads: Count
}

export interface Given {
  readonly uploader: Uploader
  readonly body: UploadRequest
  readonly request_fingerprint: string
}

interface Named extends Given {
  readonly source_id: string
  readonly key: string
}

const reasons: Readonly<Record<string, RejectionReason>> = {
  [observationErrors.upload_key_conflict.code]: 'idempotency_conflict',
  [observationErrors.upload_type_unsupported.code]: 'unsupported_media_type',
  [observationErrors.upload_base64_invalid.code]: 'invalid_base64',
}

/** Where the sandbox is full, the uploader comes again as one that sends too much. Milliseconds. */
const busyMs = 1_000

export const createUpload = (parts: UploadParts): ((given: Given) => Promise<ObservationView>) => {
  const { store, rates, noteRefusal, uploads } = parts
  const flights = new Map<string, Promise<unknown>>()

  const refused = async (named: Named, error: unknown): Promise<never> => {
    if (!(error instanceof Problem) || error.spec.status >= 500) throw error
    if (error.code === observationErrors.rate_limited.code || error.spec.status === 401) throw error
    uploads.add(1, 'rejected')
    await noteRefusal(named.source_id, {
      event: 'upload_rejected',
      ...factsOf(named),
      reason: reasons[error.code] ?? 'invalid_request',
    })
    throw error
  }
  const replayed = async (named: Named, { view }: ObservationRecord): Promise<ObservationView> => {
    if (view.request_fingerprint !== named.request_fingerprint) throw observationErrors.upload_key_conflict()
    uploads.add(1, 'replayed')
    await noteRefusal(`${named.source_id} again`, {
      event: 'upload_replayed',
      ...factsOf(named),
      observation_id: view.observation_id,
    })
    return view
  }
  const limited = async (named: Named, retry_after_ms: number, isFirst: boolean): Promise<never> => {
    uploads.add(1, 'rate_limited')
    if (isFirst)
      await noteRefusal(named.source_id, {
        event: 'upload_rate_limited',
        ...factsOf(named),
        reason: 'rate_limited',
        retry_after_ms,
      })
    throw tooMany(retry_after_ms)
  }
  const fresh = async (named: Named): Promise<ObservationView> => {
    const { view, owner } = store.getSource(named.source_id)
    const over = rates.take(view)
    if (over !== undefined) return limited(named, over.retry_after_ms, over.isFirst)
    checkUpload({ source_id: named.source_id, owner_id: owner?.id }, named.body)
    return take(parts, named, view.kind).catch((error: unknown) => {
      if (error instanceof Problem && error.code === sandboxErrors.sandbox_busy.code)
        return limited(named, busyMs, false)
      throw error
    })
  }
  /** Those with the same key wait for the first of them, and look again. */
  const once = async (named: Named): Promise<ObservationView> => {
    const flightKey = `${named.source_id} ${named.key}`
    for (let flight = flights.get(flightKey); flight !== undefined; flight = flights.get(flightKey))
      await flight.catch(() => {})
    const known = store.withKey(named.source_id, named.key)
    if (known !== undefined) return replayed(named, known)
    const made = fresh(named).finally(() => flights.delete(flightKey))
    flights.set(flightKey, made)
    return made
  }
  return async (given) => {
    const { source_id } = given.uploader
    const named = { ...given, source_id, key: given.body.idempotency_key.trim() }
    try {
      return await once({ ...named, key: keyOf(given.body) })
    } catch (error) {
      return refused(named, error)
    }
  }
}

const tooMany = (retry_after_ms: number): Problem =>
  observationErrors.rate_limited({
    details: { retry_after_ms },
    members: { retry_after_ms },
    retryAfter: Math.ceil(retry_after_ms / 1000),
  })

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const factsOf = ({ source_id, key, request_fingerprint }: Named) => ({
  source_id,
  idempotency_key_sha256: sha256(key),
  request_fingerprint,
})

/** How often files are stored again that were deleted before their observation named them. */
const mostTries = 3

const take = async (parts: UploadParts, named: Named, kind: SourceRecord['view']['kind']): Promise<ObservationView> => {
  const { upload, canonical_text, ...facts } = named.body
  const content = await readContent(kind, upload)
  // What a machine calls it stays with the machine: names of files stand in what models are told.
  const file_name = `${named.source_id}.${endingOf(content.media_type)}`
  for (let tries = 0; tries < mostTries; tries += 1) {
    const files = await storeFiles(parts.assets, { file_name, ...content }, canonical_text)
    const made = await enter(parts, named, { files, facts })
    if (made !== undefined) return made
  }
  throw observationErrors.upload_invalid({ details: { reason: 'its file is deleted all the time' } })
}

interface Taken {
  readonly files: StoredFiles
  readonly facts: Omit<UploadRequest, 'upload' | 'canonical_text'>
}

/** Undefined where a file was deleted in the meantime. */
const enter = async (parts: UploadParts, named: Named, taken: Taken): Promise<ObservationView | undefined> => {
  const { store, assets, retention, uploads } = parts
  const made = await store.state.commit((tx) => {
    const source = openedSource(parts, named.uploader)
    const { raw, text } = taken.files
    if ([raw, ...(text === undefined ? [] : [text])].some(({ asset_id }) => assets.find(asset_id) === undefined))
      return undefined
    const record = recordOf(parts, tx, { named, taken, source })
    tx.insert(store.observations, record)
    const kept = retention.evict(tx, retention.noteDue(withOne(source, record, tx.now), record))
    tx.put(store.sources, kept)
    noteSuccess(parts.audit, tx, { named, source, record })
    return store.getObservation(record.view.observation_id).view
  })
  if (made === undefined) return undefined
  uploads.add(1, 'accepted')
  retention.poke()
  return made
}

/** The source, as long as the token still opens it. */
const openedSource = ({ store, keepers, clock }: UploadParts, { source_id, sha256: token }: Uploader): SourceRecord => {
  const source = store.getSource(source_id)
  const verdict = judgeToken(source, token, { keepers: keepers(), now: clock.now() })
  if (!verdict.admitted) throw unopened()
  return source
}

const withOne = (source: SourceRecord, { view }: ObservationRecord, now: number): SourceRecord => ({
  ...source,
  view: {
    ...source.view,
    last_authenticated_at_ms: now,
    last_observed_at_ms: Math.max(now, source.view.last_observed_at_ms ?? 0),
    active_observation_count: source.view.active_observation_count + 1,
    active_byte_length: source.view.active_byte_length + view.byte_length,
  },
})

const recordOf = (
  { ids }: UploadParts,
  { now }: Tx,
  {
    named: { key, request_fingerprint },
    taken: { files, facts },
    source,
  }: { named: Named; taken: Taken; source: SourceRecord },
): ObservationRecord => {
  const { source_id, kind, sensitivity } = source.view
  const { captured_at_ms = now, stream_id, seq_no, metadata } = facts
  const { asset_id, media_type, sha256: digest, byte_length } = files.raw
  const group_id = metadata?.['capture_group_id']
  return {
    view: {
      observation_id: ids.make('observation'),
      source_id,
      kind,
      sensitivity,
      retention_state: 'active',
      asset_id,
      ...(files.text !== undefined && { canonical_text_asset_id: files.text.asset_id }),
      media_type,
      sha256: digest,
      byte_length,
      captured_at_ms,
      received_at_ms: now,
      ...(stream_id !== undefined && { stream_id }),
      ...(seq_no !== undefined && { seq_no }),
      idempotency_key: key,
      request_fingerprint,
      ...(metadata !== undefined && { metadata }),
    },
    ...(typeof group_id === 'string' && group_id !== '' && { group_id }),
  }
}

const noteSuccess = (
  audit: Audit,
  tx: Tx,
  { named, source, record: { view } }: { named: Named; source: SourceRecord; record: ObservationRecord },
): void =>
  audit.note(tx, {
    event: 'upload_succeeded',
    ...factsOf(named),
    observation_id: view.observation_id,
    upload_token_version: source.view.upload_token_version,
    media_type: view.media_type,
    byte_length: view.byte_length,
  })
