/** What is kept of one model attempt or tool call, as text. */
import { isSecretName, redactingPii, redactingSecrets, type Portions } from '../../../core/plugin.js'
import type { Observed } from '../engine/contract.js'
import type { DebugLevel } from './contract.js'

/** Replaces known secret values. */
export type Known = (text: string) => Portions<string>

interface Cleaner {
  readonly known: Known
  readonly level: DebugLevel
  /** Characters that were cleaned since the last pause, and what each text costs whatever its length. */
  since: number
}

/** Characters of short texts that are cleaned in one go. */
const portion = 64 * 1024
/** To clean a text of no length costs as much as this many characters. */
const perText = 64

function* tidy(cleaner: Cleaner, text: string): Portions<string> {
  cleaner.since += text.length + perText
  if (cleaner.since > portion) {
    cleaner.since = 0
    yield
  }
  const without = yield* cleaner.known(text)
  return cleaner.level === 'redacted' ? yield* redactingPii(yield* redactingSecrets(without)) : without
}

/** Each text of a value, cleaned; at the level `redacted` also what only its name gives away. */
function* cleaned(cleaner: Cleaner, value: unknown): Portions<unknown> {
  if (typeof value === 'string') return yield* tidy(cleaner, value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) items.push(yield* cleaned(cleaner, item))
    return items
  }
  const fields: (readonly [string, unknown])[] = []
  for (const [name, item] of Object.entries(value)) {
    const hidden = cleaner.level === 'redacted' && typeof item === 'string' && isSecretName(name)
    fields.push([yield* tidy(cleaner, name), hidden ? '<redacted>' : yield* cleaned(cleaner, item)])
  }
  return Object.fromEntries(fields)
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** The text of one piece of evidence, made in portions; indented, because people read it. */
export function* evidenceText(level: DebugLevel, observed: Observed, known: Known): Portions<string> {
  const { request, answer, ...facts } = observed
  const cleaner: Cleaner = { known, level, since: 0 }
  const said = level !== 'on' && {
    request: yield* cleaned(cleaner, request),
    answer: yield* cleaned(cleaner, answer),
  }
  const [request_bytes, answer_bytes] = [bytesOf(request), bytesOf(answer)]
  yield
  return JSON.stringify({ ...facts, request_bytes, answer_bytes, ...said }, null, 2)
}

/** About as many bytes as a value takes as JSON, without making it. */
export const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  return Object.entries(value).reduce((all, [name, item]) => all + name.length + sizeOf(item), 0)
}

/** The first bytes of a text, with no character cut in half. */
export const cutText = (text: Uint8Array, limit: number): Uint8Array => {
  if (text.length <= limit) return text
  let end = limit
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return text.subarray(0, end)
}
