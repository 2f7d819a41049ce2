/** A pattern that finds what any of these finds, the first of them first; the flags of the parts do not count. */
export const anyOf = (parts: readonly RegExp[], flags: string): RegExp =>
  new RegExp(parts.map(({ source }) => source).join('|'), flags)
