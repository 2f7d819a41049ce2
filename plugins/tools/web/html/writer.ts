/** Puts text together as lines: blanks of the source are one blank, and blocks stand apart. */

export interface Writer {
  /** Characters so far. */
  readonly length: number
  /** What follows begins a line; `2`: with an empty one before it. Nothing within `inline`. */
  block(gap: 1 | 2): void
  /** Words of the source. */
  text(text: string): void
  /** Lines of the source as they stand. */
  verbatim(text: string): void
  /** A sign of ours. */
  sign(text: string): void
  /** A sign of ours that the first block stands behind, such as that of an item of a list. */
  marker(text: string): void
  /** What follows stands right behind what is there. */
  tight(): void
  /** A pair of signs around what comes until the answer is called; none around nothing. */
  wrap(open: string, close: string): () => void
  /** Begins each line until the answer is called. */
  prefix(text: string): () => void
  /** Keeps what comes in one line until the answer is called. */
  inline(): () => void
  result(): string
}

/** What was written, and what is owed before the next sign. */
interface Ink {
  readonly pieces: string[]
  readonly prefixes: string[]
  length: number
  /** Line ends that are owed. */
  gap: number
  /** How many of the prefixes the empty line of a gap has. */
  shared: number
  /** A blank is owed. */
  blank: boolean
  /** Nothing stands in the line but signs of ours. */
  bare: boolean
  isMarked: boolean
  /** How many ask for one line. */
  inLine: number
}

const push = (ink: Ink, text: string): void => {
  ink.pieces.push(text)
  ink.length += text.length
}

const newLine = (ink: Ink, prefixes = ink.prefixes.length): void =>
  push(ink, `\n${ink.prefixes.slice(0, prefixes).join('')}`)

/** Writes what is owed. */
const flush = (ink: Ink): void => {
  if (ink.pieces.length === 0 && ink.gap > 0) push(ink, ink.prefixes.join(''))
  else {
    if (ink.gap > 1) newLine(ink, Math.min(ink.shared, ink.prefixes.length))
    if (ink.gap > 0) newLine(ink)
  }
  if (ink.blank && !ink.bare) push(ink, ' ')
  Object.assign(ink, { gap: 0, blank: false, isMarked: false })
}

const sign = (ink: Ink, text: string): void => {
  flush(ink)
  push(ink, text)
  ink.bare = true
}

const block = (ink: Ink, wanted: number): void => {
  if (ink.inLine > 0) ink.blank = true
  if (ink.inLine > 0 || ink.isMarked) return
  const { prefixes, gap, shared } = ink
  ink.shared = gap === 0 ? prefixes.length : Math.min(shared, prefixes.length)
  Object.assign(ink, { gap: Math.max(gap, wanted), blank: false, bare: true })
}

const words = (ink: Ink, source: string): void => {
  const text = source.replaceAll(/[ \t\r\n\f]+/gu, ' ')
  if (text.startsWith(' ')) ink.blank = true
  const trimmed = text.replace(/^ /u, '').replace(/ $/u, '')
  if (trimmed === '') return
  flush(ink)
  push(ink, trimmed)
  Object.assign(ink, { blank: text.endsWith(' '), bare: false })
}

const verbatim = (ink: Ink, text: string): void => {
  flush(ink)
  for (const [n, line] of text.split(/\r?\n/u).entries()) {
    if (n > 0) newLine(ink)
    push(ink, line)
  }
  ink.bare = false
}

const wrap = (ink: Ink, open: string, close: string): (() => void) => {
  const { bare } = ink
  sign(ink, open)
  const from = ink.pieces.length
  return () => {
    if (ink.pieces.length > from) return push(ink, close)
    ink.length -= ink.pieces.pop()?.length ?? 0
    ink.bare = bare
  }
}

/** A page may be written to be slow to read: sign by sign. */
const withoutBlanksBehind = (line: string): string => {
  let end = line.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end -= 1
  return line.slice(0, end)
}

const textOf = ({ pieces }: Ink): string =>
  pieces
    .join('')
    .split('\n')
    .map(withoutBlanksBehind)
    .join('\n')
    .replaceAll(/\n{3,}/gu, '\n\n')
    .trim()

export const createWriter = (): Writer => {
  const ink: Ink = {
    pieces: [],
    prefixes: [],
    length: 0,
    gap: 0,
    shared: 0,
    blank: false,
    bare: true,
    isMarked: false,
    inLine: 0,
  }
  return {
    get length() {
      return ink.length
    },
    block: (gap) => block(ink, gap),
    text: (text) => words(ink, text),
    verbatim: (text) => verbatim(ink, text),
    sign: (text) => sign(ink, text),
    marker(text) {
      sign(ink, text)
      ink.isMarked = true
    },
    tight: () => void Object.assign(ink, { blank: false, isMarked: false }),
    wrap: (open, close) => wrap(ink, open, close),
    prefix(text) {
      ink.prefixes.push(text)
      return () => void ink.prefixes.pop()
    },
    inline() {
      ink.inLine += 1
      return () => {
        ink.inLine -= 1
      }
    },
    result: () => textOf(ink),
  }
}
