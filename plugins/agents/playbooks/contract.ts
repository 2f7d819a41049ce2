/** How work is done, written down once and kept version by version. Rules: docs/rules/playbooks.md. */
import { defineToken, object, string, type Infer, type Token } from '../../../core/plugin.js'
import { PlaybookId, PlaybookVersion, type PlaybookManifest } from './manifest.js'

/** Problems of playbooks, for plugins that name them. */
export { playbookErrors } from './errors.js'
/** Evidence as command lines give it. */
export { evidenceFlag, evidenceWord, givenEvidence } from './evidence-flag.js'
/** What a manifest says, and the kinds of evidence that are things of the daemon. */
export { PlaybookManifest, primitiveKinds, RequiredEvidence } from './manifest.js'
/** One of `primitiveKinds`. */
export type { PrimitiveKind } from './manifest.js'
/** Something that shows that work was done. */
export { EvidenceRef } from './record.js'

/** Names one version of a playbook, as it was when somebody looked at it. */
export const PlaybookRef = object({ playbook_id: PlaybookId, version: PlaybookVersion, digest: string({ max: 200 }) })
/** The value form of `PlaybookRef`. */
export type PlaybookRef = Infer<typeof PlaybookRef>

/** Playbooks, for plugins that start flows of them. */
export interface Playbooks {
  /**
   * What a version says of which flows may be started. Throws `playbook_not_found`, `playbook_version_not_found` (404),
   * `playbook_digest_mismatch` and `playbook_not_startable` (400).
   */
  startable(ref: PlaybookRef): PlaybookManifest
  /** What a version says, whatever became of it; it never changes. Throws the same, but for the last. */
  manifest(ref: PlaybookRef): PlaybookManifest
}
/** The playbooks of this daemon. */
export const Playbooks: Token<Playbooks> = defineToken<Playbooks>('playbooks@1')
