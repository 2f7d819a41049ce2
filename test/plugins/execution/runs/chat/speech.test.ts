/** What stands on the screen of an answer, whatever part of it was heard while it was said. */
import test from 'ava'
import { createSheet } from '../../../../../plugins/execution/runs/chat/sheet.js'
import { createSpeech } from '../../../../../plugins/execution/runs/chat/speech.js'

const begin = () => {
  let out = ''
  const write = (text: string): void => void (out += text)
  const sheet = createSheet({ write, print: (text) => write(`${text}\n`) }, 0)
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
