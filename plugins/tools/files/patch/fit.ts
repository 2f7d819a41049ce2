/**
 * Where the hunks of a patch fit into a text, and the text with them. A hunk must fit at one place: what stays of the
 * file is kept byte for byte, and what comes ends its lines as its neighbours do.
 */
import type { Portions } from '../../../../core/plugin.js'
import { patchErrors } from './errors.js'
import { endAt, lineAt, numberLines, portion, rawLine, splitText, type Lines } from './lines.js'
import type { Hunk, HunkLine } from './parse.js'
import { findNumbers, type Finds } from './search.js'

/** Throws `hunk_not_found`, `hunk_ambiguous` or `hunk_out_of_order`. */
export function* applyHunks(original: string, hunks: readonly Hunk[], path: string): Portions<string> {
  const mark = original.startsWith('\uFEFF') ? '\uFEFF' : ''
  const lines = yield* splitText(original.slice(mark.length))
  const sight = { lines, path, views: createViews(lines, hunks) }
  const pieces: string[] = [mark]
  let from = 0
  for (const [n, hunk] of hunks.entries()) {
    const fit = yield* fitHunk({ ...sight, hunk, number: n + 1, from })
    pieces.push(lines.text.slice(lines.starts[from], lines.starts[fit.at]), ...changed(lines, fit))
    from = fit.at + fit.lines.filter(isOld).length
  }
  pieces.push(lines.text.slice(lines.starts[from]))
  const made = pieces.join('')
  return lines.added !== undefined && made.endsWith(lines.added) ? made.slice(0, -lines.added.length) : made
}

const isOld = ({ kind }: HunkLine): boolean => kind !== '+'

interface Fit {
  readonly at: number
  readonly lines: readonly HunkLine[]
}

const changed = (lines: Lines, { at, lines: hunk }: Fit): string[] => {
  const pieces: string[] = []
  let line = at
  for (const { kind, text } of hunk) {
    if (kind === '+') pieces.push(text + endAt(lines, line))
    else {
      if (kind === ' ') pieces.push(rawLine(lines, line))
      line += 1
    }
  }
  return pieces
}

/** In which way two lines are the same. */
const likenesses = {
  exact: (line: string) => line,
  loose: (line: string) => line.trimEnd(),
  bare: (line: string) => line.trim(),
} as const
type Likeness = keyof typeof likenesses

/** The lines of a file as numbers, in one likeness. */
interface View {
  readonly row: Int32Array
  readonly numberOf: (line: string) => number
}
type Views = (likeness: Likeness) => Portions<View>

/** A view is made when it is first needed, for all hunks together. */
const createViews = (lines: Lines, hunks: readonly Hunk[]): Views => {
  const made = new Map<Likeness, View>()
  const wanted = hunks.flatMap((hunk) => [...hunk.anchors, ...hunk.lines.filter(isOld).map(({ text }) => text)])
  return function* (likeness) {
    const known = made.get(likeness)
    if (known !== undefined) return known
    const same = likenesses[likeness]
    const numbers = new Map<string, number>()
    for (const line of wanted) if (!numbers.has(same(line))) numbers.set(same(line), numbers.size + 1)
    const row = yield* numberLines(lines, numbers, same)
    const view = { row, numberOf: (line: string) => numbers.get(same(line)) ?? 0 }
    made.set(likeness, view)
    return view
  }
}

interface Search {
  readonly lines: Lines
  readonly path: string
  readonly views: Views
  readonly hunk: Hunk
  /** Counted from 1. */
  readonly number: number
  /** The first line that no hunk before it has used. */
  readonly from: number
}

function* fitHunk(search: Search): Portions<Fit> {
  const { hunk, lines, path, number: n } = search
  const ends = yield* anchorEnds(search)
  for (const wanted of readings(hunk)) {
    for (const likeness of ['exact', 'loose'] as const) {
      const finds = yield* find(search, wanted, likeness)
      const [at, second] = placesUnder(search, finds.places, ends)
      if (second !== undefined)
        throw patchErrors.hunk_ambiguous({
          details: { hunk: n, path, first: Number(at) + 1, second: second + 1 },
        })
      if (at !== undefined) return { at: Math.min(at, lines.count), lines: wanted }
    }
  }
  throw yield* misfit(search)
}

/** The hunk as it stands, then without what may only part its section from the next. */
const readings = ({ lines, blank }: Hunk): (readonly HunkLine[])[] =>
  blank === 0 || blank === lines.length ? [lines] : [lines, lines.slice(0, -blank)]

