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

/** A section, and what it is asked for. */
interface Asked {
  readonly section: SystemSection
  readonly what: 'text' | 'instead'
}

/** A section that throws, which its contract forbids, is left out: the run goes on. */
const textOf = ({ log }: PromptParts, { section, what }: Asked, run: SystemSubject): string | undefined => {
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

/** Sections in their order, by what they may say. */
interface Ranked {
  readonly texts: readonly SystemSection[]
  readonly insteads: readonly SystemSection[]
  readonly frame: Frame
}

const known = new WeakMap<readonly SystemSection[], Ranked>()
/** Asked before every model call: sorted once. */
const inOrder = (sections: readonly SystemSection[]): Ranked => {
  const found = known.get(sections)
  if (found !== undefined) return found
  const sorted = sections.toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
  const ranked = {
    texts: sorted.filter(({ text }) => text !== undefined),
    insteads: sorted.filter(({ instead }) => instead !== undefined),
    frame: rememberingFrame(createFrame(sections.map(({ id }) => id))),
  }
  known.set(sections, ranked)
  return ranked
}

/** Most sections say the same to every run: what stands in a frame is looked through once. */
const rememberingFrame = (frame: Frame): Frame => {
  const last = new Map<string, { readonly text: string; readonly framed: string }>()
  return (id, text) => {
    const found = last.get(id)
    if (found?.text === text) return found.framed
    const framed = frame(id, text)
    last.set(id, { text, framed })
    return framed
  }
}

/** The last one: it is long, and mostly that of the run before. */
let joined: { readonly parts: readonly string[]; readonly text: string } = { parts: [], text: '' }
const join = (parts: readonly string[]): string => {
  const isSame = parts.length === joined.parts.length && parts.every((part, at) => part === joined.parts[at])
  if (!isSame) joined = { parts, text: parts.join('\n\n') }
  return joined.text
}

export const systemPrompt = (context: PromptParts, run: SystemSubject): string => {
  const { override_prompt, custom_prompt, append_prompt, language, output_style } = context.prompt()
  const { texts, insteads, frame } = inOrder(context.sections())
  const told: string[] = []
  for (const section of texts) {
    if (override_prompt !== undefined && section.character === true) continue
    const text = textOf(context, { section, what: 'text' }, run)
    if (text !== undefined) told.push(frame(section.id, text))
  }
  let instead: string | undefined
  for (const section of insteads) instead ??= textOf(context, { section, what: 'instead' }, run)
  return join([
    override_prompt ?? instead ?? custom_prompt ?? context.config.system_prompt,
    ...(language === undefined ? [] : [`Answer in this language: ${language}`]),
    ...(output_style === undefined ? [] : [`Answer in this style: ${output_style}`]),
    ...told,
    ...(append_prompt === undefined ? [] : [append_prompt]),
  ])
}
