/** What a run is told. Contract 1, "SubmitInputRequest": the fields that this daemon knows; others are refused. */
import { array, defaulted, doc, jsonObject, literal, named, object, optional, string, tagged } from '../../../core/plugin.js'
import type { Infer } from '../../../core/plugin.js'
import { GenerationSettings } from '../models/contract.js'

/** Its fields, for the bodies of routes that add to them. */
export const submitFields = {
  provider: optional(doc(string({ min: 1, max: 200 }), 'Route for this run; the default route when absent.')),
  source_plugin: optional(string({ min: 1, max: 200 })),
  source_kind: optional(string({ min: 1, max: 200 })),
  actor_id: optional(string({ min: 1, max: 200 })),
  content: defaulted(doc(string(), 'What the model is told.'), ''),
  input_items: optional(array(tagged('type', { text: object({ type: literal('text'), text: string() }) }), { max: 100 })),
  generation: optional(GenerationSettings),
  metadata: optional(doc(jsonObject(), 'Kept with the run and shown as input_metadata.')),
}
/** What a run is told, as a schedule or another owner of submissions keeps it. */
export const SubmitInputRequest = named('SubmitInputRequest', object(submitFields))
/** The value form of `SubmitInputRequest`. */
export type SubmitInputRequest = Infer<typeof SubmitInputRequest>
