import { doc, object, optional, string, unsafeCast, type Infer, type JsonObject } from '../../../../core/plugin.js'
import { defineSetting } from '../../../operator/runtime/contract.js'
import type { RunsConfig } from './config.js'

const text = (description: string) => optional(doc(string({ min: 1, max: 200_000 }), description))
const word = (description: string) => optional(doc(string({ min: 1, max: 200 }), description))

const promptFields = {
  override_prompt: text('Stands in place of every other prompt, and of the persona.'),
  custom_prompt: text('Stands in place of the configured prompt.'),
  append_prompt: text('Stands at the end.'),
  language: word('The language that models are asked to answer in.'),
  output_style: word('The style that models are asked to answer in.'),
}
const PromptSettings = object(promptFields)
export type PromptSettings = Infer<typeof PromptSettings>

/** What operators set of what models are told. */
export const systemPromptSetting = ({ system_prompt }: Pick<RunsConfig, 'system_prompt'>) =>
  defineSetting({
    name: 'system_prompt',
    schema: PromptSettings,
    initial: (): PromptSettings => ({}),
    shown: {
      fields: { system_prompt: object({ configured_prompt: string(), ...promptFields }) },
      of: (settings) => ({ system_prompt: { configured_prompt: system_prompt, ...unsafeCast<JsonObject>(settings) } }),
    },
    change: {
      path: 'system-prompt',
      summary: 'Sets what models are told beside, or in place of, the configured prompt; what is left out is not set.',
      fields: { settings: PromptSettings },
      value: ({ settings }) => settings,
      example: { settings: { append_prompt: 'Answer in one paragraph.' } },
    },
  })
