/** Tokens of sources: known by their SHA-256, compared in constant time, and never kept. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IngressHead } from '../../../../core/plugin.js'

/** What is kept of a token: SHA-256 in hex of it without blanks around it. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token.trim()).digest('hex')

/** Compares digests in a time that tells nothing of them. */
export const sameDigest = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

const bearer = /^Bearer +(?<token>[!-~]+) *$/iu
/** The digest of the bearer token of a request; undefined if it has none, or more than one. */
export const bearerDigest = ({ header }: Pick<IngressHead<unknown>, 'header'>): string | undefined => {
  const [value, second] = header('authorization')
  const token = second === undefined ? bearer.exec(value ?? '')?.groups?.['token'] : undefined
  return token === undefined ? undefined : tokenDigest(token)
}