const oldTexts = (lines: readonly HunkLine[]): string[] => lines.filter(isOld).map(({ text }) => text)

/** Places where lines that come only may be put: any that an anchor names, else the end. */
function* find(search: Search, wanted: readonly HunkLine[], likeness: Likeness): Portions<Finds> {
  const { lines, hunk, from } = search
  const texts = oldTexts(wanted)
  if (texts.length === 0) {
    const ends = hunk.atEnd ? [] : ((yield* anchorEnds(search)) ?? [])
    const places = ends.length > 0 ? ends.map((end) => end + 1).filter((at) => at >= from) : [lines.count]
    return { places, longest: 0, longestEnd: from }
  }
  const { row, numberOf } = yield* search.views(likeness)
  const finds = yield* findNumbers(row, Int32Array.from(texts, numberOf), from)
  return hunk.atEnd ? { ...finds, places: finds.places.filter((at) => at === lines.count - texts.length) } : finds
}

/** The first place at or below each line that the anchors lead to; each place once. */
const placesUnder = (
  { hunk }: Search,
  places: readonly number[],
  ends: readonly number[] | undefined,
): readonly number[] => {
  if (ends === undefined || hunk.atEnd) return places
  return unique(ends.flatMap((end) => firstFrom(places, end) ?? []))
}

const unique = (sorted: readonly number[]): number[] => sorted.filter((value, n) => value !== sorted[n - 1])

/** The first of sorted numbers that is not below a bound. */
const firstFrom = (sorted: readonly number[], bound: number): number | undefined => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) < bound) low = middle + 1
    else high = middle
  }
  return sorted[low]
}

/** Lines that the last anchor stands on, below one another as the anchors are; undefined without anchors. */
function* anchorEnds({ hunk, views }: Search): Portions<readonly number[] | undefined> {
  if (hunk.anchors.length === 0) return undefined
  const view = yield* views('bare')
  let ends: readonly number[] | undefined
  for (const anchor of hunk.anchors) {
    const { places } = yield* findNumbers(view.row, Int32Array.of(view.numberOf(anchor)), 0)
    ends = ends === undefined ? places : unique(ends.flatMap((end) => firstFrom(places, end + 1) ?? []))
  }
  return ends
}

/** Why a hunk has no place, and what is nearest to it. */
function* misfit(search: Search): Portions<ReturnType<typeof patchErrors.hunk_not_found>> {
  const { hunk, path, number: n, from } = search
  const details = { hunk: n, path }
  const ends = yield* anchorEnds(search)
  const anchor = ends?.length === 0 ? hunk.anchors.at(-1) : undefined
  if (anchor !== undefined) return yield* nearestTo(search, anchor)
  const wanted = readings(hunk).at(-1) ?? []
  const earlier = yield* find({ ...search, from: 0 }, wanted, 'loose')
  const [line] = earlier.places
  if (line !== undefined && line < from)
    return patchErrors.hunk_out_of_order({ details: { ...details, line: line + 1 } })
  const { longest, longestEnd } = yield* find(search, wanted, 'loose')
  const text = oldTexts(wanted)[longest] ?? oldTexts(wanted)[0] ?? ''
  return longest === 0 ? yield* nearestTo(search, text) : notFound(search, text, longestEnd)
}

const notFound = ({ lines, path, number: n }: Search, wanted: string, line: number) =>
  patchErrors.hunk_not_found({
    details: {
      hunk: n,
      path,
      wanted: JSON.stringify(wanted),
      line: Math.min(line, lines.count) + 1,
      found: line < lines.count ? JSON.stringify(lineAt(lines, line)) : 'its end',
    },
  })

/** The line that begins and ends most like the one that is wanted. */
function* nearestTo(search: Search, wanted: string): Portions<ReturnType<typeof patchErrors.hunk_not_found>> {
  const { lines, from } = search
  const text = wanted.trim()
  let [best, most] = [from, 0]
  for (let line = from; line < lines.count; line += 1) {
    const alike = shareOf(lineAt(lines, line).trim(), text)
    if (alike > most) [best, most] = [line, alike]
    if ((line + 1) % portion === 0) yield
  }
  return notFound(search, wanted, best)
}

/** The part of two lines that is the same at their beginnings and ends. */
const shareOf = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length)
  let [head, tail] = [0, 0]
  while (head < most && a[head] === b[head]) head += 1
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1
  return (head + tail) / Math.max(a.length, b.length, 1)
}
