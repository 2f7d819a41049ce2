/** Blocks of text that are written in place of each other fit the terminal. */
import test from 'ava'
import { createRedraw, fitted } from '../../../../core/cli/screen/redraw.js'

const createSheet = (rows: number, columns: number) => {
  const written: string[] = []
  return { isTTY: true, rows, columns, written, write: (text: string) => written.push(text) }
}

/** Back over rows of a block, of which none is kept to be scrolled back to. */
const up = (rows: number): string => `\u001b[${rows}A\r\u001b[K\n\u001b[J\u001b[A`

test('command-line-24: a block has the rows of its terminal, whole commands, and no signs that move it', (t) => {
  const size = { rows: 5, columns: 8 }
  t.deepEqual(fitted('a\nb', size), ['a', 'b'])
  t.deepEqual(fitted('0123456789', size), ['0123456789'], 'the terminal folds it, so it can be copied')
  t.deepEqual(fitted('x'.repeat(1_000), size), ['x'.repeat(24)])
  t.deepEqual(fitted('1\n2\n3\n4\n5\n6', size), ['1', '2', '3', '… 3 more'])
  t.deepEqual(fitted('0123456789\n2\n3\n4', { rows: 5, columns: 20 }), ['0123456789', '2', '3', '4'])
  t.deepEqual(fitted('0123456789\n2\n3\n4', size), ['0123456789', '2', '… 2 more'])
  t.false(fitted('a\u001b[2Jb', { rows: 5, columns: 80 }).join('').includes('\u001b'))
})

test('command-line-24: the same block is written again where the terminal has another size', (t) => {
  const sheet = createSheet(10, 40)
  const redraw = createRedraw(sheet)
  redraw('0123456789\nb')
  redraw('0123456789\nb')
  t.deepEqual(sheet.written, ['0123456789\nb\n'])
  sheet.columns = 5
  redraw('0123456789\nb')
  t.is(sheet.written.at(-1), `${up(3)}0123456789\nb\n`, 'a narrower terminal has folded the first line')
  sheet.columns = 40
  redraw('0123456789\nb')
  t.is(sheet.written.at(-1), `${up(2)}0123456789\nb\n`, 'a wider one has unfolded it')
  sheet.columns = 20
  redraw('0123456789\nb')
  t.is(sheet.written.at(-1), `${up(2)}0123456789\nb\n`, 'no line is folded here or there')
  sheet.isTTY = false
  redraw('c')
  redraw('c')
  t.deepEqual(sheet.written.slice(4), ['c\n'])
})

test('command-line-24: what stays stands above the block, once, and a block that nobody reads along is not repeated', (t) => {
  const sheet = createSheet(10, 40)
  const redraw = createRedraw(sheet)
  redraw('a\nb', 'old\u001b[2J')
  const told = sheet.written.join('')
  t.true(told.startsWith('old') && told.endsWith('\na\nb\n'))
  t.false(told.includes('\u001b'), 'what it holds is no command to the terminal')
  redraw('a\nb', 'new')
  t.is(sheet.written.at(-1), `${up(2)}new\na\nb\n`)
  redraw('a\nb')
  t.is(sheet.written.length, 2)
  const plain = { ...createSheet(10, 40), isTTY: false }
  const print = createRedraw(plain)
  print('a', 'one')
  print('a', 'two')
  print('b')
  t.deepEqual(plain.written, ['one\na\n', 'two\n', 'b\n'])
})

test('command-line-24: what stays above has half of the rows from then on, and what would look the same is not drawn', (t) => {
  const sheet = createSheet(12, 40)
  const redraw = createRedraw(sheet)
  const block = (last: string): string => [...Array.from({ length: 19 }, (_, n) => `${n}`), last].join('\n')
  redraw(block('x'))
  t.true(sheet.written[0]?.endsWith('9\n… 10 more lines\n'))
  redraw(block('y'))
  t.is(sheet.written.length, 1, 'what changed is not shown')
  redraw(block('y'), 'said')
  t.is(sheet.written.at(-1), `${up(11)}said\n0\n1\n2\n3\n… 16 more lines\n`)
  redraw(block('z'))
  t.is(sheet.written.length, 2)
  redraw('a\nb')
  t.is(sheet.written.at(-1), `${up(5)}a\nb\n`)
  const low = createSheet(5, 40)
  createRedraw(low)(block('x'), 'said')
  t.deepEqual(low.written, ['said\n0\n1\n… 18 more lines\n'])
})

test('command-line-24: what has gone out of the screen above goes once it is back, and what was said below it stays', (t) => {
  const sheet = createSheet(10, 40)
  const redraw = createRedraw(sheet)
  redraw('0123456789abcdefghij0123456789\nb')
  Object.assign(sheet, { rows: 4, columns: 10 })
  redraw('c')
  t.is(sheet.written.at(-1), `${up(3)}\n\nc\n`, 'one row is out of reach')
  redraw('d', 'said')
  t.is(sheet.written.at(-1), `${up(1)}said\nd\n`)
  Object.assign(sheet, { rows: 10, columns: 40 })
  redraw('d')
  t.is(sheet.written.at(-1), `${up(5)}said\nd\n`)
  sheet.columns = 50
  redraw('e')
  t.is(sheet.written.at(-1), `${up(1)}e\n`)
})

test('command-line-24: signs that take two columns fill rows as they do on the terminal', (t) => {
  const sheet = createSheet(10, 40)
  const redraw = createRedraw(sheet)
  redraw('語'.repeat(10))
  sheet.columns = 5
  redraw('a')
  t.is(sheet.written.at(-1), `${up(5)}a\n`)
})

test('command-line-36: a block is drawn below what the shell wrote while the process was stopped', (t) => {
  const sheet = createSheet(10, 40)
  const acts: (() => void)[] = []
  const redraw = createRedraw(sheet, (act) => acts.push(act))
  redraw('a\nb')
  redraw('a\nc')
  t.is(acts.length, 1)
  acts[0]?.()
  t.is(sheet.written.at(-1), 'a\nc\n', 'nothing above is taken back')
  redraw('a\nd')
  t.is(sheet.written.at(-1), `${up(2)}a\nd\n`)
  t.is(acts.length, 2)
})
