/** The signature with which Slack sends (slack-6). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IngressHead } from '../../../../core/plugin.js'

/** How far the clock of the sender may be from ours, both ways. */
const mostSkewSeconds = 300

export interface Signature {
  /** The text of its header. */
  readonly timestamp: string
  readonly digest: Buffer
}

/** The only value of a header. */
const only = (values: readonly string[]): string => (values.length === 1 ? (values[0] ?? '') : '')

/** What the headers say; undefined if no body could fit to it at this time. */
export const readSignature = (head: Pick<IngressHead<unknown>, 'header'>, now: number): Signature | undefined => {
  const timestamp = only(head.header('x-slack-request-timestamp'))
  const [, hex] = /^v0=([0-9a-f]{64})$/u.exec(only(head.header('x-slack-signature'))) ?? []
  if (hex === undefined || !/^\d{1,12}$/u.test(timestamp)) return undefined
  const skew = Math.abs(Math.floor(now / 1000) - Number(timestamp))
  return skew <= mostSkewSeconds ? { timestamp, digest: Buffer.from(hex, 'hex') } : undefined
}

/** True if who has the secret signed these bytes. */
export const isSigned = (secret: string, { timestamp, digest }: Signature, body: Uint8Array): boolean =>
  timingSafeEqual(digest, createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest())
