/** Where a word begins and ends, in a text that may be written in JSON, for a shell or in an address. */

const sign = /[\p{L}\p{N}]/u
/** What ends in a letter or digit and stands before a word: escapes, colours, and flags such as `-p`. */
const before =
  /(?:\\[bfnrtv0]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,8}m|(?<![\w-])-[A-Za-z])$/u
const mostBefore = 12

const isSign = (text: string, at: number): boolean => sign.test(text.charAt(at))

/** True if what stands there is not a part of a longer word. */
export const isWhole = (text: string, begin: number, end: number): boolean =>
  (!isSign(text, begin) ||
    !isSign(text, begin - 1) ||
    before.test(text.slice(Math.max(0, begin - mostBefore), begin))) &&
  (!isSign(text, end - 1) || !isSign(text, end))
