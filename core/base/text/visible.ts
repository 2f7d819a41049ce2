/** Text of others on a terminal: it shows what is there and steers nothing. */

/**
 * What a terminal obeys or does not show: control characters (ESC begins the sequences that write the clipboard or
 * repaint lines), marks that turn the direction of text around, signs without a shape, halves of a character.
 */
const hidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
/** Emoji and many scripts are written with these after a sign of their own; anywhere else they only hide. */
const joiners = /(?<=[^\0-\u007f\p{Default_Ignorable_Code_Point}]\ufe0f?)(?:\u200c|\u200d|\ufe0e|\ufe0f)/uy

const escape = (sign: string): string =>
  sign
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

const joins = (text: string, at: number): boolean => {
  joiners.lastIndex = at
  return joiners.test(text)
}

const shownWith =
  (kept: string) =>
  (text: string): string =>
    text.replace(hidden, (sign, at: number) => (kept.includes(sign) || joins(text, at) ? sign : escape(sign)))

/**
 * The text as a terminal may be given it: what steers it or is not seen becomes `\u001b` and the like, as in JSON, so
 * that a JSON text keeps its meaning. Line ends and tabs stay.
 */
export const visible = (text: string): string => shownLines(text.replaceAll('\r\n', '\n'))
const shownLines = shownWith('\n\t')

const shownSigns = shownWith('')
/** The same for a value that stands in a line: it cannot end the line and begin another that looks like ours. */
export const visibleLine = (text: string): string =>
  shownSigns(text.replaceAll('\r\n', '\\n').replaceAll('\n', '\\n').replaceAll('\t', '\\t'))

/** The same for text of many lines under a heading: those after the first stand in by so many blanks. */
export const visibleBlock = (text: string, indent: number): string =>
  visible(text).replaceAll('\n', `\n${' '.repeat(indent)}`)

/** Makes a line of a name and what it says, all of which begin at one column; none of what says nothing. */
export const namedLine =
  (width: number) =>
  (name: string, text: string | null | undefined): string[] =>
    (text ?? '').trim() === '' ? [] : [`  ${name.padEnd(width)}${visibleBlock(text ?? '', width + 2)}`]
