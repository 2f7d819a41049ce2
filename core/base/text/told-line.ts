import { redactedTo } from '../words/redacted-to.js'
import { redactSecrets } from './redact.js'
import { visibleLine } from './visible.js'

/** Text of others without secrets, known ones and such that are seen by their shape. */
export const withoutSecrets =
  (redact: (text: string) => string) =>
  (text: string): string =>
    redactSecrets(redact(text))

/** What a program of others wrote, for the log and for people: one line, `most` characters at most. */
export const toldLine = (text: string, most: number, redact: (text: string) => string): string =>
  visibleLine(redactedTo(text, most, withoutSecrets(redact))).slice(0, most)
