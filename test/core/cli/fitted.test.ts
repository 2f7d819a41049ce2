/** Blocks of text that are written in place fit the terminal. */
import test from 'ava'
import { fitted } from '../../../core/cli/terminal.js'

test('a block has no line wider than the terminal, no more lines than it shows, and no signs that move it', (t) => {
  const size = { rows: 5, columns: 8 }
  t.deepEqual(fitted('a\nb', size), ['a', 'b'])
  t.deepEqual(fitted('0123456789', size), ['0123456'])
  t.deepEqual(fitted('1\n2\n3\n4\n5\n6', size), ['1', '2', '3', '… 3 more lines'])
  t.false(fitted('a\u001b[2Jb', { rows: 5, columns: 80 }).join('').includes('\u001b'))
})
