/** Text in columns that fit a terminal of 80 characters. */

const screenWidth = 80
/** What is longer stands on a line of its own, above what is said of it. */
const leftMost = 32

/** Pieces that a line may end behind: words, and in a long one its choices. */
const piecesOf = (text: string): readonly string[] => text.split(/(?<= )|(?<=\|)/u).filter((piece) => piece !== '')

/** The text in lines; a piece that is longer than a line has one of its own. */
export const wrapped = (text: string, width = screenWidth): readonly string[] => {
  const lines: string[] = []
  let line = ''
  for (const piece of piecesOf(text)) {
    if (line !== '' && (line + piece).trimEnd().length > width) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += piece
  }
  return [...lines, line.trimEnd()]
}

/** The first line as it is, further ones below what follows `indent`. */
export const hanging = (text: string, indent: number): string => {
  const [first = '', ...rest] = wrapped(text, screenWidth - indent)
  return [first, ...rest.map((line) => ' '.repeat(indent) + line)].join('\n')
}

type Row = readonly [string, string]

/** Of the left column. */
const widthOf = (rows: readonly Row[]): number =>
  Math.max(0, ...rows.map(([left]) => left.length).filter((length) => length <= leftMost))

/** Rows of two columns, the right one below each other; as wide on the left as `all` need it. */
export const columns = (rows: readonly Row[], all: readonly Row[] = rows): string => {
  const width = widthOf(all)
  const indent = width + 4
  return rows
    .map(([left, right]) => {
      const said = hanging(right, indent)
      if (left.length <= width) return `  ${left.padEnd(width)}  ${said}`.trimEnd()
      return `  ${hanging(left, 4)}\n${' '.repeat(indent)}${said}`
    })
    .join('\n')
}
