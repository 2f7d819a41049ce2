/** The headings of a text in Markdown. Pure. */

/** Without what stands in comments, which may go on over lines. */
const createUncomment = (): ((line: string) => string) => {
  let isOpen = false
  return (line) => {
    // What stands behind a comment in its last line is no line of its own.
    if (isOpen) {
      isOpen = !line.includes('-->')
      return ''
    }
    let [left, said] = [line, '']
    for (;;) {
      const at = left.indexOf(isOpen ? '-->' : '<!--')
      if (!isOpen) said += at < 0 ? left : left.slice(0, at)
      if (at < 0) return said
      left = left.slice(at + (isOpen ? 3 : 4))
      isOpen = !isOpen
    }
  }
}

/** Without the signs that close a heading: a report may be written to be slow to read, so sign by sign. */
const unclosed = (title: string): string => {
  const said = title.trimEnd()
  let end = said.length
  while (said[end - 1] === '#') end -= 1
  return end === 0 || said[end - 1] === ' ' || said[end - 1] === '\t' ? said.slice(0, end) : said
}

const titleOf = (line: string, before: string): string | undefined => {
  if (/^ {0,3}(?:=+|-+)[ \t]*$/u.test(line)) return before
  const title = /^ {0,3}#{1,6}[ \t](.*)$/u.exec(line)?.[1]
  return title === undefined ? undefined : unclosed(title)
}

/** Titles in lower case: lines that begin with up to six `#` or are underlined, outside of fenced code and comments. */
export const headings = (text: string): Set<string> => {
  const found = new Set<string>()
  const uncomment = createUncomment()
  let [isCode, before] = [false, '']
  for (const raw of text.split(/\r?\n/u)) {
    const line = isCode ? raw : uncomment(raw)
    const isFence = /^ {0,3}(?:```|~~~)/u.test(line)
    const title = isCode || isFence ? undefined : titleOf(line, before)?.trim()
    if (title !== undefined && title !== '') found.add(title.toLowerCase())
    before = isCode || isFence || title !== undefined ? '' : line
    if (isFence) isCode = !isCode
  }
  return found
}
