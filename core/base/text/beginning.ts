/** The first `most` UTF-16 code units of a text, not cut between the halves of a character. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? text.slice(0, most).replace(/[\uD800-\uDBFF]$/u, '') : text
