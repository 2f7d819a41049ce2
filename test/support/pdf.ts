/** Small PDFs, as whoever wants to break a reader writes them. */

export interface PdfStream {
  readonly dictionary?: string
  readonly content: string | Uint8Array
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

/** A PDF with these pages; `extra` are objects behind them. */
export const makePdf = (pages: readonly PdfStream[], extra: readonly (string | PdfStream)[] = []): Buffer => {
  const objects: Buffer[] = []
  const add = (text: string | Buffer): number => objects.push(typeof text === 'string' ? latin1(text) : text)
  const addStream = ({ dictionary = '', content }: PdfStream): number => {
    const bytes = typeof content === 'string' ? latin1(content) : Buffer.from(content)
    return add(
      Buffer.concat([latin1(`<< /Length ${bytes.length} ${dictionary} >>\nstream\n`), bytes, latin1('\nendstream')]),
    )
  }
  add('<< /Type /Catalog /Pages 2 0 R >>')
  const at = pages.length
  add(`<< /Type /Pages /Count ${at} /Kids [${pages.map((_, page) => `${4 + page} 0 R`).join(' ')}] >>`)
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')
  for (const page of pages.keys())
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents ${4 + at + page} 0 R ` +
        '/Resources << /Font << /F1 3 0 R >> >> >>',
    )
  for (const page of pages) addStream(page)
  for (const one of extra) {
    if (typeof one === 'string') add(one)
    else addStream(one)
  }
  const body = objects.map((object, number) =>
    Buffer.concat([latin1(`${number + 1} 0 obj\n`), object, latin1('\nendobj\n')]),
  )
  return Buffer.concat([
    latin1('%PDF-1.4\n'),
    ...body,
    latin1(`trailer\n<< /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF\n`),
  ])
}

/** A page that says this. */
export const sayingPage = (text: string): PdfStream => ({ content: `BT /F1 12 Tf 50 700 Td (${text}) Tj ET` })

/** PostScript of four pages with the first 1,600 words of a text. */
export const pagesOf = (text: string): string => {
  const words = text.match(/[A-Za-z]{3,}/gu) ?? []
  const lines = Array.from({ length: 200 }, (_, at) => words.slice(at * 8, at * 8 + 8).join(' '))
  const turn = 'showpage /Helvetica 10 selectfont '
  const shown = lines.map(
    (line, at) => `${at % 50 === 0 && at > 0 ? turn : ''}40 ${760 - (at % 50) * 14} moveto (${line}) show`,
  )
  return `%!PS\n/Helvetica 10 selectfont\n${shown.join('\n')}\nshowpage\n`
}

/** Words as often as they are there; a ligature is its letters. */
const counted = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const word of text.normalize('NFKC').match(/\S+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** How many words there are in the first text, and which share of them, of 1, is in the second. */
export const sharedWords = (theirs: string, ours: string): { readonly all: number; readonly share: number } => {
  const there = counted(ours)
  let [all, same] = [0, 0]
  for (const [word, count] of counted(theirs)) {
    all += count
    same += Math.min(count, there.get(word) ?? 0)
  }
  return { all, share: all === 0 ? 0 : same / all }
}
