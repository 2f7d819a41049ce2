import test from 'ava'
import { outline } from '../../../../core/cli/told/outline.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'

test('command-line-44: an answer is told member by member, and a number says what it is', (t) => {
  t.is(
    outline({
      made_at_ms: 0,
      kept_ms: 5_400_000,
      took_ms: 1_234,
      max_bytes: 1536,
      small_bytes: 12,
      count: 3,
      open: false,
      model: null,
      names: ['a', 'b'],
      none_of_them: [],
      limits: { most: 1, deep: { er: 'x' } },
      rules: [{ name: 'one', does: 'deny' }, { name: 'two' }],
    }),
    [
      'made_at_ms    1970-01-01T00:00:00.000Z',
      'kept_ms       5400000 (90 min)',
      'took_ms       1234',
      'max_bytes     1536 (1.5 KiB)',
      'small_bytes   12',
      'count         3',
      'open          no',
      'model         none',
      'names         a, b',
      'none_of_them  none',
      'limits',
      '  most  1',
      '  deep',
      '    er  x',
      'rules',
      '  - name  one',
      '    does  deny',
      '  - name  two',
    ].join('\n'),
  )
  t.is(outline([]), 'There is nothing to show.')
  t.is(outline('done'), 'done')
})

test('command-line-44: what others wrote begins no line of ours', (t) => {
  t.is(outline({ said: 'one\nholdfast: two', 'na\nme': 'x' }), 'said    one\n        holdfast: two\nna\\nme  x')
})

test('command-line-44: no command of the settings prints JSON for a person, and each does for a program', async (t) => {
  const line = createCommandLine(await startTestDaemon(t))
  for (const words of [['get'], ['hooks', 'get'], ['tool-limits', 'get'], ['run-memory-policy', 'get']]) {
    const { code, out } = await line('runtime', ...words)
    t.is(code, 0)
    t.notRegex(out, /^[{[]|"/mu, words.join(' '))
    t.is(typeof JSON.parse((await line('runtime', ...words, '--output', 'json')).out), 'object')
  }
  t.regex((await line('runtime', 'tool-limits', 'get')).out, /^max_input_bytes +\d+ \(16 MiB\)$/mu)
  t.regex((await line('runtime', 'hooks', 'get')).out, /^No hooks are in force\. /u)
  t.regex((await line('openapi')).out, /^\{\n/u)
})
