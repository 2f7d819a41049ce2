/** Reasons that operators give, before they are kept. */
import { anyOf, looksSecret } from '../../../../core/plugin.js'

const most = 120
const instead = 'operator_reason_redacted'
/** Words near which secrets stand. */
const telling = anyOf(
  [
    /authorization|api[\s_-]*key|bearer|client[\s_-]*secret|credential|password|pat:/u,
    /personal[\s_-]+access|private[\s_-]*key|refresh|secret|sk-|token/u,
  ],
  'iu',
)

/** In one line; what is long or looks like a secret is replaced whole. Undefined for one that says nothing. */
export const sanitisedReason = (reason: string | undefined, redact: (text: string) => string): string | undefined => {
  const line = (reason ?? '').replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  if (line === '') return undefined
  return line.length > most || telling.test(line) || looksSecret(line) || redact(line) !== line ? instead : line
}
