/**
 * Tokens that the daemon makes for a short time carry a mark: they are known by their shape, and thousands of them are
 * never kept to be looked for.
 */

/** What each begins with. */
export const tokenMark = 'hft_'
const token = /hft_[A-Za-z0-9_-]{16,}/gu

/** The text with every such token replaced. */
export const withoutTokens = (text: string, instead: string): string =>
  text.includes(tokenMark) ? text.replaceAll(token, instead) : text
