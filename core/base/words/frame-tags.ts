/** What of a text could begin or end one of these frames, as a reader sees it, not a parser. */

/**
 * Finds tags of these names up to the name. Between the bracket and the name a reader overlooks blanks, signs without a
 * shape, and more than one slash. `names` are plain words. The expression keeps no state where it replaces.
 */
export const frameTags = (names: readonly string[]): RegExp =>
  new RegExp(`[<＜﹤‹][\\s\\p{Cf}/]*(?=(?:${names.join('|')})\\b)`, 'giu')
