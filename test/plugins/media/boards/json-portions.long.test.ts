/** JSON of boards, read in portions; docs/rules/boards.md. */
import test from 'ava'
import type { Json, Portions } from '../../../../core/plugin.js'
import { marksIn } from '../../../../plugins/media/boards/drawing/scene.js'
import { readJson } from '../../../../plugins/media/boards/record/json-portions.js'
import { parseState } from '../../../../plugins/media/boards/record/state.js'

/** What work gives, and in how many portions. */
const done = <T>(work: Portions<T>): { readonly value: T; readonly portions: number } => {
  for (let portions = 1; ; portions += 1) {
    const step = work.next()
    if (step.done === true) return { value: step.value, portions }
  }
}
const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() }
  } catch {
    return 'no JSON'
  }
}

/** The same numbers each time. */
const createDice = (seed: number) => {
  let at = seed
  return (most: number): number => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((at / 2_147_483_648) * most)
  }
}
const texts = ['', 'a', '"', '\\', '\\"', '\\\\"', '[', '}', ',', ':', '__proto__', 'é\u2028', 'x'.repeat(40_000)]
const valueOf = (dice: (most: number) => number, depth: number): Json => {
  const text = (): string => texts[dice(texts.length)] ?? ''
  const kind = dice(depth > 0 ? 7 : 4)
  if (kind === 0) return dice(2) === 0
  if (kind === 1) return dice(1_000_000) - 500_000
  if (kind === 2) return null
  if (kind === 3) return text()
  const inner = Array.from({ length: dice(8) }, () => valueOf(dice, depth - 1))
  return kind < 6
    ? inner
    : JSON.parse(
        `{${inner.map((one, n) => `${JSON.stringify(`${n % 3}${text()}`)}:${JSON.stringify(one)}`).join(',')}}`,
      )
}

test('boards-16: what is read in portions is what is read at once, also where it is no JSON', (t) => {
  const dice = createDice(7)
  let long = 0
  for (let round = 0; round < 400; round += 1) {
    const space = dice(2) === 0 ? 0 : 1
    const text = JSON.stringify([valueOf(dice, 5), valueOf(dice, 5), valueOf(dice, 5)], null, space)
    const signs = ['', ',', '"', '}', ']', '[', ':', '\\', ' ']
    const at = dice(text.length)
    const broken = text.slice(0, at) + (signs[dice(signs.length)] ?? '') + text.slice(at + dice(2))
    for (const one of [text, broken]) {
      const { portions } = outcome(() => done(readJson(one))) === 'no JSON' ? { portions: 0 } : done(readJson(one))
      if (portions > 1) long += 1
      t.deepEqual(
        outcome(() => done(readJson(one)).value),
        outcome(() => JSON.parse(one)),
        `round ${round}`,
      )
    }
  }
  t.true(long > 100, `${long} were long`)
  for (const open of ['[', '{'])
    for (const rest of [' '.repeat(70_000), `${' '.repeat(70_000)},`, `"a",${' '.repeat(70_000)}`])
      for (const close of [']', '}', ''])
        t.deepEqual(
          outcome(() => done(readJson(open + rest + close)).value),
          outcome(() => JSON.parse(open + rest + close)),
          `${open} ${close}`,
        )
  const own = `{"__proto__":{"a":1},"b":"${'x'.repeat(70_000)}","__proto__":{"a":2}}`
  t.deepEqual(Object.entries(done(readJson(own)).value ?? {}), Object.entries(JSON.parse(own)))
})

test('boards-16: others are served while a state is read, and while its elements are', (t) => {
  const path = { kind: 'path', points: Array.from({ length: 400 }, () => [1.5, 2.5]) }
  const text = JSON.stringify({ schema_version: 1, elements: Array.from({ length: 240 }, () => path) })
  const read = done(parseState(text))
  t.true(read.portions > 20, `${read.portions} portions`)
  if (!read.value.ok) return t.fail()
  t.deepEqual(read.value.value, JSON.parse(text))
  const marks = done(marksIn(read.value.value))
  t.is(marks.value.length, 240)
  t.true(marks.portions >= 4)
})
