/** Where a URL leads as far as its text says, and whether that may be asked. */
import { createCache } from '../../base/memory/cache.js'
import { isInCidrs, isLocalName, isPublicAddress, literalAddress } from './address-rules.js'
import type { ResolvedAddress } from './names.js'

/** Where a request may go. */
export interface OutboundReach {
  /** Lifts the check of addresses and nothing else. */
  readonly allow_private_network?: boolean | undefined
  /** Ranges that are reachable although they are special, such as the one a proxy answers names from. */
  readonly allow_cidrs?: readonly string[] | undefined
}

/** What the text of a URL says. */
export interface Destination {
  readonly origin: string
  /** With the query. */
  readonly path: string
  readonly hostname: string
  /** If the host is an address and no name. */
  readonly literal: ResolvedAddress | undefined
}

/** Why a URL cannot be asked. */
export interface Refused {
  readonly rule: string
  readonly code: 'outbound_url_invalid' | 'outbound_address_refused'
}

const invalid = (rule: string): Refused => ({ rule, code: 'outbound_url_invalid' })

const read = (text: string): Destination | Refused => {
  if (!URL.canParse(text)) return invalid('must be an absolute URL')
  const { protocol, username, password, origin, hostname, pathname, search } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return invalid('must begin with http:// or https://')
  if (username !== '' || password !== '') return invalid('must carry no user name and no password')
  const address = literalAddress(hostname)
  const literal = address === undefined ? undefined : { address, family: address.includes(':') ? 6 : 4 }
  return { origin, path: `${pathname}${search}`, hostname, literal }
}

/** URLs that were used last: one that is asked again and again is read once. */
const known = createCache<Destination | Refused>(256)

/** The destination of a URL, or why it cannot be asked. */
export const destinationOf = (text: string, reach: OutboundReach): Destination | Refused => {
  const found = known.get(text) ?? read(text)
  known.set(text, found)
  if ('rule' in found || !isRefusedHost(found, reach)) return found
  return { rule: 'must not name a private, local or special address', code: 'outbound_address_refused' }
}

/** Whether an address may be connected to. */
export const isReachable = (
  address: string,
  { allow_private_network = false, allow_cidrs = [] }: OutboundReach,
): boolean => allow_private_network || isPublicAddress(address) || isInCidrs(address, allow_cidrs)

/** A name that is local may have an address of a range that is open: its addresses are looked at before it is asked. */
const isRefusedHost = ({ hostname, literal }: Destination, reach: OutboundReach): boolean => {
  if (literal !== undefined) return !isReachable(literal.address, reach)
  const { allow_private_network = false, allow_cidrs = [] } = reach
  return isLocalName(hostname) && !allow_private_network && allow_cidrs.length === 0
}
