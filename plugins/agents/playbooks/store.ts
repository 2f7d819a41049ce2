/** Playbooks by id. */
import {
  canonical,
  fault,
  parse,
  type Collection,
  type JsonObject,
  type Skip,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { PlaybookRef, Playbooks } from './contract.js'
import { playbookErrors } from './errors.js'
import { PlaybookManifest } from './manifest.js'
import {
  manifestCollection,
  manifestId,
  playbookCollection,
  publishedStatuses,
  type EvidenceRef,
  type ManifestRecord,
  type PlaybookRecord,
  type VersionRecord,
} from './record.js'

export interface PlaybookStore {
  readonly state: State
  readonly playbooks: Collection<PlaybookRecord>
  readonly skip: Skip
  /** Throws `playbook_not_found`. */
  get(playbook_id: string): PlaybookRecord
  /** A manifest as it was given. */
  given(playbook_id: string, version: string): JsonObject
  addManifest(tx: Tx, manifest: Omit<ManifestRecord, 'id'>): void
  /** Throws `playbook_full`. */
  put(tx: Tx, playbook: PlaybookRecord): void
}

const mostVersions = 200
/** Bytes of what is kept of all versions of one playbook, beside their manifests. */
const mostBytes = 524_288

const checkRoom = (playbook: PlaybookRecord): void => {
  if (playbook.versions.length <= mostVersions && Buffer.byteLength(canonical(playbook)) <= mostBytes) return
  const { playbook_id } = playbook
  throw playbookErrors.playbook_full({ details: { playbook_id, most: mostVersions, bytes: mostBytes } })
}

export const declarePlaybooks = (state: State, skip: Skip): PlaybookStore => {
  const playbooks = state.collection(playbookCollection)
  const manifests = state.collection(manifestCollection)
  return {
    state,
    playbooks,
    skip,
    get(playbook_id) {
      const found = playbooks.find(playbook_id)
      if (found === undefined) throw playbookErrors.playbook_not_found({ details: { playbook_id } })
      return found
    },
    given(playbook_id, version) {
      const found = manifests.find(manifestId(playbook_id, version))
      if (found === undefined) throw fault('a version of a playbook has no manifest')
      return found.manifest
    },
    addManifest: (tx, { playbook_id, version, manifest }) =>
      tx.insert(manifests, { id: manifestId(playbook_id, version), playbook_id, version, manifest }),
    put(tx, playbook) {
      checkRoom(playbook)
      tx.put(playbooks, playbook)
    },
  }
}

/** Throws `playbook_version_not_found`. */
export const versionIn = ({ playbook_id, versions }: PlaybookRecord, version: string): VersionRecord => {
  const found = versions.find((one) => one.version === version)
  if (found === undefined) throw playbookErrors.playbook_version_not_found({ details: { playbook_id, version } })
  return found
}

/** The version that a digest names. Throws `playbook_digest_mismatch` beside the problems of `versionIn`. */
export const namedVersion = (playbook: PlaybookRecord, named: Omit<PlaybookRef, 'playbook_id'>): VersionRecord => {
  const found = versionIn(playbook, named.version)
  if (found.digest === named.digest) return found
  const details = { playbook_id: playbook.playbook_id, version: found.version, digest: found.digest }
  throw playbookErrors.playbook_digest_mismatch({
    details,
    errors: [{ path: 'body.digest', rule: 'must be that of the version' }],
  })
}

/** Each once by kind and id; what was there first stays. */
export const addedEvidence = (
  before: readonly EvidenceRef[] | undefined,
  more: readonly EvidenceRef[],
): EvidenceRef[] => {
  const byKey = new Map<string, EvidenceRef>()
  for (const ref of [...(before ?? []), ...more]) {
    const key = JSON.stringify([ref.kind, ref.id])
    if (!byKey.has(key)) byKey.set(key, ref)
  }
  return [...byKey.values()]
}

const startable: ReadonlySet<string> = new Set(publishedStatuses)

export const createPlaybooks = (store: PlaybookStore): Playbooks => {
  const read = (playbook_id: string, version: string): PlaybookManifest => {
    const parsed = parse(PlaybookManifest, store.given(playbook_id, version))
    if (!parsed.ok) throw fault('a kept manifest is none')
    return parsed.value
  }
  const manifest = ({ playbook_id, ...named }: PlaybookRef): PlaybookManifest =>
    read(playbook_id, namedVersion(store.get(playbook_id), named).version)
  return {
    manifest,
    startable(ref) {
      const { playbook_id, version } = ref
      const { status } = namedVersion(store.get(playbook_id), ref)
      if (!startable.has(status))
        throw playbookErrors.playbook_not_startable({ details: { playbook_id, version, status } })
      return manifest(ref)
    },
  }
}
