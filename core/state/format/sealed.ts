/**
 * A JSON file that carries a digest of its own bytes as its last member, so
 * that a changed bit anywhere in the file is noticed. It stays readable with
 * any JSON tool; only an edit by hand breaks the seal.
 */
import { createHash } from 'node:crypto'
import { unsafeCast, type JsonObject } from '../../base/schema.js'

const marker = ',\n  "sha256": "'
const ending = '"\n}\n'
const digestLength = 64

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The bytes of a sealed file. `value` has at least one member and none called `sha256`. */
export const seal = (value: object): Uint8Array => {
  const body = Buffer.from(JSON.stringify(value, undefined, 2).slice(0, -2))
  return Buffer.concat([body, Buffer.from(`${marker}${digest(body)}${ending}`)])
}

/**
 * The value of a sealed file without its digest, as what the reader says it is; undefined if a single bit is not as it
 * was written.
 */
export const unseal = <T extends object = JsonObject>(bytes: Uint8Array): T | undefined => {
  const cut = bytes.length - marker.length - digestLength - ending.length
  if (cut < 1) return undefined
  const body = bytes.subarray(0, cut)
  if (Buffer.from(bytes.subarray(cut)).toString('latin1') !== `${marker}${digest(body)}${ending}`) return undefined
  return unsafeCast(JSON.parse(`${Buffer.from(body).toString('utf8')}\n}`))
}
