/**
 * Who a session speaks as: records that are frozen into the sessions bound to them. Rules: docs/rules/personas.md.
 */
import { doc, named, object, string, type Infer } from '../../../core/plugin.js'
import { extras, frame } from './record.js'

/** A skill that a persona brings along, and what it is started with. */
export { DefaultSkill } from './record.js'

/** A persona; members that are empty are left out. */
export const Persona = named(
  'Persona',
  object({
    ...frame,
    soul: doc(string(), 'What the model is told about who it is.'),
    ...extras,
  }),
)
/** The value form of `Persona`. */
export type Persona = Infer<typeof Persona>

/** One row of the persona list. */
export const PersonaSummary = named('PersonaSummary', object(frame))
