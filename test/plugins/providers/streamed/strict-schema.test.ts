import test from 'ava'
import { isStrictSchema } from '../../../../plugins/providers/streamed/contract.js'
import { judgeSchema } from '../../../../plugins/coordination/learning-review/envelope.js'
import { captureSchema } from '../../../../plugins/coordination/learning-review/extract.js'

const text = { type: 'string' }
const whole = { type: 'object', properties: { a: text }, required: ['a'], additionalProperties: false }

test('models-77: a schema is asked for as strict where each object of it requires all it has and takes nothing else', (t) => {
  for (const schema of [
    text,
    whole,
    { type: 'object', properties: {}, additionalProperties: false },
    { ...whole, properties: { a: { type: 'array', items: whole } } },
    { ...whole, properties: { a: { anyOf: [whole, { type: 'null' }] } }, $defs: { b: whole } },
  ])
    t.true(isStrictSchema(schema), JSON.stringify(schema))
  const open = { type: 'object', properties: { a: text }, required: ['a'] }
  for (const schema of [
    open,
    { ...whole, required: [] },
    { ...open, additionalProperties: true },
    { properties: { a: text } },
    { type: ['object', 'null'] },
    { ...whole, properties: { a: { type: 'array', items: open } } },
    { ...whole, properties: { a: { anyOf: [whole, open] } } },
    { ...whole, $defs: { b: open } },
  ])
    t.false(isStrictSchema(schema), JSON.stringify(schema))
})

test('models-77, learning-review-13: the schema of a judge is a strict one, and what runs teach is asked for without surplus members', (t) => {
  t.true(isStrictSchema(judgeSchema))
  const capture: any = captureSchema(2)
  t.false(isStrictSchema(capture))
  t.is(capture.additionalProperties, false)
  t.is(capture.properties.candidate_2.additionalProperties, false)
})
