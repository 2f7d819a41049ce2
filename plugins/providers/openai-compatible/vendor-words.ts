/** What a provider says about a failure, made safe to show: one short line without secrets. */
import { redactSecrets } from '../../../core/plugin.js'

/** Characters that are looked at, and that are shown. */
const looked = 2000
const shown = 200

/** Whatever steers a terminal or is not seen, such as control characters and marks that turn text around. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu
/** Providers show the ends of a key that they refuse. */
const masked = /\S*(?:\*{3,}|\u2022{3,}|\.{3}(?=[A-Za-z0-9]))\S*/gu

type Link = Readonly<Record<string, unknown>>
const isLink = (value: unknown): value is Link => typeof value === 'object' && value !== null

/** The sentence in a body of one of the shapes that servers use. */
const sentenceIn = (value: unknown, depth = 0): string | undefined => {
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

const parsed = (body: string): unknown => {
  try {
    const value: unknown = JSON.parse(body)
    return value
  } catch {
    return body.trimStart().startsWith('<') ? undefined : body
  }
}

/** What the server said, as it came: of an answer's body, or of an error in its stream. */
export const saidIn = (chain: readonly Link[]): string | undefined => {
  const body = chain.map((link) => link['responseBody']).find((text) => typeof text === 'string')
  if (typeof body === 'string') return sentenceIn(parsed(body.slice(0, 100_000)))
  return sentenceIn(chain.find((link) => !(link instanceof Error) && typeof link['message'] === 'string'))
}

/** One line, redacted, at most two hundred characters; undefined if nothing is left. */
export const safeWords = (said: string | undefined, redact: (text: string) => string): string | undefined => {
  const line = (said ?? '').slice(0, looked).replaceAll(unseen, ' ').replaceAll(/\s+/gu, ' ').trim()
  const safe = redactSecrets(redact(line)).replaceAll(masked, '[redacted]')
  if (safe === '') return undefined
  const signs = [...safe]
  return signs.length > shown ? `${signs.slice(0, shown - 1).join('')}…` : safe
}
