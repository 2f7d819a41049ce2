/** Secrets in the texts of others, which may be written otherwise than they are known. */

/** What steers a terminal, and signs without a shape. Line ends and tabs are seen. */
const unseen = new RegExp(
  [
    '\u001b\\[[0-?]*[ -/]*[@-~]',
    '\u001b\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)',
    '[^\\P{C}\\t\\n\\r]',
    '[\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]',
  ].join('|'),
  'gu',
)
const seen = (text: string): string => text.replaceAll(unseen, '')

/** As a terminal shows it, where a backspace takes the sign before it away. */
const rubbedOut = (text: string): string => {
  if (!text.includes('\b')) return text
  const kept: string[] = []
  for (const sign of text)
    if (sign === '\b') kept.pop()
    else kept.push(sign)
  return kept.join('')
}

/** Of ASCII one by one: most of them are, and bytes in a row cost much more. */
const ascii = /(?:%|\\x)([0-7][0-9a-f])/giu
const bytes = /(?:%[89a-f][0-9a-f])+/giu
const units = /\\u([0-9a-f]{4})/giu
const signOf = (_: string, hex: string): string => String.fromCharCode(parseInt(hex, 16))

/** As whoever it is meant for reads it: escapes of URLs and of JSON resolved, once, without what is not seen. */
const asRead = (text: string): string =>
  seen(
    seen(text)
      .replaceAll(bytes, (percents) => Buffer.from(percents.replaceAll('%', ''), 'hex').toString())
      .replaceAll(units, signOf)
      .replaceAll(ascii, signOf),
  )

/**
 * The text redacted; where a secret stands in it in disguise, such as with `%2D` for its dash, a sign amid it that
 * nobody sees or one that a backspace takes away, it is the text as it is read.
 */
export const redactedAsRead = (text: string, redact: (text: string) => string): string => {
  const safe = redact(text)
  for (const read of new Set([safe, rubbedOut(safe)].map(asRead))) {
    const found = read === safe ? read : redact(read)
    if (found !== read) return found
  }
  return safe
}
