/** What goes to servers of every protocol in the same way, and what is kept for that. */
import { digest, type Json } from '../../../core/plugin.js'
import type { ModelImage, ProviderMetadata } from '../../execution/models/contract.js'
import { isLink } from './link.js'

/** What a provider left beside a part under its name; undefined if it is no text. */
export const kept = (metadata: ProviderMetadata | undefined, provider: string, name: string): string | undefined => {
  const own = metadata?.[provider]
  const value = isLink(own) ? own[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** What a server takes as the id of a call, where another provider may have given it. */
export const wireId = (id: string): string => {
  const safe = id.replaceAll(/[^\w-]/gu, '_')
  return safe.length <= longestId ? safe : `${safe.slice(0, 31)}_${digest(id).slice(-32)}`
}
const longestId = 64

export const resultText = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output))

/** An input that is no object is refused by most, also where another provider took it. */
export const objectInput = (input: Json): Json =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { value: input }

/** What Gemini gives beside a part and wants back with it, by whatever protocol it is asked: where it is kept. */
export const keptSignature = {
  as: (signature: string): ProviderMetadata => ({ google: { thoughtSignature: signature } }),
  of: (metadata: ProviderMetadata | undefined): string | undefined =>
    kept(metadata, 'google', 'thoughtSignature') || undefined,
} as const

/** A picture in an address. */
export const dataUrl = ({ media_type, base64 }: ModelImage): string => `data:${media_type};base64,${base64}`
