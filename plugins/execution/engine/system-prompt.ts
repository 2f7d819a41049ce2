/** What every model call begins with: the system prompt of the daemon, then the sections of plugins. */
import type { SystemSection, SystemSubject } from '../models/contract.js'
import type { Log } from '../../../core/plugin.js'

interface PromptParts {
  readonly config: { readonly system_prompt: string }
  readonly sections: () => readonly SystemSection[]
  readonly log: Log
}

/** A section that throws, which its contract forbids, is left out: the run goes on. */
const textOf = ({ log }: PromptParts, section: SystemSection, run: SystemSubject): string | undefined => {
  try {
    const text = section.text(run)?.trim() ?? ''
    return text === '' ? undefined : `<${section.id}>\n${text}\n</${section.id}>`
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
  const sections = context.sections().toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
  return [context.config.system_prompt, ...sections.flatMap((section) => textOf(context, section, run) ?? [])].join(
    '\n\n',
  )
}
