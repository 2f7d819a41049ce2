/** What the model thought: how it is kept with the part, and how it goes back. Without its signature it is refused. */
import type { ReasoningPart } from '../../execution/models/contract.js'
import { kept } from '../streamed/contract.js'

export const thought = {
  signed: (text: string, signature: string): ReasoningPart => ({
    type: 'reasoning',
    text,
    ...(signature !== '' && { metadata: { anthropic: { signature } } }),
  }),
  /** One that the provider hides: its data alone goes back. */
  redacted: (data: string): ReasoningPart => ({
    type: 'reasoning',
    text: '',
    metadata: { anthropic: { redacted: data } },
  }),
  /** Thoughts of other providers are left out. */
  wire(part: ReasoningPart): object[] {
    const [signature, data] = ['signature', 'redacted'].map((name) => kept(part.metadata, 'anthropic', name))
    if (data !== undefined) return [{ type: 'redacted_thinking', data }]
    return signature === undefined ? [] : [{ type: 'thinking', thinking: part.text, signature }]
  },
} as const
