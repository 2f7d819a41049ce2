/** How a model is to answer (models-4). */
import {
  boolean,
  doc,
  enums,
  foreignSchema,
  integer,
  literal,
  named,
  number,
  object,
  optional,
  string,
  tagged,
  type Infer,
} from '../../../core/plugin.js'
import { generationFeatures, type GenerationFeature } from './abilities/generation-features.js'
import { modelErrors } from './errors.js'
import { checkFamily, type Familiar } from './family.js'

const ToolChoiceSettings = tagged('type', {
  auto: object({ type: literal('auto') }),
  none: object({ type: literal('none') }),
  required: object({ type: literal('required') }),
  specific: object({ type: literal('specific'), name: string({ min: 1, max: 100 }) }),
})
/** Which tools the model may or must call. */
export type ToolChoice = Infer<typeof ToolChoiceSettings>

const ReasoningSettings = object({
  effort: optional(
    doc(enums(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']), 'How much the model thinks before it answers.'),
  ),
  summary: optional(doc(enums(['auto', 'concise', 'detailed', 'none']), 'How its thoughts are summed up.')),
  budget_tokens: optional(doc(integer({ min: 1, max: 10_000_000 }), 'Tokens that it may think for.')),
  interleaved: optional(doc(boolean(), 'Whether it thinks between tool calls.')),
})
/** How a model thinks. */
export type ReasoningSettings = Infer<typeof ReasoningSettings>

const ResponseFormat = tagged('type', {
  text: object({ type: literal('text') }),
  structured_json: object({
    type: literal('structured_json'),
    schema: doc(foreignSchema(), 'JSON Schema of the answer, an object. The answer is checked by it.'),
  }),
})
/** The form of an answer. */
export type ResponseFormat = Infer<typeof ResponseFormat>

/** Generation settings of a run or a session. Fields that are absent leave the choice to the provider. */
export const GenerationSettings = named(
  'GenerationSettings',
  object({
    model: optional(string({ min: 1, max: 200 })),
    fallback_model: optional(doc(string({ min: 1, max: 200 }), 'The model that is asked when the first one fails.')),
    tool_choice: optional(ToolChoiceSettings),
    allow_parallel_tool_calls: optional(doc(boolean(), 'Whether a turn may call several tools.')),
    max_output_tokens: optional(doc(integer({ min: 1, max: 10_000_000 }), 'Tokens of an answer at most.')),
    temperature: optional(doc(number({ min: 0, max: 10 }), "Sampling temperature; the provider's own when absent.")),
    reasoning: optional(doc(ReasoningSettings, 'Refused by a route whose provider cannot pass a field of it on.')),
    response_format: optional(
      doc(ResponseFormat, '`structured_json` is refused by a route whose provider cannot pass it on.'),
    ),
  }),
)
/** The value form of `GenerationSettings`. */
export type GenerationSettings = Infer<typeof GenerationSettings>

/** What a provider is given; absent means its own default. */
export interface Generation {
  readonly tool_choice?: ToolChoice
  readonly allow_parallel_tool_calls?: boolean
  readonly max_output_tokens?: number
  readonly temperature?: number
  readonly reasoning?: ReasoningSettings
  readonly response_format?: ResponseFormat
}

const featuresOf = ({ reasoning = {}, response_format }: GenerationSettings): GenerationFeature[] =>
  generationFeatures.filter((feature) => {
    switch (feature) {
      case 'reasoning.effort':
        return reasoning.effort !== undefined
      case 'reasoning.summary':
        return reasoning.summary !== undefined
      case 'reasoning.budget_tokens':
        return reasoning.budget_tokens !== undefined
      case 'reasoning.interleaved':
        return reasoning.interleaved !== undefined
      case 'response_format.structured_json':
        return response_format?.type === 'structured_json'
    }
  })

/** A route, as far as settings are concerned. */
interface Settable extends Familiar {
  readonly generation?: readonly GenerationFeature[]
}

/**
 * Throws `generation_unsupported` (400) for a setting that would be dropped in silence, and `model_family_mismatch` for
 * a model that is none of the route's.
 */
export const checkGeneration = (route: Settable, settings: GenerationSettings, path: string): void => {
  const { route_id, generation: known = [] } = route
  for (const name of ['model', 'fallback_model'] as const)
    if (settings[name] !== undefined) checkFamily(route, settings[name], `${path}.${name}`)
  const setting = featuresOf(settings).find((feature) => !known.includes(feature))
  if (setting === undefined) return
  throw modelErrors.generation_unsupported({
    details: { route_id, setting },
    errors: [
      { path: `${path}.${setting.split('.')[0] ?? setting}`, rule: 'must be what the provider of the route takes' },
    ],
  })
}
