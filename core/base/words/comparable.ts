/** Texts as they are compared: whatever their case, and however their letters and marks are put together. Pure. */

/** A sign beyond ASCII without case; one whose other case are several signs keeps its own. */
const simple = (sign: string): string => {
  const upper = sign.toUpperCase()
  return Array.from(upper).length === 1 ? upper.toLowerCase() : sign.toLowerCase()
}

/** A letter i has its dot also where the capital has one: it is one letter. */
export const comparable = (text: string): string => (isAscii(text) ? text.toLowerCase() : comparableAll(text))
const isAscii = (text: string): boolean => !/[^\0-\x7f]/u.test(text)
const comparableAll = (text: string): string =>
  text
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .normalize('NFC')
    .replaceAll(/[A-Z]+/gu, (some) => some.toLowerCase())
    .replaceAll(/[^\0-\x7f]/gu, simple)
    .replaceAll('i\u0307', 'i')
    .normalize('NFC')
