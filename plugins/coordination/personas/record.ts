/** A persona as it is kept: its soul stands apart, by digest. */
import {
  array,
  doc,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import { CapabilityScope } from '../../execution/sessions/contract.js'

export const DefaultSkill = named(
  'DefaultSkill',
  object({ name: string({ max: 200 }), args: optional(string({ max: 4096 })) }),
)
export type DefaultSkill = Infer<typeof DefaultSkill>

export const frame = {
  persona_id: string(),
  display_name: string(),
  version: doc(integer({ min: 1 }), 'One more with every change.'),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
}
export const extras = {
  capability_scope: optional(CapabilityScope),
  default_skills: optional(array(DefaultSkill)),
  metadata: optional(jsonObject()),
}

/** The soul itself is only in records of earlier versions. */
export const StoredPersona = object({
  ...frame,
  soul: optional(string()),
  soul_sha256: optional(string()),
  ...extras,
})
export type StoredPersona = Infer<typeof StoredPersona>
