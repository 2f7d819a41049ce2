import { redactedTo } from '../words/redacted-to.js'
import { redactSecrets, redactSecretsInCode } from './shape/redact.js'
import { visibleLine } from './visible.js'

/** Text of others without secrets, known ones and such that are seen by their shape. */
export const withoutSecrets =
  (redact: (text: string) => string) =>
  (text: string): string =>
    redactSecrets(redact(text))

/** The same for text that models work with: code in it stays whole. */
export const withoutSecretsInCode =
  (redact: (text: string) => string) =>
  (text: string): string =>
    redactSecretsInCode(redact(text))

/** What a program of others wrote, for the log and for people: one line, `most` characters at most. */
export const toldLine = (text: string, most: number, redact: (text: string) => string): string =>
  visibleLine(redactedTo(text, most, withoutSecrets(redact))).slice(0, most)

/** The last of these lines, in one: as many of them as are told whole, one at least. */
export const lastLines = (lines: readonly string[], most: number): string => {
  let told = lines.at(-1)?.slice(0, most) ?? ''
  for (const line of lines.slice(0, -1).toReversed()) {
    if (line.length + told.length + 3 > most) break
    told = `${line} | ${told}`
  }
  return told
}
