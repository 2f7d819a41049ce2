import fc from 'fast-check'
import test from 'ava'
import type { Json } from '../../../../../core/base/schema.js'
import type { ModelMessage, ToolResultPart } from '../../../../../plugins/execution/models/contract.js'
import { weigh, weighJson } from '../../../../../plugins/execution/engine/thread/weight.js'

const exact = (value: Json): number => Buffer.byteLength(JSON.stringify(value))

test('the weight of a value is that of its JSON in bytes, not in characters', (t) => {
  for (const value of ['', 'plain', '€'.repeat(1000), 'line\nquote"\u0000'.repeat(10), '\ud800'])
    t.is(weighJson(value), exact(value))
  for (const value of [{ '€€€€': ['€'.repeat(100), '\n'.repeat(100)] }, [['a', 'b'], { c: 'd' }]])
    t.true(weighJson(value) >= exact(value) && weighJson(value) < exact(value) + 20)
})

test('the weight of any text is that of its JSON', (t) => {
  const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(anyUnit).map((units) => units.join('')),
      ),
      (text) => weighJson(text) === exact(text),
    ),
    { numRuns: 2000 },
  )
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const text = String.fromCharCode(unit)
    if (weighJson(text) !== exact(text)) t.fail(`U+${unit.toString(16)}`)
  }
  t.pass()
})

test('what a conversation holds is weighed once, however often it is looked at', (t) => {
  let looks = 0
  const output = {
    get content() {
      looks += 1
      return 'line\n'.repeat(1000)
    },
  }
  const weighed = weighJson(output)
  const result: ToolResultPart = { type: 'tool_result', tool_call_id: 'c1', name: 'read', output, is_error: false }
  weighJson(result)
  const message: ModelMessage = { role: 'tool', content: [result] }
  t.is(weigh(message), 32 + weighed)
  for (let step = 0; step < 10; step += 1) weigh(message)
  t.is(looks, 1)
})
