/** What Gemini gives beside a call and wants back with it: where it stands on the wire. */
import type { ProviderMetadata } from '../../execution/models/contract.js'
import { isLink, keptSignature } from '../streamed/contract.js'

const memberOf = (value: unknown, name: string): unknown => (isLink(value) ? value[name] : undefined)
const filled = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export const thoughtSignature = {
  /** Of a piece of a call. */
  read: (piece: unknown): string | undefined =>
    filled(memberOf(memberOf(memberOf(piece, 'extra_content'), 'google'), 'thought_signature')),
  /** As it is kept with the part. */
  metadata: keptSignature.as,
  /** As it goes back with the call. */
  wire: (metadata: ProviderMetadata | undefined): object => {
    const signature = keptSignature.of(metadata)
    return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }
  },
} as const
