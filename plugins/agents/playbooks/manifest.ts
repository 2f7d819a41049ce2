/** What a playbook says (playbooks-1 to playbooks-3). */
import {
  array,
  boolean,
  defaulted,
  doc,
  jsonObject,
  notBlank,
  object,
  optional,
  string,
  type Infer,
} from '../../../core/plugin.js'
import { CapabilityScope, CredentialScope } from '../../execution/sessions/contract.js'

/** An id that people choose, which is a part of paths. */
const namePattern = '^[^\\s/\\\\\\p{Cc}]*[^\\s./\\\\\\p{Cc}][^\\s/\\\\\\p{Cc}]*$'
const nameRule = 'must be an id without blanks and slashes, and not dots alone'
export const PlaybookId = string({ min: 1, max: 200, pattern: namePattern, told: nameRule })
export const PlaybookVersion = string({ min: 1, max: 100, pattern: namePattern, told: nameRule })

const Told = string({ min: 1, max: 4_000, pattern: notBlank })
const Title = string({ min: 1, max: 400, pattern: notBlank })
const Name = string({ min: 1, max: 200, pattern: notBlank })
const most = { max: 100 }
const texts = () => array(Told, most)
const ToolName = string({
  min: 1,
  max: 200,
  pattern: '^[^\\s*]+\\*?$',
  told: 'must be the name of a tool, or its beginning with a * behind it',
})
const toolNames = (text: string) => defaulted(doc(array(ToolName, { max: 500 }), text), [])

/** Something that shows that work was done. */
export const RequiredEvidence = object({
  kind: doc(Name, 'A kind of thing of the daemon, such as `run` or `task`, or any other word.'),
  id: doc(string({ min: 1, max: 400, pattern: notBlank }), '`*`: any of this kind.'),
  description: optional(string({ max: 4_000 })),
})
/** The value form of `RequiredEvidence`. */
export type RequiredEvidence = Infer<typeof RequiredEvidence>
const required = () => defaulted(array(RequiredEvidence, most), [])

const Phase = object({
  phase_id: Name,
  objective: Told,
  acceptance_criteria: defaulted(texts(), []),
  required_evidence: required(),
})

/** A manifest; everything that is left out says nothing. */
export const PlaybookManifest = object({
  playbook_id: PlaybookId,
  version: PlaybookVersion,
  title: Title,
  objective: Told,
  description: optional(string({ max: 16_000 })),
  phases: defaulted(doc(array(Phase, most), 'In the order in which they are done.'), []),
  acceptance_criteria: defaulted(texts(), []),
  inputs: defaulted(
    array(
      object({ name: Name, description: defaulted(string({ max: 4_000 }), ''), required: defaulted(boolean(), false) }),
      most,
    ),
    [],
  ),
  preconditions: defaulted(texts(), []),
  roles: defaulted(array(object({ role_id: Name, purpose: Told }), most), []),
  evidence_expectations: defaulted(texts(), []),
  required_evidence: required(),
  tools: defaulted(
    object({
      enforce: defaulted(doc(boolean(), 'A flow whose runs called other tools has failed.'), false),
      allow: toolNames('Names of tools, or their beginnings with a `*`; empty: all.'),
      deny: toolNames('The same; comes before `allow`.'),
    }),
    { enforce: false, allow: [], deny: [] },
  ),
  runtime_defaults: defaulted(
    object({
      provider: optional(doc(Name, 'Route of the root run where the request names none.')),
      model: optional(doc(Name, 'Its model where the request names neither route nor model.')),
    }),
    {},
  ),
  scopes: defaulted(
    object({
      required_capability_scope: optional(doc(CapabilityScope, 'A session that may do more starts no flow of it.')),
      required_credential_scope: optional(doc(CredentialScope, 'The same for credentials.')),
      capability_scope: optional(doc(string({ max: 4_000 }), 'In words, for people.')),
      credential_scope: optional(string({ max: 4_000 })),
    }),
    {},
  ),
  metadata: defaulted(jsonObject(), {}),
})
/** The value form of `PlaybookManifest`, with all defaults. */
export type PlaybookManifest = Infer<typeof PlaybookManifest>

/** The kinds of evidence that are things of the daemon; all others are what people attest. */
export const primitiveKinds = ['run', 'task', 'agent', 'approval', 'question', 'schedule', 'output', 'flow'] as const
/** One of `primitiveKinds`. */
export type PrimitiveKind = (typeof primitiveKinds)[number]
