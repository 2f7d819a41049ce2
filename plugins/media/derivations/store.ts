/** Where derivations are kept. */
import {
  boolean,
  collectionSource,
  enums,
  integer,
  object,
  open,
  optional,
  parse,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type PageSource,
  type Skip,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import { namingIn, type AssetHolder, type Assets } from '../assets/contract.js'
import { mostDerivedBytes, mostFingerprint, mostRecordKey } from './bounds.js'
import { DerivationBackend, DerivationSubject, type DerivationView } from './contract.js'

const StoredDerivation = object({
  derivation_id: string(),
  profile: string(),
  profile_version: integer({ min: 1 }),
  subject: DerivationSubject,
  source_fingerprint: string(),
  /** Of the cache: profile and version, subject, fingerprint. */
  key: string(),
  status: enums(['completed', 'failed']),
  /** The file that it was to be made of. */
  subject_asset_id: optional(string()),
  result_asset_id: optional(string()),
  reused_subject_asset: boolean(),
  error: optional(string()),
  backend: optional(DerivationBackend),
  created_at_ms: timestamp(),
})
/** What is told of a plugin's answer, within today's bounds: earlier versions had none. */
const WithinBounds = open({
  source_fingerprint: string({ min: 1, max: mostFingerprint }),
  key: string({ max: mostRecordKey }),
})
const isWithinBounds = (record: StoredDerivation): boolean =>
  parse(WithinBounds, record).ok && Buffer.byteLength(JSON.stringify(record.backend ?? {})) <= mostDerivedBytes

/** A derivation as it is kept. */
export type StoredDerivation = Infer<typeof StoredDerivation>

const group = 'all'
const timestampsOf = ({ backend }: StoredDerivation): string | undefined => backend?.timestamp_asset_id
/** What is made, without what it was made of. */
export const madeOf = (record: StoredDerivation): string[] =>
  [record.result_asset_id, timestampsOf(record)].filter((id) => id !== undefined)

/** Where those stand that name an asset: it stays for the sake of what was completed. */
const namingGroup = (status: StoredDerivation['status'], asset_id: string | undefined): string | undefined =>
  asset_id === undefined ? undefined : `${status} ${asset_id}`

const derivationCollection: CollectionSpec<StoredDerivation> = {
  name: 'derivations',
  version: 2,
  id: ({ derivation_id }) => derivation_id,
  indexes: {
    all: { group: () => group },
    // The last one is preferred: a completed one before a failed one, then the newest.
    key: {
      group: ({ key }) => key,
      sort: ({ status, created_at_ms }) => `${status === 'completed' ? 1 : 0}${timeKey(created_at_ms)}`,
    },
    subject_asset: { group: ({ status, subject_asset_id }) => namingGroup(status, subject_asset_id) },
    result_asset: { group: ({ status, result_asset_id }) => namingGroup(status, result_asset_id) },
    timestamp_asset: { group: (record) => namingGroup(record.status, timestampsOf(record)) },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: StoredDerivation,
}

/** Records of one key: those beyond it go, the least preferred first. */
export const mostOfKey = 16

export interface DerivationStore {
  readonly state: State
  readonly derivations: Collection<StoredDerivation>
  /** The preferred one. */
  find(key: string): StoredDerivation | undefined
  /** By id, the first of them behind `beyond`. */
  list(limit: number, beyond: string | undefined): StoredDerivation[]
  /** Adds it in a commit, with what assets know of it. */
  add(tx: Tx, record: StoredDerivation): void
  /** Its result is gone. Without effect if it is known. */
  fail(tx: Tx, record: StoredDerivation, error: string): void
  /** False of what an earlier version kept of a wrong answer of a plugin, or of one beyond today's bounds. */
  isSound(record: StoredDerivation): boolean
  /** Takes it away in a commit, with what assets know of it. */
  remove(tx: Tx, record: StoredDerivation): void
  readonly all: PageSource<StoredDerivation>
  readonly skip: Skip
}

export const declareDerivations = (state: State, { assets, skip }: { assets: Assets; skip: Skip }): DerivationStore => {
  const derivations = state.collection(derivationCollection)
  const remove: DerivationStore['remove'] = (tx, record) => {
    const { derivation_id } = record
    for (const asset_id of madeOf(record)) assets.noteDerivation(tx, asset_id, { remove: derivation_id })
    tx.remove(derivations, derivation_id, 'superseded')
  }
  const bound = (tx: Tx, key: string): void => {
    const ids = derivations.ids('key', key)
    for (const id of ids.slice(0, Math.max(0, ids.length - mostOfKey))) {
      const found = derivations.find(id)
      if (found !== undefined) remove(tx, found)
    }
  }
  return {
    state,
    derivations,
    find: (key) => derivations.list({ index: 'key', group: key, limit: 1, order: 'desc' })[0],
    list: (limit, beyond) =>
      derivations.list({ index: 'all', group, limit, skip, ...(beyond !== undefined && { beyond }) }),
    add(tx, record) {
      tx.insert(derivations, record)
      for (const asset_id of madeOf(record)) assets.noteDerivation(tx, asset_id, { add: record.derivation_id })
      bound(tx, record.key)
    },
    fail(tx, record, error) {
      if (derivations.find(record.derivation_id)?.status !== 'completed') return
      for (const asset_id of madeOf(record)) assets.noteDerivation(tx, asset_id, { remove: record.derivation_id })
      const { result_asset_id: _result, backend: _backend, ...rest } = record
      tx.put(derivations, { ...rest, status: 'failed', error })
    },
    isSound: (record) => parse(StoredDerivation, record).ok && isWithinBounds(record),
    remove,
    all: collectionSource(derivations, 'all', group),
    skip,
  }
}

/** What holds an asset: what it was made of and what was made, but for what failed. */
export const derivationAssets = ({ derivations }: DerivationStore): AssetHolder => ({
  domain: 'derivations',
  namings: (['subject_asset', 'result_asset', 'timestamp_asset'] as const).map((role) =>
    namingIn({
      collection: derivations,
      index: role,
      group: (asset_id, hard) => namingGroup(hard ? 'completed' : 'failed', asset_id),
      reference: ({ derivation_id: owner_id, status: detail_id }) => ({ owner_id, role, detail_id }),
    }),
  ),
})

export const viewOf = (record: StoredDerivation): DerivationView => {
  const { key: _key, subject_asset_id: _asset, result_asset_id = '', ...rest } = record
  return { ...rest, result_asset_id }
}
