/** Replaces what a pattern finds in a text of any length, in portions. */
import type { Portions } from '../../turns.js'

export interface Shape {
  /** Global; never matches nothing. Looks at most sixty characters back and, while it has no match, 8,000 ahead. */
  readonly pattern: RegExp
  /** What stands there instead of a match; its groups follow it. */
  readonly instead: (found: string, ...groups: readonly unknown[]) => string
}

/** Characters that are searched in one go, and those that are seen before and after them. */
const [portion, behind, ahead] = [64 * 1024, 64, 8 * 1024]

interface Window {
  readonly begin: number
  readonly end: number
  /** A match begins from `at` on and before `stop`. */
  readonly at: number
  readonly stop: number
}

const windowAt = (text: string, at: number, reach: number): Window => ({
  at,
  begin: Math.max(0, at - behind),
  stop: Math.min(text.length, at + portion),
  end: Math.min(text.length, at + portion + reach),
})

/** Matches that begin in the window, placed in the text. */
function* matchesIn(text: string, pattern: RegExp, { begin, end, at, stop }: Window): Generator<RegExpExecArray> {
  const seen = text.slice(begin, end)
  pattern.lastIndex = at - begin
  for (let found = pattern.exec(seen); found !== null; found = pattern.exec(seen)) {
    found.index += begin
    if (found.index >= stop) return
    yield found
  }
}

/** Most texts have nothing to replace, and only looking makes no list of what was found. */
const replaced = (text: string, { pattern, instead }: Shape): string => {
  pattern.lastIndex = 0
  return pattern.test(text) ? text.replace(pattern, instead) : text
}

/** A match that ends where the window ends may go on behind it: it is looked at again in a longer one. */
export function* replacing(text: string, shape: Shape): Portions<string> {
  if (text.length <= portion) return replaced(text, shape)
  const { pattern, instead } = shape
  let [made, copied, at, reach] = ['', 0, 0, ahead]
  while (at < text.length) {
    const window = windowAt(text, at, reach)
    let next = window.stop
    reach = ahead
    for (const found of matchesIn(text, pattern, window)) {
      const end = found.index + found[0].length
      if (end === window.end && end < text.length) {
        next = found.index
        reach = (window.end - window.at) * 2
        break
      }
      made += text.slice(copied, found.index) + instead(found[0], ...found.slice(1))
      copied = end
      next = Math.max(window.stop, end)
    }
    at = next
    yield
  }
  return made + text.slice(copied)
}

export function* replacingAll(text: string, shapes: readonly Shape[]): Portions<string> {
  let left = text
  for (const shape of shapes) left = left.length <= portion ? replaced(left, shape) : yield* replacing(left, shape)
  return left
}
