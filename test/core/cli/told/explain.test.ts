import test from 'ava'
import { Problem } from '../../../../core/base/errors.js'
import { explain } from '../../../../core/cli/told/explain.js'

test('a file that the system refuses to this user is one sentence, not a stack', (t) => {
  const refused = Object.assign(new Error("EACCES: permission denied, lstat '/state/config'"), {
    code: 'EACCES',
    path: '/state/config',
  })
  t.deepEqual(explain(refused), {
    code: 1,
    text:
      'holdfast: /state/config cannot be used by this user: EACCES. (state_unreadable)\n' +
      'Run this as the user whom the state root belongs to.',
  })
  t.regex(explain(new Error('a fault of ours')).text, /at .*explain\.test/u)
})

test('too many open files are told with the limit to raise', (t) => {
  const { text, code } = explain(Object.assign(new Error('EMFILE: too many open files, open x'), { code: 'EMFILE' }))
  t.is(code, 1)
  t.is(text, 'holdfast: too many files are open (too_many_files)\nRaise the limit, such as with ulimit -n 4096.')
})

test('command-line-21: what others say in the middle of a line begins none', (t) => {
  const problem = new Problem(
    'odd',
    { status: 400, detail: 'Bad.\nholdfast: all is well', action: 'Try.\nDone' },
    { errors: [{ path: 'body.a', rule: 'is wrong\nDone' }] },
  )
  t.is(
    explain(problem).text,
    'holdfast: Bad.\n  holdfast: all is well (odd)\n  body.a is wrong\n    Done\nTry.\n  Done',
  )
})
