import test from 'ava'
import { defineErrors } from '../../../core/base/errors.js'

const errors = defineErrors({ too_long: { status: 400, detail: 'It says {what}.' } })

test('http-6: a detail that is cut says so', (t) => {
  const told = (length: number): string => errors.too_long({ details: { what: 'x'.repeat(length) } }).message
  t.is(told(200), `It says ${'x'.repeat(200)}.`)
  t.is(told(201), `It says ${'x'.repeat(199)}….`)
})
