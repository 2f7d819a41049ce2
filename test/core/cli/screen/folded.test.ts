/** Text of others in lines that a terminal need not fold. */
import test from 'ava'
import { folded, foldedBlock, widthOf } from '../../../../core/cli/screen/folded.js'

test('floor-20: lines end between words, and the rest of one stands in', (t) => {
  t.is(folded('one two three', 20), 'one two three')
  t.is(folded('one two three four', 9), 'one two\n    three\n    four')
  t.is(folded('  in the thread', 10, 2), '  in the\n  thread')
  t.is(folded('a abcdefghijkl', 6, 2), 'a\n  abcd\n  efgh\n  ijkl')
  t.is(folded('', 10), '')
})

test('floor-20: wide signs take two columns, and marks none', (t) => {
  t.deepEqual(['abc', '語', 'e\u0301', '👍', 'ｆ', '한'].map(widthOf), [3, 2, 1, 2, 2, 2])
  t.is(folded('語語語語', 6, 2), '語語語\n  語')
})

test('floor-20: no line of a message is wider than the terminal or begins at its edge', (t) => {
  const padded = `hm${' '.repeat(76)}${'2026-01-01T00:00:00Z  Ann'.padEnd(80)}${'  I approve.'.padEnd(80)}ann has the floor`
  const texts = [
    padded,
    `\t${'\tx'.repeat(100)}`,
    '\u00a0'.repeat(300),
    '語'.repeat(300),
    '👍'.repeat(300),
    `${' '.repeat(200)}x`,
    'x'.repeat(500),
    'a\r\nb\rc\u001b[2Jd',
  ]
  for (const columns of [4, 20, 80])
    for (const text of texts)
      for (const line of foldedBlock(text, columns).split('\n')) {
        t.true(widthOf(line) <= columns, line)
        t.true(line === '' || line.startsWith('  '), line)
        t.false(line.includes('\t') || line.includes('\u001b'), line)
      }
})
