/** JSON text that equal values share, and its digest: what receipts, approvals and the ledger are bound to. */
import { hash } from 'node:crypto'

/** JSON text of plain data with sorted keys and no spaces: equal values give equal text. */
export const canonical = (value: unknown): string => {
  if (value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields: Readonly<Record<string, unknown>> = { ...value }
  let text = ''
  for (const key of Object.keys(fields).toSorted()) {
    const field = fields[key]
    if (field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(field)}`
  }
  return `{${text}}`
}

/** SHA-256 in hex of the canonical text. */
export const digest = (value: unknown): string => hash('sha256', canonical(value))
