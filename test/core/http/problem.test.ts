import test from 'ava'
import { titleOf } from '../../../core/http/problem.js'

test('http-6: the title of a problem is the phrase that HTTP has for its status', (t) => {
  const titles = { 400: 'Bad Request', 416: 'Range Not Satisfiable', 502: 'Bad Gateway', 507: 'Insufficient Storage' }
  for (const [status, title] of Object.entries(titles)) t.is(titleOf(Number(status)), title)
})
