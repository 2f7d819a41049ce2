/** What stands on the screen of a run, whether the journal or the step itself is heard first. */
import test from 'ava'
import type { Json } from '../../../../../core/plugin.js'
import type { JournalRow } from '../../../../../plugins/execution/runs/chat/journal.js'
import { createSheet } from '../../../../../plugins/execution/runs/chat/sheet.js'
import { createTranscript, type Transcript } from '../../../../../plugins/execution/runs/chat/transcript.js'

const begin = () => {
  let out = ''
  const write = (text: string): void => void (out += text)
  const sheet = createSheet({ write, print: (text) => write(`${text}\n`), columns: () => Infinity }, 0)
  return { transcript: createTranscript(sheet), out: () => out }
}

const call = { type: 'tool_call', id: 'call_1', name: 'bash', input: { command: 'echo hi' } }

/** What the journal has of a run with one call. */
const asks = (transcript: Transcript): void =>
  entry(transcript, 'message', { message: { role: 'assistant', content: [call] } })
const ends = (transcript: Transcript, state: string, output: Json): void =>
  entry(transcript, 'outcome', { tool_call_id: 'call_1', tool_name: 'bash', state, output })
const answers = (transcript: Transcript): void =>
  entry(transcript, 'message', { message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } })

let seq = 0
const entry = (transcript: Transcript, type: string, of: JournalRow['entry']): void =>
  transcript.entry({ seq: (seq += 1), run_id: 'run_1', type, entry: of })

test('command-line-8: a call stands before the answer, once, where the journal is ahead of what is told', (t) => {
  const { transcript, out } = begin()
  asks(transcript)
  ends(transcript, 'completed', {})
  answers(transcript)
  transcript.started('call_1', 'bash')
  t.is(out(), '• bash echo hi\nDone.\n')
})

test('command-line-8: a call that is told stands there while it is made, and how it ended if not as wished', (t) => {
  const { transcript, out } = begin()
  asks(transcript)
  transcript.started('call_1', 'bash')
  t.is(out(), '• bash echo hi\n')
  ends(transcript, 'failed', { error: { message: 'no such file' } })
  t.is(out(), '• bash echo hi\n  bash failed: no such file\n')
})

test('assets-15: files that a tool gave and that were put out stand below it, with the line that writes them', (t) => {
  const { transcript, out } = begin()
  const file = { id: 'asset_1', media_type: 'image/png', file_name: 'b.png', byte_length: 1300 }
  asks(transcript)
  entry(transcript, 'outcome', { tool_call_id: 'call_1', tool_name: 'bash', state: 'done', files: [file] })
  answers(transcript)
  const parts = [{ attachment: file }]
  entry(transcript, 'event', { event: { type: 'output', output: { content: 'Done.', artifacts: [file], parts } } })
  const line = '  file b.png, image/png, 1.3 KiB: holdfast assets download asset_1\n'
  t.is(out(), `• bash echo hi\n${line}Done.\n${line}`)
})

test('command-line-8: a question that was declined is not told again, and a failure without a reason has no colon', (t) => {
  const { transcript, out } = begin()
  const declined = {
    tool_call_id: 'call_9',
    tool_name: 'ask_user_question',
    state: 'failed',
    output: { declined: true },
  }
  entry(transcript, 'outcome', declined)
  asks(transcript)
  ends(transcript, 'failed', {})
  t.is(out(), '• bash echo hi\n  bash failed\n')
})

test('command-line-8: of an output that begins with what was said the rest alone is shown', (t) => {
  const { transcript, out } = begin()
  answers(transcript)
  const event = { type: 'output', output: { content: 'Done.\n\nSources:\n- One: https://a.example/1' } }
  entry(transcript, 'event', { event })
  t.is(out(), 'Done.\nSources:\n- One: https://a.example/1\n')
})

test('command-line-37: what a call gave stands below it, short, and with the name where others were made with it', (t) => {
  const { transcript, out } = begin()
  asks(transcript)
  transcript.started('call_1', 'bash')
  ends(transcript, 'done', { exit_code: 3, signal: null, stdout: 'one\n2\n3\n4\n5\n6\n', stderr: 'no\n' })
  t.is(out(), '• bash echo hi\n    one\n    2\n    3\n    4\n    … 4 more lines\n    exit code 3\n')
  const two = begin()
  const other = { type: 'tool_call', id: 'call_2', name: 'read_file', input: { path: 'a.md' } }
  entry(two.transcript, 'message', { message: { role: 'assistant', content: [call, other] } })
  two.transcript.started('call_1', 'bash')
  two.transcript.started('call_2', 'read_file')
  ends(two.transcript, 'done', { exit_code: 0, signal: null, stdout: 'hi\n', stderr: '' })
  const read = {
    tool_call_id: 'call_2',
    tool_name: 'read_file',
    state: 'done',
    output: { line_count: 12, content: 'x' },
  }
  entry(two.transcript, 'outcome', read)
  t.is(two.out(), '• bash echo hi\n• read_file a.md\n  bash echo hi:\n    hi\n  read_file a.md:\n    12 lines\n')
})

test('command-line-37: a command of several lines reads as such, and a call that was not made is told once', (t) => {
  const { transcript, out } = begin()
  const hidden = { ...call, input: { command: '# safe\nrm -rf /' } }
  entry(transcript, 'message', { message: { role: 'assistant', content: [hidden] } })
  ends(transcript, 'refused', { error: { message: 'The operator denied this call.' } })
  t.is(out(), '• not made: bash # safe ⏎ rm -rf /\n    The operator denied this call.\n')
})
