import test from 'ava'
import { cutAtWord } from '../../../../core/base/text/command-text.js'

test('runtime-9: a text that is cut ends with a word and a mark', (t) => {
  t.is(cutAtWord('all of it', 9), 'all of it')
  t.is(cutAtWord('all of it is told', 13), 'all of it …')
  t.is(cutAtWord('x'.repeat(20), 10), `${'x'.repeat(8)} …`)
  t.is(cutAtWord(`${'x'.repeat(7)}😀${'x'.repeat(7)}`, 10), `${'x'.repeat(7)} …`)
})
