/** A playbook as it is shown (playbooks-9, playbooks-10). */
import { array, doc, jsonObject, named, object, optional, string, type Infer } from '../../../core/plugin.js'
import { versionFields, type PlaybookRecord, type VersionRecord } from './record.js'
import { versionIn, type PlaybookStore } from './store.js'

const PlaybookVersionView = named('PlaybookVersionView', object(versionFields))

/** A playbook with its versions. */
export const PlaybookView = named(
  'PlaybookView',
  object({
    playbook_id: string(),
    title: doc(string(), 'Of the newest version.'),
    objective: string(),
    latest_version: optional(doc(string(), 'The version that was created last.')),
    active_version: optional(doc(string(), 'The one that was made active last and still is; absent without such.')),
    versions: doc(array(PlaybookVersionView), 'In the order in which they were created.'),
    selected_version: optional(
      doc(
        object({ ...versionFields, manifest: doc(jsonObject(), 'As it was given.') }),
        'The one that was asked for, or the active one, or the newest; only where one playbook is read.',
      ),
    ),
  }),
)
/** The value form of `PlaybookView`. */
export type PlaybookView = Infer<typeof PlaybookView>

const shown = (record: VersionRecord): Omit<VersionRecord, 'published_at_ms'> => {
  const { version, digest, status, created_at_ms, updated_at_ms, evidence_refs, revoked_reason } = record
  return {
    version,
    digest,
    status,
    created_at_ms,
    updated_at_ms,
    ...(evidence_refs !== undefined && { evidence_refs }),
    ...(revoked_reason !== undefined && { revoked_reason }),
  }
}

const activeOf = ({ versions }: PlaybookRecord): VersionRecord | undefined =>
  versions
    .filter(({ status }) => status === 'active')
    .toSorted((a, b) => (a.published_at_ms ?? 0) - (b.published_at_ms ?? 0))
    .at(-1)

export const viewOf = (playbook: PlaybookRecord): PlaybookView => {
  const { playbook_id, title, objective, versions } = playbook
  const [latest, active] = [versions.at(-1), activeOf(playbook)]
  return {
    playbook_id,
    title,
    objective,
    ...(latest !== undefined && { latest_version: latest.version }),
    ...(active !== undefined && { active_version: active.version }),
    versions: versions.map(shown),
  }
}

/** With the manifest of one version. Throws `playbook_version_not_found`. */
export const viewWith = (store: PlaybookStore, playbook: PlaybookRecord, version: string | undefined): PlaybookView => {
  const chosen = version === undefined ? (activeOf(playbook) ?? playbook.versions.at(-1)) : versionIn(playbook, version)
  const view = viewOf(playbook)
  if (chosen === undefined) return view
  const manifest = store.given(playbook.playbook_id, chosen.version)
  return { ...view, selected_version: { ...shown(chosen), manifest } }
}
