/** What a provider says about a failure, made safe to show: one short line without secrets. */
import { redactedTo, withoutSecrets } from '../../../core/plugin.js'
import { isLink } from './link.js'

/** Characters that are looked at, and that are shown. */
const looked = 2000
const shown = 200

/** Whatever steers a terminal or is not seen, such as control characters and marks that turn text around. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu
/** Providers show the ends of a key that they refuse. */
const masked = /\S*(?:\*{3,}|\u2022{3,}|\.{3}(?=[A-Za-z0-9]))\S*/gu

/** The sentence in a body of one of the shapes that servers use. */
export const sentenceIn = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return value
  if (depth > 4) return undefined
  if (Array.isArray(value)) return sentenceIn(value[0], depth + 1)
  if (!isLink(value)) return undefined
  for (const name of ['error', 'message', 'detail', 'msg']) {
    const found = value[name] === undefined ? undefined : sentenceIn(value[name], depth + 1)
    if (found !== undefined && found.trim() !== '') return found
  }
  return undefined
}

/** The body of a refusal: JSON, else its text; undefined if it is a web page. */
export const parsed = (body: string): unknown => {
  try {
    const value: unknown = JSON.parse(body)
    return value
  } catch {
    return body.trimStart().startsWith('<') ? undefined : body
  }
}

/** One line, redacted, at most two hundred characters; undefined if nothing is left. */
export const safeWords = (said: string | undefined, redact: (text: string) => string): string | undefined => {
  const clean = withoutSecrets(redact)
  const line = redactedTo(said ?? '', looked, clean)
    .replaceAll(unseen, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim()
  const safe = clean(line).replaceAll(masked, '[redacted]')
  if (safe === '') return undefined
  const signs = [...safe]
  return signs.length > shown ? `${signs.slice(0, shown - 1).join('')}…` : safe
}
