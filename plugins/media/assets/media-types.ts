/** Which media types there are, and which of their names are the same. */

const aliases: Readonly<Record<string, string>> = {
  'text/x-markdown': 'text/markdown',
  'text/json': 'application/json',
  'application/csv': 'text/csv',
  'application/x-pdf': 'application/pdf',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
}

/** Lower case, without parameters, and by its usual name: `Text/X-Markdown; charset=utf-8` is `text/markdown`. */
export const canonicalType = (declared: string): string => {
  const bare = declared.split(';', 1).join('').trim().toLowerCase()
  return Object.hasOwn(aliases, bare) ? (aliases[bare] ?? bare) : bare
}
