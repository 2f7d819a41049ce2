/** What every model call begins with: what the daemon says, then the sections of plugins. */
import type { Log } from '../../../core/plugin.js'
import type { PromptSettings } from '../runs/contract.js'
import type { SystemSection, SystemSubject } from '../models/contract.js'

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

const ranked = new WeakMap<readonly SystemSection[], readonly SystemSection[]>()
/** Asked before every model call: sorted once. */
const inOrder = (sections: readonly SystemSection[]): readonly SystemSection[] => {
  const known = ranked.get(sections) ?? sections.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
  ranked.set(sections, known)
  return known
}

export const systemPrompt = (context: PromptParts, run: SystemSubject): string => {
  const { override_prompt, custom_prompt, append_prompt, language, output_style } = context.prompt()
  const sections = inOrder(context.sections()).filter(
    ({ character }) => override_prompt === undefined || character !== true,
  )
  return [
    override_prompt ?? custom_prompt ?? context.config.system_prompt,
    ...(language === undefined ? [] : [`Answer in this language: ${language}`]),
    ...(output_style === undefined ? [] : [`Answer in this style: ${output_style}`]),
    ...sections.flatMap((section) => textOf(context, section, run) ?? []),
    ...(append_prompt === undefined ? [] : [append_prompt]),
  ].join('\n\n')
}
