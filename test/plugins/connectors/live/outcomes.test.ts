import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { digestOf, openAsked, type Asked } from '../../../../plugins/connectors/live/outcomes.js'
import { showApproval } from '../../../../plugins/connectors/live/request-text.js'

const request = {
  id: 'r1',
  tool_call_id: 'c1',
  tool_name: 'bash',
  input: { command: 'ls' },
  scope: 'user',
  reason: null,
}
type Parts = Parameters<typeof openAsked>

test('live-17: what a message showed is open only as it was shown: same id, tool, folder and input', (t) => {
  const ask = unsafeCast<Parts[2]>({
    request_id: 'r1',
    digest: digestOf(unsafeCast<Asked>({ subject: 'approval', request })),
  })
  const isOpen = (now: object): boolean => {
    const runs = unsafeCast<Parts[0]>({ openApprovals: () => [{ ...request, ...now }], openQuestions: () => [] })
    return openAsked(runs, unsafeCast<Parts[1]>({}), ask) !== undefined
  }
  t.true(isOpen({}))
  t.true(isOpen({ reason: 'another one' }))
  for (const other of [{ input: { command: 'rm' } }, { tool_name: 'sh' }, { cwd: 'w1' }, { id: 'r2' }])
    t.false(isOpen(other))
})

test('live-14, live-22: what is shown of a call is bounded and whole, or says that it is not', (t) => {
  const shown = (input: unknown, most = 1000) =>
    showApproval(unsafeCast({ ...request, input, input_digest: 'ab'.repeat(32) }), {
      redact: (text) => text.replaceAll('sesame-7731', '[redacted]'),
      most,
    })
  t.like(shown({ command: 'ls \u0007\u2066' }), { isWhole: true, isCut: false })
  t.true(shown({ command: 'ls \u2066' }).text.includes('ls \\u2066'))
  t.true(shown({ command: 'ls' }).text.endsWith('sha256 abababababababab'))
  const secret = shown({ command: 'login sesame-7731' })
  t.false(secret.isWhole)
  t.false(secret.text.includes('7731'))
  // A secret that the cut would halve is redacted as well.
  const long = shown({ command: `${'x'.repeat(460)} sesame-7731 ${'y'.repeat(5000)}` })
  t.deepEqual([long.isWhole, long.isCut, long.text.includes('sesame')], [false, true, false])
  for (const most of [500, 600, 1000, 4096]) t.true(shown({ command: '😀'.repeat(9000) }, most).text.length <= most)
  const odd = showApproval(unsafeCast({ ...request, tool_name: `${'x'.repeat(99)}😀`, reason: '😀'.repeat(200) }), {
    redact: (text) => ` ${text}`,
    most: 2000,
  })
  t.notRegex(odd.text, /\p{Cs}/u, 'no half of a sign, which a platform refuses')
})
