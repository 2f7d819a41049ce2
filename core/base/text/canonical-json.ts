/** JSON text that equal values share, and its digest: what receipts, approvals and the ledger are bound to. */
import { hash } from 'node:crypto'

/**
 * JSON text of plain data with sorted keys and no spaces: equal values give equal text. What is in this order already
 * costs what JSON costs.
 */
export const canonical = (value: unknown): string =>
  value !== undefined && isOrdered(value) ? JSON.stringify(value) : written(value, JSON.stringify)

const isOrdered = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isOrdered)
  let before = ''
  for (const [key, field] of Object.entries(value)) {
    if (key < before || !isOrdered(field)) return false
    before = key
  }
  return true
}

const written = (value: unknown, write: (plain: unknown) => string): string => {
  if (value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map((item) => written(item, write)).join(',')}]`
  if (typeof value !== 'object' || value === null) return write(value)
  const fields: Readonly<Record<string, unknown>> = { ...value }
  let text = ''
  for (const key of Object.keys(fields).toSorted()) {
    const field = fields[key]
    if (field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${written(field, write)}`
  }
  return `{${text}}`
}

/** SHA-256 in hex of the canonical text. */
export const digest = (value: unknown): string => hash('sha256', canonical(value))

/** Characters from which on a text stands in a fingerprint as its SHA-256. */
const longText = 1_048_576
/** A text of so many characters, or bytes where these are the same, stands as its SHA-256. */
export const hasOwnDigest = (length: number): boolean => length > longText

/** The long texts of a JSON value, in their order. */
export const longTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return hasOwnDigest(value.length) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(longTexts)
}

/** SHA-256 in hex of each long text of a value. */
export type TextHashes = ReadonlyMap<string, string>

/**
 * The digest of a value whose long texts are hashed already, which takes as long as it takes to read them. Of a value
 * without long texts it is its digest.
 */
export const fingerprint = (value: unknown, hashes: TextHashes): string => {
  const write = (plain: unknown): string =>
    typeof plain === 'string' && hasOwnDigest(plain.length)
      ? `sha256:${hashes.get(plain) ?? hash('sha256', plain)}`
      : JSON.stringify(plain)
  return hash('sha256', written(value, write))
}
