/** Tokens of leases: each is its lease's id, and what a key makes of its facts. None is stored. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonical, tokenMark } from '../../../core/plugin.js'
import type { Lease } from './contract.js'

const idMark = 'lease_'
/** Characters of the random part of an id, and of a MAC in base64url. */
const [idLength, macLength] = [26, 43]
const token = new RegExp(`^${tokenMark}([0-9a-z]{${idLength}})([A-Za-z0-9_-]{${macLength}})$`, 'u')

const macOf = (lease: Lease, key: string): string =>
  createHmac('sha256', Buffer.from(key)).update(canonical(lease)).digest('base64url')

export const tokenOf = (lease: Lease, key: string): string =>
  `${tokenMark}${lease.id.slice(idMark.length)}${macOf(lease, key)}`

/** The id of the lease that a token says it stands for. */
export const leaseIdOf = (text: string): string | undefined => {
  const [, id] = token.exec(text) ?? []
  return id === undefined ? undefined : `${idMark}${id}`
}

/** True if the token is that of the lease. Takes the same time wherever they differ. */
export const isTokenOf = (text: string, lease: Lease, key: string): boolean => {
  const [given, right] = [Buffer.from(text), Buffer.from(tokenOf(lease, key))]
  return given.length === right.length && timingSafeEqual(given, right)
}
