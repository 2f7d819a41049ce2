import test from 'ava'
import { defineErrors, redactedAction } from '../../../core/base/errors.js'

const errors = defineErrors({ too_long: { status: 400, detail: 'It says {what}.' } })

test('http-6: an action has the ids that its details have, in paths as addresses and in command lines as words', (t) => {
  const table = defineErrors({
    gone: {
      status: 409,
      detail: 'It is now {next}.',
      action: 'Ask POST /v1/things/{next}/parts/{part_id}, or holdfast things get {next} {part_id}.',
    },
  })
  const told = (details: Record<string, string>) => table.gone({ details }).action
  t.is(told({ next: 'a1', part_id: 'p' }), 'Ask POST /v1/things/a1/parts/p, or holdfast things get a1 p.')
  t.is(
    told({ next: "it's {part_id} ü/.-", part_id: '-p' }),
    'Ask POST /v1/things/it%27s%20%7Bpart_id%7D%20%C3%BC%2F%2E%2D/parts/-p, or holdfast things get NEXT PART_ID.',
  )
  t.is(
    told({ next: 'x'.repeat(201) }),
    'Ask POST /v1/things/{next}/parts/{part_id}, or holdfast things get NEXT PART_ID.',
  )
  const redact = (text: string): string => text.replaceAll('s3.cret', '[redacted]')
  const problem = table.gone({ details: { next: 'as3.cret', part_id: 'p' } })
  t.is(redactedAction(problem, redact), 'Ask POST /v1/things/{next}/parts/p, or holdfast things get NEXT p.')
  t.is(told({ next: '\ud800' }), 'Ask POST /v1/things/{next}/parts/{part_id}, or holdfast things get NEXT PART_ID.')
})

test('http-6: a detail with an end of its own gets no second one', (t) => {
  const told = (what: string): string => errors.too_long({ details: { what } }).message
  t.deepEqual(['no', 'no.', 'no; did you mean yes?'].map(told), [
    'It says no.',
    'It says no.',
    'It says no; did you mean yes?',
  ])
})

test('http-6: a detail that is cut says so', (t) => {
  const told = (length: number): string => errors.too_long({ details: { what: 'x'.repeat(length) } }).message
  t.is(told(300), `It says ${'x'.repeat(300)}.`)
  t.is(told(301), `It says ${'x'.repeat(299)}….`)
})

test('http-6: an action has the path that its details have where a shell takes it as it stands, else what it is called', (t) => {
  const table = defineErrors({ open: { status: 400, detail: 'Open.', action: 'Close it: chmod 700 {path}' } })
  const told = (path: string) => table.open({ details: { path } }).action
  t.is(told('/var/lib/hold-fast_1.d'), 'Close it: chmod 700 /var/lib/hold-fast_1.d')
  for (const path of ['/a b', '/a;b', '/-rf/', '/a/$x', '/']) t.is(told(path), 'Close it: chmod 700 PATH', path)
})
