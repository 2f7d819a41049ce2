import test from 'ava'
import fc from 'fast-check'
import { visible, visibleBlock, visibleLine } from '../../../../core/base/text/visible.js'

test('what steers a terminal or is not seen is shown as its number', (t) => {
  t.is(visible('\u001b]52;c;eA==\u0007'), '\\u001b]52;c;eA==\\u0007')
  t.is(visible('a\u009b31m\u007f\b\r'), 'a\\u009b31m\\u007f\\u0008\\u000d')
  t.is(visible('rm \u202egpj.x\u2066'), 'rm \\u202egpj.x\\u2066')
  t.is(visible('a\u2028b\u2029c\u0085\ufeff\u200b'), 'a\\u2028b\\u2029c\\u0085\\ufeff\\u200b')
  t.is(visible('half \ud83d'), 'half \\ud83d')
  t.is(visible('\u{e0041}'), '\\udb40\\udc41')
})

test('joiners stay in emoji and in scripts that are written with them, and are shown elsewhere', (t) => {
  for (const text of ['❤️‍🔥 👩‍💻', 'می‌خواهم', 'grüße, 日本語, ⚠️']) t.is(visible(text), text)
  t.is(visible('rm\u200d -rf\ufe0f'), 'rm\\u200d -rf\\ufe0f')
})

test('lines and tabs stay in a block; in a line they are shown, so that a value cannot begin a line', (t) => {
  t.is(visible('a\r\nb\tc\n'), 'a\nb\tc\n')
  t.is(visibleLine('a\r\nb\tc\n'), 'a\\nb\\tc\\n')
  t.is(visibleBlock('a\nb\u001b', 2), 'a\n  b\\u001b')
})

test('a JSON text keeps its meaning, and nothing is escaped twice', (t) => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
      t.deepEqual(JSON.parse(visible(text)), JSON.parse(text))
      t.is(visible(visible(text)), visible(text))
    }),
  )
})
