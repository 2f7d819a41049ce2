/** Secrets in the texts of others, which may be written otherwise than they are known. */
import { differences, type Difference } from './differences.js'
import { escapes, escapesOfCode, escapesOfMail, escapesOfWide } from './escapes.js'
import { atOnce, type Portions } from './portions.js'
import { asWritten, type Read, type Reading, type Span } from './reading.js'
import { left, seen, seenBehindEscape, seenRubbedOut, short } from './unseen.js'

/** Who reads a text: what is not seen goes first, and behind each reading of escapes. */
interface Reader {
  readonly unseen: readonly Read[]
  readonly escapes: Read
}
const most: Reader = { unseen: [seen], escapes }
/** Others read otherwise than most what has this in it, as it is written or at a reading. */
const others: readonly (Reader & { readonly odd: RegExp })[] = [
  {
    odd: new RegExp(`=(?:[0-9A-F]{2}|\\r?\\n)|${short}`, 'u'),
    unseen: [seenBehindEscape],
    escapes: escapesOfMail,
  },
  { odd: /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/u, unseen: [seen], escapes: escapesOfWide },
  { odd: new RegExp(`\\u0008|\\\\b|${left}`, 'u'), unseen: seenRubbedOut, escapes: escapesOfCode },
]

/** Escapes of escapes: a URL in a URL, JSON in JSON. */
const mostReadings = 4

type Redact = (text: string) => string
interface Look {
  readonly redact: Redact
  /** What was looked at as it is read: it may be the same to several. */
  readonly looked: Set<string>
  readonly found: Difference[]
}

const lookAt = (layers: readonly Reading[], { redact, looked, found }: Look): void => {
  const text = layers.at(-1)?.text ?? ''
  if (looked.has(text)) return
  looked.add(text)
  const safe = redact(text)
  if (safe === text) return
  const all = differences(text, safe)
  const spans = layers.toReversed().reduce<readonly Span[]>(
    (placed, layer) => asWritten(layer, placed),
    all.map(({ span }) => span),
  )
  for (const [at, span] of spans.entries()) found.push({ span, mark: all[at]?.mark ?? '' })
}

/** Code units of a text of which one reading is a portion of its own. */
const leastPortion = 32 * 1024

/** The text at each reading, as far as it is another one. */
function* readAs({ unseen, escapes: read }: Reader, text: string, look: Look): Portions<readonly string[]> {
  const layers: Reading[] = []
  for (let reading = 0; reading <= mostReadings; reading += 1) {
    const before = layers.length
    for (const step of reading === 0 ? unseen : [read, ...unseen]) {
      if (text.length >= leastPortion) yield
      const layer = step(layers.at(-1)?.text ?? text)
      if (layer.edits.length > 0) layers.push(layer)
    }
    if (layers.length > before) {
      if (text.length >= leastPortion) yield
      lookAt(layers, look)
    } else if (reading > 0) break
  }
  return layers.map((layer) => layer.text)
}

const replaced = (text: string, found: readonly Difference[]): string => {
  let [made, copied] = ['', 0]
  for (const { span, mark } of found.toSorted((a, b) => a.span[0] - b.span[0])) {
    const [begin, end] = span
    if (begin >= copied) made += text.slice(copied, begin) + mark
    copied = Math.max(copied, end)
  }
  return made + text.slice(copied)
}

/** The text without the secrets that stand in it in disguise. */
function* undisguised(text: string, redact: Redact): Portions<string> {
  const look: Look = { redact, looked: new Set([text]), found: [] }
  const texts = [text, ...(yield* readAs(most, text, look))]
  for (const reader of others) if (texts.some((each) => reader.odd.test(each))) yield* readAs(reader, text, look)
  return look.found.length === 0 ? text : replaced(text, look.found)
}

/** What overlapped a secret may be one, too. */
const mostRounds = 3

/**
 * The text redacted; a secret that stands in it in disguise, such as with `%2D` for its dash, a sign amid it that
 * nobody sees or one that a backspace takes away, is replaced as it is written, and the rest stays as it was.
 */
export const redactedAsRead = (text: string, redact: Redact): string => atOnce(redactingAsRead(text, redact))

/** The same in portions: a long text may be written so that to read it takes long. */
export function* redactingAsRead(text: string, redact: Redact): Portions<string> {
  let safe = redact(text)
  for (let round = 0; round < mostRounds; round += 1) {
    const left = yield* undisguised(safe, redact)
    if (left === safe) break
    safe = left
  }
  return safe
}
