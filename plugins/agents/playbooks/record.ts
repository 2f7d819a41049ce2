/** What is kept of playbooks: what becomes of their versions, and apart from that the manifests, which never change. */
import {
  array,
  digest,
  doc,
  enums,
  jsonObject,
  notBlank,
  object,
  optional,
  string,
  timestamp,
  type CollectionSpec,
  type Infer,
  type JsonObject,
} from '../../../core/plugin.js'

/** What a version may be used for (playbooks-6 to playbooks-8). */
export const releaseStatuses = ['draft', 'verified', 'canary', 'active', 'revoked'] as const
/** One of `releaseStatuses`. */
export type ReleaseStatus = (typeof releaseStatuses)[number]
/** Those that publishing gives. */
export const publishedStatuses = ['verified', 'canary', 'active'] as const

/** Something that shows why, which people can look up. */
export const EvidenceRef = object({
  kind: doc(string({ min: 1, max: 200, pattern: notBlank }), 'What it is, such as `run` or `review`.'),
  id: string({ min: 1, max: 400, pattern: notBlank }),
  description: optional(string({ max: 1_000 })),
})
/** The value form of `EvidenceRef`. */
export type EvidenceRef = Infer<typeof EvidenceRef>

/** A version as it is shown. */
export const versionFields = {
  version: string(),
  digest: doc(string(), 'SHA-256 of the canonical JSON of its manifest, in hex.'),
  status: enums(releaseStatuses),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  evidence_refs: optional(doc(array(EvidenceRef), 'What was shown when it was published and revoked.')),
  revoked_reason: optional(string()),
}
const VersionRecord = object({
  ...versionFields,
  published_at_ms: optional(doc(timestamp(), 'When it got the status that it has.')),
})
/** The value form of `VersionRecord`. */
export type VersionRecord = Infer<typeof VersionRecord>

const PlaybookRecord = object({
  playbook_id: string(),
  title: doc(string(), 'Of the newest version.'),
  objective: string(),
  versions: doc(array(VersionRecord), 'In the order in which they were created.'),
})
/** The value form of `PlaybookRecord`. */
export type PlaybookRecord = Infer<typeof PlaybookRecord>

export const playbookCollection: CollectionSpec<PlaybookRecord> = {
  name: 'playbooks',
  version: 1,
  id: ({ playbook_id }) => playbook_id,
  indexes: { all: { group: () => 'all' } },
  settled: () => true,
  schema: PlaybookRecord,
}

/** A manifest as it was given. */
export interface ManifestRecord {
  readonly id: string
  readonly playbook_id: string
  readonly version: string
  readonly manifest: JsonObject
}

/** By its version, of which a playbook has each once. */
export const manifestId = (playbook_id: string, version: string): string => digest([playbook_id, version])

export const manifestCollection: CollectionSpec<ManifestRecord> = {
  name: 'playbook_manifests',
  version: 1,
  id: ({ id }) => id,
  indexes: {},
  settled: () => true,
  schema: object({ id: string(), playbook_id: string(), version: string(), manifest: jsonObject() }),
  references: ({ playbook_id }) => [{ collection: 'playbooks', id: playbook_id }],
}
