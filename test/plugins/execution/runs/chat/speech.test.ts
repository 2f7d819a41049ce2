/** What stands on the screen of an answer, whatever part of it was heard while it was said. */
import test from 'ava'
import { createSheet } from '../../../../../plugins/execution/runs/chat/sheet.js'
import { createSpeech } from '../../../../../plugins/execution/runs/chat/speech.js'

const begin = () => {
  let out = ''
  const write = (text: string): void => void (out += text)
  const sheet = createSheet({ write, print: (text) => write(`${text}\n`), columns: () => Infinity }, 0)
  return { sheet, speech: createSpeech(sheet), out: () => out }
}

test('command-line-11: who comes in the middle of an answer is shown it once, from its beginning', (t) => {
  const { speech, out } = begin()
  speech.piece(1, ' a time')
  speech.settle('Once upon a time')
  t.is(out(), 'Once upon a time\n')
  speech.begin(2)
  speech.piece(2, 'The end')
  t.is(out(), 'Once upon a time\nThe end')
})

test('command-line-11: words that were missed while the daemon was away do not make the answer another one', (t) => {
  const { sheet, speech, out } = begin()
  speech.begin(1)
  speech.piece(1, 'Once upon')
  speech.missed()
  sheet.line('It is back.')
  speech.piece(1, ' there')
  speech.piece(1, ' was')
  speech.settle('Once upon a time there was')
  t.is(out(), 'Once upon\nIt is back.\n… a time there was\n')
})

test('command-line-30: no row of a long text begins at the margin, whatever pieces it comes in', (t) => {
  let out = ''
  const write = (text: string): void => void (out += text)
  const sheet = createSheet({ write, print: (text) => write(`${text}\n`), columns: () => 20 }, 2)
  const text = `${'All done.'.padEnd(18)}The run was interrupted. ${'x'.repeat(50)}\n• bash\u001b[2J`
  for (const size of [1, 7, text.length]) {
    out = ''
    for (let at = 0; at < text.length; at += size) sheet.say(text.slice(at, at + size))
    sheet.line(`• write_file  ${'y'.repeat(30)} ${'z'.repeat(30)}`)
    const rows = out.trimEnd().split('\n')
    t.true(
      rows.every((row) => row.length <= 20),
      out,
    )
    t.deepEqual(
      rows.filter((row) => !row.startsWith('  ')),
      ['• write_file'],
    )
  }
})
