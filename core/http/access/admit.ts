/**
 * What every request must satisfy before anything else looks at it: version, target, Host, and headers that may occur
 * once.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { badRequest, httpErrors } from '../errors.js'

/** Headers that may occur once, each with its bit. */
const single = new Map(
  [
    'authorization',
    'content-encoding',
    'content-length',
    'content-type',
    'host',
    'idempotency-key',
    'last-event-id',
    'origin',
    'transfer-encoding',
  ].map((name, index) => [name, 1 << index]),
)
const lengths = new Set([...single.keys()].map((name) => name.length))
const maxHeaders = 100

const checkHeaders = ({ rawHeaders }: IncomingMessage): void => {
  if (rawHeaders.length > maxHeaders * 2) throw httpErrors.headers_too_large()
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] ?? ''
    if (!lengths.has(raw.length)) continue
    const name = raw.toLowerCase()
    const bit = single.get(name) ?? 0
    if ((seen & bit) !== 0)
      throw name === 'idempotency-key'
        ? httpErrors.invalid_idempotency_key({ errors: [{ path: 'header.idempotency-key', rule: 'is given twice' }] })
        : badRequest({ path: `header.${name}`, rule: 'is given twice' })
    seen |= bit
  }
}

const checkTarget = ({ httpVersionMajor, url = '', method, headers }: IncomingMessage): void => {
  if (httpVersionMajor !== 1) throw badRequest({ path: 'request', rule: 'must be HTTP/1.1' })
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS'))
    throw badRequest({ path: 'request.target', rule: 'must be a path that starts with a slash' })
  if (/[^\x21-\x7e]|#/u.test(url)) throw badRequest({ path: 'request.target', rule: 'must be percent-encoded' })
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw badRequest({ path: 'header.transfer-encoding', rule: 'must be chunked' })
}

/** The name in a Host header or a bind address, without port and brackets, in lower case. */
export const hostName = (host: string): string | undefined =>
  /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/iu.exec(host)?.slice(1).find(Boolean)?.toLowerCase()

export const isLoopback = (name: string): boolean =>
  name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/u.test(name)

const isAddress = (name: string): boolean => isIP(name) !== 0
const everywhere = new Set(['0.0.0.0', '::'])

/**
 * Host and Origin rules keep web pages of other machines, also rebound ones, from
 * driving the daemon; those of loopback may (http-30). A page that is rebound
 * sends its own name, never an address, so a daemon on all interfaces answers
 * for any address.
 */
export const createAdmission =
  (hosts: () => readonly string[]) =>
  (request: IncomingMessage): void => {
    checkTarget(request)
    checkHeaders(request)
    const { host } = request.headers
    const name = host === undefined ? undefined : hostName(host)
    if (name === undefined) throw badRequest({ path: 'header.host', rule: 'must name one host' })
    if (isLoopback(name) || hosts().includes(name)) return
    if (!isAddress(name) || !hosts().some((bound) => everywhere.has(bound))) throw httpErrors.host_not_allowed()
  }
