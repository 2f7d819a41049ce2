/** Where hand-written JSON is wrong. */
import test from 'ava'
import { jsonFault } from '../../../../core/base/text/json-fault.js'

test('the first place that does not fit is told with what could stand there', (t) => {
  const cases: [string, number, number, string][] = [
    ['', 1, 1, 'a value'],
    ['{"a":}', 1, 6, 'a value'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma, or }'],
    ['[1, 2,]', 1, 7, 'a value'],
    ['{"a": 1,}', 1, 9, 'a name in quotes'],
    ["{'a': 1}", 1, 2, 'a name in quotes, or }'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['[1 2]', 1, 4, 'a comma, or ]'],
    ['[}', 1, 2, 'a value, or ]'],
    ['{} x', 1, 4, 'nothing more'],
    ['{"a": "b', 1, 7, 'a value'],
    ['[01]', 1, 2, 'a value, or ]'],
    ['[true', 1, 6, 'a comma, or ]'],
  ]
  for (const [text, line, column, wanted] of cases) t.deepEqual(jsonFault(text), { line, column, wanted }, text)
})

test('a text has a fault exactly where it is no JSON', (t) => {
  const signs = ['{', '}', '[', ']', ',', ':', '"a"', '1', '-0.5e3', 'null', ' ', '\n', 'x', '"\\u00e9"', '"\\x"']
  let state = 7
  const next = (most: number): number => (state = (state * 48_271) % 2_147_483_647) % most
  let valid = 0
  for (let n = 0; n < 20_000; n += 1) {
    const text = Array.from({ length: 1 + next(7) }, () => signs[next(signs.length)] ?? '').join('')
    let isJson = true
    try {
      JSON.parse(text)
      valid += 1
    } catch {
      isJson = false
    }
    t.is(jsonFault(text) === undefined, isJson, JSON.stringify(text))
  }
  t.true(valid > 500, String(valid))
})
