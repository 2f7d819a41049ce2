import test from 'ava'
import { explain } from '../../../core/cli/explain.js'

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
