/** Where a sidecar is asked (external-3 to external-5). */
import { refusedUrl, type OutboundReach } from '../../../../core/plugin.js'
import type { ExternalSettings } from './settings.js'

/** Addresses of this machine. A name that is said to be local is not asked where else it leads. */
const loopback = ['127.0.0.0/8', '::1/128']

type Place = Pick<ExternalSettings, 'mode' | 'base_url' | 'allow_private_network'>

/** Which addresses requests to a sidecar may go to; `open` are ranges that an operator opened. */
export const reachOf = (place: Place, open: readonly string[] = []): OutboundReach =>
  place.mode === 'child_process'
    ? { allow_cidrs: loopback }
    : { allow_private_network: place.allow_private_network, allow_cidrs: open }

/** Its stored form: without slashes at the end. */
export const normalBaseUrl = (text: string): string => text.trim().replace(/\/+$/u, '')

const isLoopback = (hostname: string): boolean =>
  hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/u.test(hostname) || /^(.*\.)?localhost\.*$/iu.test(hostname)

/** What a parser of URLs would drop or turn without a word. */
const odd = /[\s\p{Cc}\\]/u

/** What is wrong with the URL of a sidecar, in words that can follow `base_url`; undefined if nothing is. No I/O. */
export const faultOfBaseUrl = (place: Place, open?: readonly string[]): string | undefined => {
  const { base_url, mode } = place
  if (odd.test(base_url)) return 'must hold no blanks, control characters and backslashes'
  const refused = refusedUrl(base_url, reachOf(place, open))
  if (refused !== undefined)
    return refused.includes('private') ? `${refused}, unless allow_private_network is true` : refused
  if (/[?#]/u.test(base_url)) return 'must have no query and no fragment'
  if (mode === 'remote_http') return undefined
  const { hostname, pathname } = new URL(base_url)
  if (!isLoopback(hostname)) return 'must be an address of this machine, because the daemon starts the sidecar'
  return pathname === '/' ? undefined : 'must have no path, because the daemon starts the sidecar'
}
