/** What the model thought: how it is kept and how it goes back. What is not encrypted has no way back. */
import type { ReasoningPart } from '../../execution/models/contract.js'
import { isLink, kept } from '../streamed/contract.js'

/** A thought as its item told it. */
interface Thought {
  readonly id: string
  readonly encrypted_content: string
  /** The paragraphs of what is shown of it. */
  readonly texts: readonly string[]
}

export const between = '\n\n'

export const thought = {
  part({ id, encrypted_content, texts: told }: Thought, provider: string): ReasoningPart {
    const texts = told.filter((text) => text !== '')
    const text = texts.join(between)
    if (encrypted_content === '') return { type: 'reasoning', text }
    // One paragraph is the text itself.
    const more = texts.length > 1 ? { summary: texts } : {}
    return { type: 'reasoning', text, metadata: { [provider]: { id, encrypted_content, ...more } } }
  },
  /** Undefined for those of other providers. */
  wire({ text, metadata }: ReasoningPart, provider: string): object | undefined {
    const encrypted_content = kept(metadata, provider, 'encrypted_content')
    if (encrypted_content === undefined) return undefined
    const own = metadata?.[provider]
    const several = isLink(own) ? own['summary'] : undefined
    const texts: readonly unknown[] = Array.isArray(several) ? several : [text]
    return {
      type: 'reasoning',
      id: kept(metadata, provider, 'id'),
      summary: texts.filter((one) => one !== '').map((one) => ({ type: 'summary_text', text: one })),
      encrypted_content,
    }
  },
} as const
