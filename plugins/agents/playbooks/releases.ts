/** What becomes of versions: created, published and revoked, each in one commit (playbooks-4 to playbooks-6). */
import { canonical, type JsonObject, type Tx } from '../../../core/plugin.js'
import { checkManifest } from './check.js'
import { playbookErrors } from './errors.js'
import type { PlaybookManifest } from './manifest.js'
import type { EvidenceRef, PlaybookRecord, publishedStatuses, VersionRecord } from './record.js'
import { addedEvidence, namedVersion, type PlaybookStore } from './store.js'

interface Named {
  readonly version: string
  readonly digest: string
  readonly evidence_refs: readonly EvidenceRef[]
}

export interface Releases {
  /** Throws `playbook_manifest_invalid`, `playbook_version_conflict` and `playbook_full`. */
  create(manifest: JsonObject): Promise<PlaybookRecord>
  /** Throws `playbook_revoked`, and the problems of looking a version up. */
  publish(
    playbook_id: string,
    wish: Named & { readonly status: (typeof publishedStatuses)[number] },
  ): Promise<PlaybookRecord>
  revoke(playbook_id: string, wish: Named & { readonly reason: string }): Promise<PlaybookRecord>
}

const checked = (given: JsonObject): { readonly manifest: PlaybookManifest; readonly digest: string } => {
  const verdict = checkManifest(given)
  if (verdict.valid) return verdict
  const errors = verdict.errors.map(({ path, rule }) => ({ path: `body.${path}`, rule }))
  const [first] = verdict.errors
  throw playbookErrors.playbook_manifest_invalid({
    details: { reason: `${first?.path ?? ''} ${first?.rule ?? ''}` },
    errors,
  })
}

/** The playbook with a version more, or with the one that it has. Throws `playbook_version_conflict`. */
const withVersion = (
  before: PlaybookRecord | undefined,
  { manifest, digest, now }: { readonly manifest: PlaybookManifest; readonly digest: string; readonly now: number },
): PlaybookRecord => {
  const { playbook_id, version, title, objective } = manifest
  const known = before?.versions.find((one) => one.version === version)
  if (before !== undefined && known !== undefined) {
    if (known.digest === digest) return before
    throw playbookErrors.playbook_version_conflict({ details: { playbook_id, version, digest: known.digest } })
  }
  const made: VersionRecord = { version, digest, status: 'draft', created_at_ms: now, updated_at_ms: now }
  return { playbook_id, title, objective, versions: [...(before?.versions ?? []), made] }
}

export const createReleases = (store: PlaybookStore): Releases => {
  /** One version, changed; the same record where nothing of it is new. */
  const change = (
    playbook_id: string,
    named: Named,
    next: (version: VersionRecord, tx: Tx) => VersionRecord,
  ): Promise<PlaybookRecord> =>
    store.state.commit((tx) => {
      const playbook = store.get(playbook_id)
      const before = namedVersion(playbook, named)
      const after = next(before, tx)
      if (canonical(after) === canonical(before)) return playbook
      const updated = { ...after, updated_at_ms: Math.max(tx.now, before.updated_at_ms) }
      const changed = { ...playbook, versions: playbook.versions.map((one) => (one === before ? updated : one)) }
      store.put(tx, changed)
      return changed
    })
  return {
    create(given) {
      const { manifest, digest } = checked(given)
      const { playbook_id, version } = manifest
      return store.state.commit((tx) => {
        const before = store.playbooks.find(playbook_id)
        const playbook = withVersion(before, { manifest, digest, now: tx.now })
        if (playbook === before) return playbook
        store.put(tx, playbook)
        store.addManifest(tx, { playbook_id, version, manifest: given })
        return playbook
      })
    },
    publish: (playbook_id, { status, ...named }) =>
      change(playbook_id, named, (version, { now }) => {
        if (version.status === 'revoked')
          throw playbookErrors.playbook_revoked({ details: { playbook_id, version: version.version } })
        const evidence_refs = addedEvidence(version.evidence_refs, named.evidence_refs)
        return {
          ...version,
          evidence_refs,
          ...(version.status !== status && { status, published_at_ms: now }),
        }
      }),
    revoke: (playbook_id, { reason, ...named }) =>
      change(playbook_id, named, (version) => {
        if (version.status === 'revoked') return version
        const evidence_refs = addedEvidence(version.evidence_refs, named.evidence_refs)
        return {
          ...version,
          status: 'revoked',
          revoked_reason: reason,
          ...(evidence_refs.length > 0 && { evidence_refs }),
        }
      }),
  }
}
