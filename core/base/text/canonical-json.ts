/** JSON text that equal values share, and its digest: what receipts, approvals and the ledger are bound to. */
import { hash } from 'node:crypto'

/** JSON text of plain data with sorted keys and no spaces: equal values give equal text. */
export const canonical = (value: unknown): string => {
  if (value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = new Map<string, unknown>(Object.entries(value).filter(([, field]) => field !== undefined))
  const keys = [...fields.keys()].toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(fields.get(key))}`).join(',')}}`
}

/** SHA-256 in hex of the canonical text. */
export const digest = (value: unknown): string => hash('sha256', canonical(value))
