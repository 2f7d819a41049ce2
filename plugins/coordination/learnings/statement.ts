/** What a learning says of what: whether two say the same, or something else of the same. Pure. */
import type { Learning } from './record.js'

export interface Statement {
  /** What it is about; absent where that cannot be told. */
  readonly subject?: string
  /** Equal for two that say the same. */
  readonly key: string
}

/** In this order, the first place of each. */
const delimiters = [' is ', ' are ', ' est ', ' sont ', '=', ':'] as const
const article = /^(?:the|le|la|les) /u
/** What is no subject by itself. */
const noSubjects: ReadonlySet<string> = new Set('a an it the this that ce cela il elle le la les'.split(' '))
const [leastSubject, leastValue] = [3, 2]

const signs = (text: string): number => text.match(/[\p{L}\p{N}]/gu)?.length ?? 0

/**
 * Words without the punctuation of sentences. What else a word has stays, since `C++` is not `C#` and `-5` is not `5`;
 * but words may be joined by a dash or not.
 */
const words = (text: string): string =>
  text
    .replaceAll(/(?<=\p{L})[-_‐‑](?=\p{L})/gu, ' ')
    .split(' ')
    .map((word) => word.replaceAll(/^["'`«“”‘’([{]+|["'`»“”‘’)\]}.,;:!?]+$/gu, ''))
    .filter((word) => word !== '')
    .join(' ')

const plain = (content: string): string =>
  content
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/^[ .;,]+|[ .;,]+$/gu, '')

const splitAt = (text: string, delimiter: string): Required<Statement> | undefined => {
  const at = text.indexOf(delimiter)
  if (at < 0) return undefined
  const subject = words(text.slice(0, at)).replace(article, '')
  const value = words(text.slice(at + delimiter.length))
  const usable = signs(subject) >= leastSubject && !noSubjects.has(subject) && signs(value) >= leastValue
  return usable ? { subject, key: `${subject}=${value}` } : undefined
}

/** Procedures and summaries of runs have no subject. */
export const statementOf = ({ kind, content }: Pick<Learning, 'kind' | 'content'>): Statement => {
  const text = plain(content)
  if (kind === 'procedure' || kind === 'run_summary') return { key: words(text) }
  for (const delimiter of delimiters) {
    const found = splitAt(text, delimiter)
    if (found !== undefined) return found
  }
  return { key: words(text) }
}
