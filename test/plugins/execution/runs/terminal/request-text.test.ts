/** What runs ask people for, as they read it. */
import test from 'ava'
import { showQuestion, showRequest } from '../../../../../plugins/execution/runs/terminal/request-text.js'

const shown = (tool_name: string, input: any): string => showRequest({ id: 'a1', tool_name, input }).join('\n')

test('command-line-37: texts of several lines stand as lines in what is asked for, and edits as what goes and comes', (t) => {
  t.is(
    shown('write_file', { path: 'a.md', content: 'one\n  "two"\u001b[2J' }),
    [
      '  asks     to use write_file',
      '  input    {',
      '             "path": "a.md",',
      '             "content":',
      '               one',
      '                 "two"\\u001b[2J',
      '           }',
    ].join('\n'),
  )
  t.is(
    shown('edit_file', { old_string: 'a\n', new_string: 'b\nc\n', replace_all: false }),
    [
      '  asks     to use edit_file',
      '  input    {',
      '             "old_string":',
      '               - a',
      '             "new_string":',
      '               + b',
      '               + c',
      '             "replace_all": false',
      '           }',
    ].join('\n'),
  )
  t.is(
    shown('foreign', { edits: [{ oldText: 'a' }, 1], empty: {} })
      .split('\n')
      .slice(1)
      .join('\n'),
    [
      '  input    {',
      '             "edits": [',
      '               {',
      '                 "oldText":',
      '                   - a',
      '               },',
      '               1',
      '             ],',
      '             "empty": {}',
      '           }',
    ].join('\n'),
  )
})

test('command-line-39: a question shows its heading, and each option what it would look like', (t) => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
  const options = [
    { id: 'o1', label: 'Red', description: 'warm', preview: lines.join('\n') },
    { id: 'o2', label: 'Blue' },
  ]
  const text = showQuestion({ id: 'q1', header: 'Colour', question: 'Which?', options }).join('\n')
  t.regex(text, /^ {2}asks {5}Colour: Which\?\n {2}1 {8}Red: warm\n {13}line 1\n/u)
  t.regex(text, /line 12\n {13}… 8 more lines\n {2}2 {8}Blue$/u)
  t.is(showQuestion({ id: 'q1', header: '', question: 'Which?', options: [] }).join('\n'), '  asks     Which?')
})
