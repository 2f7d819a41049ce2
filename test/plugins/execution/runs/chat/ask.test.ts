/** What a person is asked for fits the screen, and is all there for who wants it. */
import test from 'ava'
import type { Dialogue, Said } from '../../../../../core/plugin.js'
import { askApproval } from '../../../../../plugins/execution/runs/chat/ask.js'
import { createSheet } from '../../../../../plugins/execution/runs/chat/sheet.js'

/** Someone who says this, in a terminal of so many columns. */
const ask = async (command: string, columns: number, ...answers: readonly string[]) => {
  let out = ''
  const write = (text: string): void => void (out += text)
  const sheet = createSheet({ write, print: (text) => write(`${text}\n`), columns: () => columns }, 2)
  const left = [...answers]
  const heard: string[] = []
  const dialogue: Dialogue = {
    attended: true,
    hear: async (): Promise<Said> => {
      heard.push(out)
      out = ''
      return { type: 'text', text: left.shift() ?? 'n' }
    },
    onInterrupt: () => {},
    onStop: () => {},
    note: () => {},
    close: () => {},
  }
  const request = { id: 'a1', tool_name: 'bash', input: { command }, input_digest: '00ff' }
  const answer = await askApproval({ dialogue, sheet, signal: new AbortController().signal }, request)
  return { heard, answer }
}

test('command-line-37: a long input leaves its beginning on the screen, and s shows all of it', async (t) => {
  const { heard, answer } = await ask(`echo begin ${'x'.repeat(50_000)} end`, 90, 's', 'y')
  const [first = '', all = ''] = heard
  t.regex(first, /"command": "echo begin/u)
  t.regex(first, /… \d+ more lines: s shows all of it\.\n/u)
  t.true(first.split('\n').length < 24)
  t.false(first.includes('end"'))
  t.true(all.includes('end"') && all.split('\n').length > 600)
  t.is(answer.type, 'given')
})

test('command-line-37: where no terminal is, what is asked for is whole, and no digest stands there', async (t) => {
  const { heard } = await ask(`echo ${'x\n'.repeat(100)}`, Infinity, 'n')
  t.is(heard[0]?.split('x\n').length, 101)
  t.false(heard.join('').includes('00ff'))
  t.false(heard.join('').includes('s shows'))
})
