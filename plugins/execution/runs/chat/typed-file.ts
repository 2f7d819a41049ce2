/** The file that somebody named behind a command, as a shell would read it; blanks need no quotes. */
import { filesNear } from '../../../../core/plugin.js'

/** A piece in quotes, or a sign behind a backslash. */
const quoted = /'[^']*'|"(?:[^"\\]|\\.)*"|\\./gsu

const meant = (piece: string): string => {
  if (piece.startsWith('\\')) return piece.slice(1)
  const inside = piece.slice(1, -1)
  return piece.startsWith("'") ? inside : inside.replaceAll(/\\([\\"$`])/gu, '$1')
}

export const typedFile = (text: string, home: string | undefined): string => {
  const plain = text.replaceAll(quoted, meant)
  return home !== undefined && /^~(?:\/|$)/u.test(text) ? `${home}${plain.slice(1)}` : plain
}

/** The line with each file whose name goes on so. */
export const withFiles = (line: string, home: string | undefined): string[] => {
  const [, text] = /^\/attach +(.*)$/su.exec(line) ?? []
  if (text === undefined) return []
  const begun = typedFile(text, home)
  return filesNear(begun).map((path) => `${line}${path.slice(begun.length).replaceAll(/['"\\]/gu, '\\$&')}`)
}
