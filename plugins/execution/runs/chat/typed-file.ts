/** The file that somebody named behind a command, as a shell would read it; blanks need no quotes. */

/** A piece in quotes, or a sign behind a backslash. */
const quoted = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gsu

export const typedFile = (text: string, home: string | undefined): string => {
  const plain = text.replaceAll(
    quoted,
    (_, literal: string | undefined, word: string | undefined, sign: string | undefined) =>
      literal ?? word?.replaceAll(/\\([\\"$`])/gu, '$1') ?? sign ?? '',
  )
  return home !== undefined && /^~(?:\/|$)/u.test(text) ? `${home}${plain.slice(1)}` : plain
}
