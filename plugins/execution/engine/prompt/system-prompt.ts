/** What every model call begins with: what the daemon says, then the sections of plugins (prompt-1). */
import type { Log } from '../../../../core/plugin.js'
import type { PromptSettings } from '../../runs/contract.js'
import type { SystemSection, SystemSubject } from '../../models/contract.js'
import { createFrame, type Frame } from './frame.js'

export interface PromptParts {
  readonly config: { readonly system_prompt: string }
  readonly prompt: () => PromptSettings
  readonly sections: () => readonly SystemSection[]
  readonly log: Log
}

/** A section that throws, which its contract forbids, is left out: the run goes on. */
const textOf = (
  { log }: PromptParts,
  { section, what }: { readonly section: SystemSection; readonly what: 'text' | 'instead' },
  run: SystemSubject,
): string | undefined => {
  try {
    const told = section[what]?.(run)?.trim() ?? ''
    return told === '' ? undefined : told
  } catch (error) {
    log.error('a system section threw, which its contract forbids', {
      section: section.id,
      run_id: run.run_id,
      error,
    })
    return undefined
  }
}

interface Ranked {
  readonly sections: readonly SystemSection[]
  readonly frame: Frame
}

const known = new WeakMap<readonly SystemSection[], Ranked>()
/** Asked before every model call: sorted once. */
const inOrder = (sections: readonly SystemSection[]): Ranked => {
  const ranked = known.get(sections) ?? {
    sections: sections.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1)),
    frame: createFrame(sections.map(({ id }) => id)),
  }
  known.set(sections, ranked)
  return ranked
}

export const systemPrompt = (context: PromptParts, run: SystemSubject): string => {
  const { override_prompt, custom_prompt, append_prompt, language, output_style } = context.prompt()
  const { sections, frame } = inOrder(context.sections())
  const told = sections.flatMap((section) => {
    if (override_prompt !== undefined && section.character === true) return []
    const text = textOf(context, { section, what: 'text' }, run)
    return text === undefined ? [] : [frame(section.id, text)]
  })
  const instead = sections.flatMap((section) => textOf(context, { section, what: 'instead' }, run) ?? [])[0]
  return [
    override_prompt ?? instead ?? custom_prompt ?? context.config.system_prompt,
    ...(language === undefined ? [] : [`Answer in this language: ${language}`]),
    ...(output_style === undefined ? [] : [`Answer in this style: ${output_style}`]),
    ...told,
    ...(append_prompt === undefined ? [] : [append_prompt]),
  ].join('\n\n')
}
