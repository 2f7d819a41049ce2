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
const ascii = /(?:%|(?<!\\)\\x)([0-7][0-9a-f])/giu
const bytes = /(?:%[89a-f][0-9a-f])+/giu
/** Behind another backslash it is the text of an escape: the next reading has it. */
const units = /(?<!\\)\\u([0-9a-f]{4})/giu
const signOf = (_: string, hex: string): string => String.fromCharCode(parseInt(hex, 16))

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const entities = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7}|x[0-9a-f]{1,6}));/giu
const entity = (whole: string, name?: string, digits = ''): string => {
  if (name !== undefined) return named[name.toLowerCase()] ?? whole
  const code = Number(digits.replace(/^x/iu, '0x'))
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}
/** Of signs, as JSON, shells and programs write them: `\/`, `\"`, `\ `. Before a letter it means something else. */
const backslashes = /\\([ -/:-@[-`{-~])/gu

/** As whoever it is meant for reads it: escapes of URLs, JSON, shells and HTML resolved, without what is not seen. */
const asRead = (text: string): string =>
  seen(
    seen(text)
      .replaceAll(bytes, (percents) => Buffer.from(percents.replaceAll('%', ''), 'hex').toString())
      .replaceAll(units, signOf)
      .replaceAll(ascii, signOf)
      .replaceAll(entities, entity)
      .replaceAll(backslashes, '$1'),
  )

/** Escapes of escapes: a URL in a URL, JSON in JSON. */
const mostReadings = 3
/** A text as it is read, and read again, without the secrets that stand in it so; undefined if none does. */
const redactedWithin = (text: string, safe: string, redact: (text: string) => string): string | undefined => {
  let [read, before, found]: [string, string, string | undefined] = [text, safe, undefined]
  for (let reading = 0; reading < mostReadings; reading += 1) {
    const next = asRead(read)
    if (next === before) return found
    read = redact(next)
    before = read
    if (read !== next) found = read
  }
  return found
}

/** The text as it is read, without the secrets that stand in it in disguise; undefined if none does. */
const undisguised = (text: string, redact: (text: string) => string): string | undefined =>
  redactedWithin(text, text, redact) ?? redactedWithin(rubbedOut(text), text, redact)

/** Between words, and between lines. */
const cuts = [/(\s+)/u, /([\r\n]+)/u]
/** Each is read by itself. */
const mostPieces = 10_000
/** The same, with nothing changed but the words, or else the lines, that have one; undefined if that leaves some. */
const undisguisedInPlace = (text: string, redact: (text: string) => string): string | undefined => {
  for (const cut of cuts) {
    const pieces = text.split(cut)
    if (pieces.length > mostPieces) continue
    const found = pieces.map((piece) => undisguised(piece, redact) ?? piece).join('')
    if (undisguised(found, redact) === undefined) return found
  }
  return undefined
}

/**
 * The text redacted; where a secret stands in it in disguise, such as with `%2D` for its dash, a sign amid it that
 * nobody sees or one that a backspace takes away, its word is as it is read: or else its line, or all of the text.
 */
export const redactedAsRead = (text: string, redact: (text: string) => string): string => {
  const safe = redact(text)
  const read = undisguised(safe, redact)
  return read === undefined ? safe : (undisguisedInPlace(safe, redact) ?? read)
}
