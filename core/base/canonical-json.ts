/** JSON text that equal values share, and its digest: what receipts, approvals and the ledger are bound to. */
import { hash } from 'node:crypto'
import type { Json } from './schema.js'

/** JSON text with sorted keys and no spaces: equal values give equal text. */
export const canonical = (value: Json | undefined): string => {
  if (value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted()
  return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`
}

/** SHA-256 in hex of the canonical text. */
export const digest = (value: Json): string => hash('sha256', canonical(value))
