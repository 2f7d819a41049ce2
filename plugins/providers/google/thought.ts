/** What the model thought: how it is kept with the part, signed or not, so that no other provider's goes back. */
import type { ProviderMetadata, ReasoningPart } from '../../execution/models/contract.js'
import { isLink } from '../streamed/contract.js'

export const thought = {
  metadata: (signature: string): ProviderMetadata => ({
    google: { thought: true, ...(signature !== '' && { thoughtSignature: signature }) },
  }),
  isOwn: ({ metadata }: ReasoningPart): boolean => {
    const own = metadata?.['google']
    return isLink(own) && own['thought'] === true
  },
} as const
