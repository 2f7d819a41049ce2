import test from 'ava'
import type { ToolResultPart } from '../../../../../plugins/execution/models/contract.js'
import {
  beginProgress,
  countFailure,
  nextStep,
  type Call,
} from '../../../../../plugins/execution/engine/thread/turn.js'

test('only a failure that equals the one before it counts on; anything else starts anew', (t) => {
  const progress = beginProgress('run_1')
  const call = (what: number): Call => ({
    part: { type: 'tool_call', id: 'c', name: 'pay', input: { what } },
    input: { what },
    state: { type: 'ready', input: { what } },
  })
  const result = (error: string, is_error = true): ToolResultPart => ({
    type: 'tool_result',
    tool_call_id: 'c',
    name: 'pay',
    output: { error },
    is_error,
  })
  const counted = (
    [
      [1, result('no')],
      [1, result('no')],
      [2, result('no')],
      [2, result('other')],
      [2, result('other')],
      [2, result('other', false)],
      [2, result('other')],
    ] as const
  ).map(([what, part]) => {
    progress.turns += 1
    countFailure(progress, call(what), part)
    return progress.repeated.count
  })
  t.deepEqual(counted, [1, 2, 1, 1, 2, 0, 1])
  t.is(
    nextStep(
      { ...progress, repeated: { key: 'k', count: 3, turn: 3, isCut: false } },
      { max_turns: 0, max_output_bytes: 10, max_envelope_bytes: 100 },
    ).type,
    'fail',
  )
  t.is(
    nextStep(
      { ...progress, repeated: { key: 'k', count: 2, turn: 2, isCut: false } },
      { max_turns: 0, max_output_bytes: 10, max_envelope_bytes: 100 },
    ).type,
    'model',
  )
})

test('equal failures of one turn count once: its model has learned of none of them yet', (t) => {
  const progress = beginProgress('run_1')
  const call: Call = {
    part: { type: 'tool_call', id: 'c', name: 'pay', input: {} },
    input: {},
    state: { type: 'ready', input: {} },
  }
  const failed: ToolResultPart = {
    type: 'tool_result',
    tool_call_id: 'c',
    name: 'pay',
    output: { error: 'no' },
    is_error: true,
  }
  for (const turn of [1, 2]) {
    progress.turns = turn
    for (let n = 0; n < 50; n += 1) countFailure(progress, call, failed)
    t.is(progress.repeated.count, turn)
  }
})

test('outputs beyond a limit of the run, alone or with what stands around them, end it', (t) => {
  const limits = { max_turns: 0, max_output_bytes: 10, max_envelope_bytes: 100 }
  const begun = beginProgress('r')
  t.is(nextStep({ ...begun, output_bytes: 10, envelope_bytes: 100 }, limits).type, 'model')
  t.is(nextStep({ ...begun, output_bytes: 11, envelope_bytes: 100 }, limits).type, 'fail')
  t.is(nextStep({ ...begun, output_bytes: 10, envelope_bytes: 101 }, limits).type, 'fail')
})
