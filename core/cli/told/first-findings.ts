/** What a check of a root or a backup found, as far as a screen has room for it. */

const most = 20

/** The first lines, and how many there are beside them. */
export const firstFindings = (lines: readonly string[]): string[] => [
  ...lines.slice(0, most),
  ...(lines.length > most ? [`… and ${lines.length - most} more; --output json names them all`] : []),
]
