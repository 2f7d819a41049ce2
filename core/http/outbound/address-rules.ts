/** Which addresses a request to the outside may reach (deliveries-26). */
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Public by their range and yet special: the host of a cloud's virtual machines, and documentation. */
const special: readonly Range[] = [
  ipaddr.parseCIDR('168.63.129.16/32'),
  ipaddr.parseCIDR('100.100.100.200/32'),
  ipaddr.parseCIDR('3fff::/20'),
]
/** All that is handed out as global unicast; whatever is outside has a meaning of its own. */
const globalUnicast: Range = ipaddr.parseCIDR('2000::/3')

const within = (address: Address, [net, bits]: Range): boolean =>
  address.kind() === net.kind() && address.match(net, bits)

/** An IPv4 address in IPv6 clothes is judged as what it is. */
const read = (text: string): Address | undefined => (ipaddr.isValid(text) ? ipaddr.process(text) : undefined)

/** True for an address that anybody on the internet may ask; false for text that is no address. */
export const isPublicAddress = (text: string): boolean => {
  const address = read(text)
  if (address === undefined || address.range() !== 'unicast' || special.some((range) => within(address, range)))
    return false
  return address.kind() === 'ipv4' || within(address, globalUnicast)
}

/** `10.0.0.0/8`, `fd00::/8`. */
export const isCidr = (text: string): boolean => ipaddr.isValidCIDR(text)

/** True if the address is in one of these ranges. */
export const isInCidrs = (text: string, cidrs: readonly string[]): boolean => {
  const address = read(text)
  return address !== undefined && cidrs.some((cidr) => within(address, ipaddr.parseCIDR(cidr)))
}

/**
 * The address that a URL's host is, without the brackets of IPv6; undefined if it is a name. The URL parser has turned
 * decimal, hex, octal, short and full-width forms into dotted ones.
 */
export const literalAddress = (hostname: string): string | undefined => {
  const bare = hostname.replace(/^\[(.*)\]$/u, '$1')
  return read(bare) === undefined ? undefined : bare
}

/** Names that mean this machine, whatever the resolver says. */
export const isLocalName = (hostname: string): boolean => /^(.*\.)?localhost\.*$/iu.test(hostname)
