/** Beginnings of texts: a platform refuses a message with half a sign in it. Lengths are UTF-16 code units. */

/** Without a half at its end. */
export const wholeSigns = (text: string): string => text.replace(/[\ud800-\udbff]$/u, '')
/** Its beginning. */
export const cutTo = (text: string, most: number): string => wholeSigns(text.slice(0, most))
/** The same, with a mark where its end is missing. */
export const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${cutTo(text, most - 2)} …`
