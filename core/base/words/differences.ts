/** What of a text was redacted, told by how it was before. */
import type { Span } from './reading.js'

export interface Difference {
  readonly span: Span
  /** What stands there instead. */
  readonly mark: string
}

const marks = /\[redacted\]|<redacted>/gu

const sharedBegin = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length)
  let shared = 0
  while (shared < most && a.charCodeAt(shared) === b.charCodeAt(shared)) shared += 1
  return shared
}
const sharedEnd = (a: string, b: string, most: number): number => {
  let shared = 0
  while (shared < most && a.charCodeAt(a.length - 1 - shared) === b.charCodeAt(b.length - 1 - shared)) shared += 1
  return shared
}
/** All between the first and the last sign that are not as they were. */
const whole = (text: string, safe: string): Difference => {
  const begin = sharedBegin(text, safe)
  const end = sharedEnd(text, safe, Math.min(text.length, safe.length) - begin)
  return { span: [begin, text.length - end], mark: safe.slice(begin, safe.length - end) }
}

interface Redacted {
  /** What stayed, and the marks between. */
  readonly parts: readonly string[]
  readonly instead: readonly string[]
}
/** Where each part may begin. A mark that stood there before tells so: behind a row of them it is `sure`. */
interface Places {
  readonly places: readonly number[]
  /** The last part of such a row. */
  readonly sure: number
}
/** As early as they may; undefined if they do not stand there. */
const earliest = (text: string, { parts, instead }: Redacted): Places | undefined => {
  const places: number[] = []
  let [behind, sure] = [0, 0]
  for (const [at, part] of parts.entries()) {
    const mark = instead[at - 1] ?? ''
    const isMarked = text.startsWith(mark + part, behind)
    const place = isMarked ? behind + mark.length : text.indexOf(part, behind + 1)
    if (place < 0) return undefined
    if (isMarked && sure === at - 1) sure = at
    places.push(place)
    behind = place + part.length
  }
  return { places, sure }
}
/** As late as they may. */
const latest = (text: string, { parts, instead }: Redacted): Places => {
  const places: number[] = []
  let [before, sure] = [text.length, parts.length]
  for (let at = parts.length - 1; at >= 0; at -= 1) {
    const [part = '', mark = ''] = [parts[at], instead[at]]
    const place = before - mark.length - part.length
    const isMarked = text.startsWith(part + mark, place)
    before = isMarked ? place : text.lastIndexOf(part, before - 1 - part.length)
    if (isMarked && sure === at + 1) sure = at
    places.push(before)
  }
  return { places: places.reverse(), sure }
}

/** In order. A part that stayed is told from the rest only where it can stand in one place: nothing secret is left. */
export const differences = (text: string, safe: string): readonly Difference[] => {
  const redacted: Redacted = { parts: safe.split(marks), instead: safe.match(marks) ?? [] }
  const { parts, instead } = redacted
  const early = earliest(text, redacted)
  if (early === undefined || !text.startsWith(parts[0] ?? '') || !text.endsWith(parts.at(-1) ?? ''))
    return [whole(text, safe)]
  const late = latest(text, redacted)
  const found: Difference[] = []
  let [begin, mark] = [parts[0]?.length ?? 0, instead[0] ?? '']
  for (const [at, part] of parts.entries()) {
    const [first = 0, last = 0] = [early.places[at], late.places[at]]
    const isSure = first === last || at <= early.sure || at >= late.sure
    if (at === 0 || !isSure) continue
    const end = at <= early.sure ? first : last
    if (text.slice(begin, end) !== mark) found.push({ span: [begin, end], mark })
    begin = end + part.length
    mark = instead[at] ?? ''
  }
  return found
}
