/** What every model call begins with: what the daemon says, then the sections of plugins. */
import { doc, object, optional, string, type Infer, type Log } from '../../../core/plugin.js'
import { defineSetting } from '../../operator/runtime/contract.js'
import type { SystemSection, SystemSubject } from '../models/contract.js'

const text = (description: string) => optional(doc(string({ min: 1, max: 200_000 }), description))
const word = (description: string) => optional(doc(string({ min: 1, max: 200 }), description))

const PromptSettings = object({
  override_prompt: text('Stands in place of every other prompt, and of the persona.'),
  custom_prompt: text('Stands in place of the configured prompt.'),
  append_prompt: text('Stands at the end.'),
  language: word('The language that models are asked to answer in.'),
  output_style: word('The style that models are asked to answer in.'),
})
export type PromptSettings = Infer<typeof PromptSettings>

/** What operators set of what models are told. */
export const systemPromptSetting = defineSetting({
  name: 'system_prompt',
  schema: PromptSettings,
  initial: (): PromptSettings => ({}),
  change: {
    path: 'system-prompt',
    summary: 'Sets what models are told beside, or in place of, the configured prompt; what is left out is not set.',
    fields: { settings: PromptSettings },
    value: ({ settings }) => settings,
    example: { settings: { append_prompt: 'Answer in one paragraph.' } },
  },
})

interface PromptParts {
  readonly config: { readonly system_prompt: string }
  readonly prompt: () => PromptSettings
  readonly sections: () => readonly SystemSection[]
  readonly log: Log
}

/** A section that throws, which its contract forbids, is left out: the run goes on. */
const textOf = ({ log }: PromptParts, section: SystemSection, run: SystemSubject): string | undefined => {
  try {
    const told = section.text(run)?.trim() ?? ''
    return told === '' ? undefined : `<${section.id}>\n${told}\n</${section.id}>`
  } catch (error) {
    log.error('a system section threw, which its contract forbids', {
      section: section.id,
      run_id: run.run_id,
      error,
    })
    return undefined
  }
}

export const systemPrompt = (context: PromptParts, run: SystemSubject): string => {
  const { override_prompt, custom_prompt, append_prompt, language, output_style } = context.prompt()
  const sections = context
    .sections()
    .filter(({ character }) => override_prompt === undefined || character !== true)
    .toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
  return [
    override_prompt ?? custom_prompt ?? context.config.system_prompt,
    ...(language === undefined ? [] : [`Answer in this language: ${language}`]),
    ...(output_style === undefined ? [] : [`Answer in this style: ${output_style}`]),
    ...sections.flatMap((section) => textOf(context, section, run) ?? []),
    ...(append_prompt === undefined ? [] : [append_prompt]),
  ].join('\n\n')
}
