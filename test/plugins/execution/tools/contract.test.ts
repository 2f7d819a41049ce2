import test from 'ava'
import { defineErrors, object } from '../../../../core/plugin.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { failedCall, takenOutcome, Tools, type Tool } from '../../../../plugins/execution/tools/contract.js'

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

test('tools-35: a model is told the action with the ids of this problem, as whoever calls a route is', (t) => {
  const { fruit_gone } = defineErrors({
    fruit_gone: {
      status: 404,
      detail: 'There is no {what}.',
      action: 'Run holdfast fruit fix {what}, or ask GET /v1/fruits/{what}.',
    },
  })
  t.like(failedCall(fruit_gone({ details: { what: 'apple' } })), {
    output: { error: { action: 'Run holdfast fruit fix apple, or ask GET /v1/fruits/apple.' } },
  })
})

test('tools-35: files that are no assets are told apart from more of them than a call may give', (t) => {
  const file = {
    asset_id: 'asset_1',
    media_type: 'text/plain',
    file_name: 'a.txt',
    sha256: 'a',
    byte_length: 1,
    created_at_ms: 1,
    uri: 'u',
    derivation_ids: [],
  }
  const taken = (files: unknown) => takenOutcome({}, { type: 'result', output: null, files })
  t.like(taken(Array.from({ length: 16 }, () => file)), { type: 'result', files: { length: 16 } })
  t.throws(() => taken(Array.from({ length: 17 }, () => file)), {
    message: 'it gave 17 files, and one call may give 16',
  })
  t.throws(() => taken([{}]), { message: 'its files are no assets, such as Assets.add answers with' })
})
