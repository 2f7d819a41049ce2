/** What is kept of one model attempt or tool call, as text. */
import { isSecretName, redactPii, redactSecrets } from '../../../core/plugin.js'
import type { Observed } from '../runs/contract.js'
import type { DebugLevel } from './contract.js'

/** Replaces known secret values. */
type Known = (text: string) => string

const clean =
  (known: Known, level: DebugLevel) =>
  (text: string): string =>
    level === 'redacted' ? redactPii(redactSecrets(known(text))) : known(text)

/** Each text of a value, cleaned; at the level `redacted` also what only its name gives away. */
const cleaned = (value: unknown, tidy: (text: string) => string, level: DebugLevel): unknown => {
  if (typeof value === 'string') return tidy(value)
  if (Array.isArray(value)) return value.map((item) => cleaned(item, tidy, level))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      tidy(name),
      level === 'redacted' && typeof item === 'string' && isSecretName(name)
        ? '<redacted>'
        : cleaned(item, tidy, level),
    ]),
  )
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** The text of one piece of evidence; indented, because people read it. */
export const evidenceText = (level: DebugLevel, { request, answer, ...facts }: Observed, known: Known): string => {
  const tidy = clean(known, level)
  const said = level !== 'on' && { request: cleaned(request, tidy, level), answer: cleaned(answer, tidy, level) }
  return JSON.stringify({ ...facts, request_bytes: bytesOf(request), answer_bytes: bytesOf(answer), ...said }, null, 2)
}

/** The first bytes of a text, with no character cut in half. */
export const cutText = (text: Uint8Array, limit: number): Uint8Array => {
  if (text.length <= limit) return text
  let end = limit
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return text.subarray(0, end)
}
