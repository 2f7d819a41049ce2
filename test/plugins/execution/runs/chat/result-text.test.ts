/** What tools gave, in a few lines of the width that there is. */
import test from 'ava'
import { resultLines } from '../../../../../plugins/execution/runs/chat/result-text.js'

test('command-line-37: texts show their first lines, reads a count, and what says nothing is not shown', (t) => {
  t.deepEqual(resultLines({ line_count: 1, content: 'secret' }, 80), ['    1 line'])
  t.deepEqual(resultLines({ matches: [{}, {}], truncated: true }, 80), ['    2 matching lines, and more'])
  t.deepEqual(resultLines({ path: 'a', bytes_written: 3, sha256: '00' }, 80), ['    3 bytes'])
  t.deepEqual(resultLines({ text: 'a\nb\nc\nd\ne\n' }, 80), ['    a', '    b', '    c', '    d', '    e'])
  t.deepEqual(resultLines({ accepted: true }, 80), [])
  t.deepEqual(resultLines({ goal: 'a' }, 80), ['    {"goal":"a"}'])
  t.deepEqual(resultLines({ exit_code: null, signal: 'SIGKILL', stdout: '', stderr: '' }, 80), ['    ended by SIGKILL'])
  t.deepEqual(resultLines({ text: `${'x'.repeat(50)}\u001b[2J` }, 20), [`    ${'x'.repeat(15)}…`])
  t.deepEqual(resultLines('\u001b[2J', 80), ['    \\u001b[2J'])
})
