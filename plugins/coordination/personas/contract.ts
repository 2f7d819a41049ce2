/**
 * Who a session speaks as: records that are frozen into the sessions bound to them. Rules: docs/rules/personas.md.
 */
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

/** A skill that a persona brings along, and what it is started with. */
export const DefaultSkill = named(
  'DefaultSkill',
  object({ name: string({ max: 200 }), args: optional(string({ max: 4096 })) }),
)
/** The value form of `DefaultSkill`. */
export type DefaultSkill = Infer<typeof DefaultSkill>

const frame = {
  persona_id: string(),
  display_name: string(),
  version: doc(integer({ min: 1 }), 'One more with every change.'),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
}

/** A persona; members that are empty are left out. */
export const Persona = named(
  'Persona',
  object({
    ...frame,
    soul: doc(string(), 'What the model is told about who it is.'),
    capability_scope: optional(CapabilityScope),
    default_skills: optional(array(DefaultSkill)),
    metadata: optional(jsonObject()),
  }),
)
/** The value form of `Persona`. */
export type Persona = Infer<typeof Persona>

/** One row of the persona list. */
export const PersonaSummary = named('PersonaSummary', object(frame))
