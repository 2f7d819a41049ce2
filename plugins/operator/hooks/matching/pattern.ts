/**
 * Regular expressions of bounded cost. All ways through a pattern are followed at once, so that no character of a
 * subject is looked at again: the cost is that of the subject's length times the pattern's size. References and looks
 * aside cannot be said so.
 */

/** Whether a pattern is the whole of a subject. */
export type Pattern = (subject: string) => boolean

type Char = string | undefined
/** What a pattern is made of, and what it is run as. */
type Part =
  | { readonly is: 'one'; readonly fits: (char: string) => boolean }
  | { readonly is: 'place'; readonly fits: (before: Char, after: Char) => boolean }
type Node =
  | Part
  | { readonly is: 'row'; readonly of: readonly Node[] }
  | { readonly is: 'choice'; readonly of: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly least: number; readonly most: number }
interface Fork {
  readonly is: 'fork'
  to: readonly number[]
}
type Step = Part | Fork | { readonly is: 'end' }

/** Steps of a pattern at most, with every repetition counted as often as it stands for. */
const mostSteps = 1_000
/** Repetitions in repetitions at most. */
const mostNested = 50

/** Why a pattern cannot be, as the end of a sentence. */
class Unfit extends Error {}

const unit = /\\(?:u\{[^}]*\}|u[^]{4}|x[^]{2}|[pP]\{[^}]*\}|c[^]|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/uy
const repetition = /(?:[*+?]|\{(?<least>\d+)(?<open>,(?<most>\d*))?\})\??/uy
const opening = /\((?:\?:|\?<[^=!>]+>)?/uy

const isWord = (char: Char): boolean => char !== undefined && /^\w$/u.test(char)
const places: Readonly<Record<string, (before: Char, after: Char) => boolean>> = {
  '^': (before) => before === undefined,
  $: (_before, after) => after === undefined,
  '\\b': (before, after) => isWord(before) !== isWord(after),
  '\\B': (before, after) => isWord(before) === isWord(after),
}

const partOf = (source: string): Part => {
  const place = Object.hasOwn(places, source) ? places[source] : undefined
  if (place !== undefined) return { is: 'place', fits: place }
  if (/^\\[1-9k]/u.test(source)) throw new Unfit('may hold no references.')
  if (!/^[.\\[]/u.test(source)) return { is: 'one', fits: (char) => char === source }
  const one = new RegExp(`^${source}$`, 'u')
  return { is: 'one', fits: (char) => one.test(char) }
}

const timesOf = (text: string, { least, open, most }: Readonly<Record<string, string | undefined>>) => {
  if (least === undefined) return { least: text.startsWith('+') ? 1 : 0, most: text.startsWith('?') ? 1 : Infinity }
  return { least: Number(least), most: open === undefined ? Number(least) : most ? Number(most) : Infinity }
}

/** Reads a text that is a regular expression. */
const read = (text: string): Node => {
  let at = 0
  const take = (what: RegExp): RegExpExecArray | undefined => {
    what.lastIndex = at
    const found = what.exec(text) ?? undefined
    if (found !== undefined) at = what.lastIndex
    return found
  }
  const choice = (depth: number): Node => {
    if (depth > mostNested) throw new Unfit(`may nest groups ${mostNested} deep at most.`)
    const of = [row(depth)]
    for (; text[at] === '|'; of.push(row(depth))) at += 1
    return { is: 'choice', of }
  }
  const row = (depth: number): Node => {
    const of: Node[] = []
    while (at < text.length && text[at] !== '|' && text[at] !== ')') of.push(repeated(depth))
    return { is: 'row', of }
  }
  const repeated = (depth: number): Node => {
    const of = text[at] === '(' ? group(depth) : partOf(take(unit)?.[0] ?? '')
    const times = take(repetition)
    return times === undefined ? of : { is: 'repeat', of, ...timesOf(times[0], times.groups ?? {}) }
  }
  const group = (depth: number): Node => {
    take(opening)
    if (text[at] === '?') throw new Unfit('may hold no looks ahead or behind.')
    const of = choice(depth + 1)
    at += 1
    return of
  }
  return choice(0)
}

/** Steps that are run one after the other, but for forks. */
const stepsOf = (whole: Node): readonly Step[] => {
  const steps: Step[] = []
  let looked = 0
  const fork = (): Fork => {
    const made: Fork = { is: 'fork', to: [] }
    steps.push(made)
    return made
  }
  const choose = (of: readonly Node[]): void => {
    const start = fork()
    const [to, ends]: [number[], Fork[]] = [[], []]
    for (const one of of) {
      to.push(steps.length)
      add(one)
      ends.push(fork())
    }
    start.to = to
    for (const end of ends) end.to = [steps.length]
  }
  const repeat = (of: Node, least: number, most: number): void => {
    for (let n = 0; n < least; n += 1) add(of)
    const skips: Fork[] = []
    const first = steps.length
    for (let more = most === Infinity ? 1 : most - least; more > 0; more -= 1) {
      const start = fork()
      start.to = [steps.length]
      skips.push(start)
      add(of)
    }
    if (most === Infinity) fork().to = [first]
    for (const skip of skips) skip.to = [...skip.to, steps.length]
  }
  const add = (node: Node): void => {
    looked += 1
    if (looked > mostSteps) throw new Unfit('is too large, with its repetitions.')
    if (node.is === 'one' || node.is === 'place') steps.push(node)
    else if (node.is === 'row') node.of.forEach(add)
    else if (node.is === 'choice') choose(node.of)
    else repeat(node.of, node.least, node.most)
  }
  add(whole)
  return [...steps, { is: 'end' }]
}

/** Steps that wait for a character, or are the end, from these on. */
const reach = (steps: readonly Step[], from: readonly number[], [before, after]: readonly [Char, Char]): number[] => {
  const [seen, waiting] = [new Set<number>(), from.toReversed()]
  const found: number[] = []
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const step = steps[at]
    if (step === undefined || seen.has(at)) continue
    seen.add(at)
    if (step.is === 'fork') waiting.push(...step.to)
    else if (step.is !== 'place') found.push(at)
    else if (step.fits(before, after)) waiting.push(at + 1)
  }
  return found
}

const run = (steps: readonly Step[], subject: string): boolean => {
  const chars = [...subject]
  let now = reach(steps, [0], [undefined, chars[0]])
  for (const [index, char] of chars.entries()) {
    const passed = now.filter((at) => {
      const step = steps[at]
      return step?.is === 'one' && step.fits(char)
    })
    if (passed.length === 0) return false
    const next = passed.map((at) => at + 1)
    now = reach(steps, next, [char, chars[index + 1]])
  }
  return now.some((at) => steps[at]?.is === 'end')
}

/** The pattern that a text says, or why it cannot be, as the end of a sentence. */
export const patternOf = (text: string): Pattern | string => {
  try {
    // What is none is told by the engine that knows all of the syntax; it looks at the text alone.
    if (!(new RegExp(text, 'u') instanceof RegExp)) return 'is no regular expression.'
    const steps = stepsOf(read(text))
    return (subject) => run(steps, subject)
  } catch (error) {
    return error instanceof Unfit ? error.message : 'is no regular expression.'
  }
}
