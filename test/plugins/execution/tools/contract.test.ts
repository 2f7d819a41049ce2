import test from 'ava'
import { object } from '../../../../core/plugin.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { Tools, type Tool } from '../../../../plugins/execution/tools/contract.js'

const sound = {
  name: 'wire_money',
  description: 'Wires money.',
  input: object({}),
  effect: 'once',
  parallel: false,
  timeout_ms: 1000,
  sandbox: 'network_enabled',
  run: () => ({ type: 'result', output: null }),
}
const faultOf = (more: object): string | undefined => Tools.check?.(unsafeCast<Tool>({ ...sound, ...more }))

test('tools-15: a tool that a model could not call, or whose effect nobody knows, is refused with the reason', (t) => {
  t.is(faultOf({}), undefined)
  t.is(faultOf({ permission: 'allow' }), undefined)
  t.regex(faultOf({ name: 'Bad Name' }) ?? '', /the name "Bad Name" of a tool must be of small letters/u)
  t.regex(faultOf({ effect: undefined }) ?? '', /must have the effect read, idempotent or once/u)
  for (const more of [
    { name: 1 },
    { description: ' ' },
    { input: {} },
    { run: undefined },
    { parallel: undefined },
    { timeout_ms: 0 },
    { sandbox: 'all' },
    { permission: 'deny' },
  ])
    t.is(typeof faultOf(more), 'string', JSON.stringify(more))
})
