/** What goes to servers of every protocol in the same way, and what is kept for that. */
import { digest, type Json } from '../../../core/plugin.js'
import type { ProviderMetadata } from '../../execution/models/contract.js'
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
