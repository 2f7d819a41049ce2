/** Calls tools as the engine does: parsed input, a call, a signal. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { assert } from '../../core/base/assert.js'
import { parse } from '../../core/base/parse.js'
import { unsafeCast, type Json } from '../../core/base/schema.js'
import { failedCall, type Tool, type ToolCall, type ToolOutcome } from '../../plugins/execution/tools/contract.js'

export interface Answer {
  readonly output: Record<string, Json>
  readonly is_error: boolean
}

export const makeFolder = async (t: ExecutionContext): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-')))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

let calls = 0
export const callOf = (workspace: string, more: Partial<ToolCall> = {}): ToolCall => {
  calls += 1
  return {
    tool_call_id: `call-${calls}`,
    session_id: 's1',
    run_id: 'r1',
    key: `key-${calls}`,
    workspace,
    signal: new AbortController().signal,
    ...more,
  }
}

export const resultOf = (outcome: ToolOutcome): Answer => {
  assert(outcome.type === 'result', 'the tool did not end with a result')
  return { output: unsafeCast(outcome.output), is_error: outcome.is_error ?? false }
}

/** Parses the input as the engine does and runs the tool. */
export const runTool = async (tool: Tool, input: unknown, call: ToolCall): Promise<Answer> => {
  const parsed = parse(tool.input, input)
  assert(parsed.ok, `the input was refused: ${JSON.stringify(parsed)}`)
  const refusal = tool.refusal?.(parsed.value, call)
  return resultOf(refusal === undefined ? await tool.run(parsed.value, call) : failedCall(refusal))
}

/** The code of a refused call. */
export const codeOf = ({ output }: Answer): unknown => unsafeCast<{ code?: string } | undefined>(output['error'])?.code
