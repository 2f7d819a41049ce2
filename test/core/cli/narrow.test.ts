/** Terminals that do not say how wide they are. */
import test from 'ava'
import { columns, replaceLine } from '../../../core/cli/terminal.js'

/** What is written on standard error where it says that it has so many columns. */
const written = (width: number, act: () => void): string => {
  const { stderr } = process
  const { write } = stderr
  const had = Object.getOwnPropertyDescriptor(stderr, 'columns')
  let text = ''
  stderr.write = (piece: unknown): boolean => ((text += String(piece)), true)
  Object.defineProperty(stderr, 'columns', { value: width, configurable: true })
  try {
    act()
  } finally {
    stderr.write = write
    if (had === undefined) Reflect.deleteProperty(stderr, 'columns')
    else Object.defineProperty(stderr, 'columns', had)
  }
  return text
}

test.serial('a line that is written again is as wide as its terminal, and 80 where that says 0', (t) => {
  const line = 'x'.repeat(100)
  t.is(
    written(40, () => replaceLine(line)),
    `\r${'x'.repeat(39)}\u001b[K`,
  )
  t.is(
    written(0, () => replaceLine(line)),
    `\r${'x'.repeat(79)}\u001b[K`,
  )
  t.true(columns() > 0)
})
