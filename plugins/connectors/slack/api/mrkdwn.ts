/** Words as Slack writes them: it takes what stands between `<` and `>` for mentions and links (slack-25). */

const written: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Words that mention nobody and are shown as they are. */
export const escapeText = (text: string): string => text.replace(/[&<>]/gu, (sign) => written[sign] ?? sign)

/** Longest text that an edit can give a message, in code units as it is sent. */
export const mostEdited = 4000
/** Longest text of a new message, in code units as it is sent: what is beyond Slack throws away. */
const mostPosted = 10 * mostEdited
/** A text in pieces that a message can hold each, none of which ends within a sign. */
export const piecesOf = (text: string): string[] => {
  const pieces: string[] = []
  let [from, at, size] = [0, 0, 0]
  for (const sign of text) {
    const { length } = written[sign] ?? sign
    if (size + length > mostPosted) {
      pieces.push(text.slice(from, at))
      ;[from, size] = [at, 0]
    }
    at += sign.length
    size += length
  }
  return [...pieces, text.slice(from)]
}

/** The beginning of a text that an edit can give a message: what is escaped is longer than it is read. */
export const escapedToEdit = (text: string): string => {
  const whole = escapeText(text)
  if (whole.length <= mostEdited) return whole
  const cut = whole.slice(0, mostEdited - 2).replace(/&[a-z]{0,3}$|[\ud800-\udbff]$/u, '')
  return `${cut} …`
}

const meant: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }
/** What a person typed. */
export const unescapeText = (text: string): string => text.replace(/&(?:amp|lt|gt);/gu, (name) => meant[name] ?? name)
