/** One tool call: checked once more, made, and bounded in time. */
import { relative } from 'node:path'
import { blame, digest, isError, Problem, realFolder, type Json } from '../../../core/plugin.js'
import { failedCall, takenOutcome, type Tool, type ToolOutcome, type ToolProgress } from '../tools/contract.js'
import type { ToolUse } from '../../operator/usage/contract.js'
import { during, trace, within, workspaceOf, type Execution } from './execution.js'
import { callErrors, runErrors, type RunFolder } from '../runs/contract.js'
import { absent } from './thread/foreseen.js'
import { readInput, refused } from './permission.js'
import type { Call } from './thread/turn.js'

/**
 * A call that is about to run, with all that it needs. `value` is its input as the tool takes it; `attempt` is 1 for
 * the first.
 */
export interface Ready {
  readonly call: Call
  readonly tool: Tool
  readonly input: Json
  readonly value: unknown
  readonly key: string
  readonly attempt: number
}

/** Checks again what was decided on: the tool is there, the input fits it, and it is the one that was approved. */
export const prepare = (execution: Execution, call: Call, key: string): Ready | { output: Json } => {
  const { context, session_id } = execution
  const tool = context.tools.find(call.part.name, session_id)
  if (tool === undefined) return refused(absent(context.tools, call.part.name, session_id))
  const { state } = call
  const input = state.type === 'ready' || state.type === 'intended' ? state.input : call.input
  if (state.type === 'ready' && state.digest !== undefined && state.digest !== digest(input))
    return refused(callErrors.call_input_changed())
  const read = readInput(execution, tool, input)
  return read.ok
    ? { call, tool, input, value: read.value, key, attempt: state.type === 'intended' ? state.attempts + 1 : 1 }
    : read.refusal
}

/** What came of an invocation: the tool's outcome, or how it failed to give one. */
export type Invoked =
  | ToolOutcome
  | { readonly type: 'threw' }
  | { readonly type: 'late'; readonly after_ms: number; readonly used?: ToolUse | undefined }
  | { readonly type: 'lost' }

const tooLate = (limit: number): DOMException =>
  new DOMException(`it took longer than ${limit / 1_000} s`, 'TimeoutError')

/** What has no stack, such as a text, says nothing of who threw it. */
const named = (tool: Tool, error: unknown): Error => (isError(error) ? error : blame(tool, error))
const whereIn = ({ name }: Tool): string => `a call of the tool ${name}`

/** Throws where the folder of an agent is not there any more, or is a link by now. */
const checkFolder = ({ path, within: outer }: RunFolder): void => {
  if (outer !== undefined && realFolder(path)?.path !== path)
    throw runErrors.run_folder_not_found({ details: { folder: relative(outer, path) } })
}

export const invoke = async (execution: Execution, { call, tool, value, key, attempt }: Ready): Promise<Invoked> => {
  const timeout = new AbortController()
  const limit = Math.min(tool.timeout_ms, execution.limits.max_timeout_ms)
  const begin = (): (() => void) => execution.context.clock.after(limit, () => timeout.abort(tooLate(limit)))
  let cancel = begin()
  let over = false
  /** Until the run has its place again no time of the call passes. */
  const waitFor = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const waits = { kind: 'wait', name: tool.name, tool_call_id: call.part.id } as const
      return await during(execution, waits, () =>
        execution.place.lend(() => work().finally(cancel), execution.controller.signal),
      )
    } finally {
      if (!over) cancel = begin()
    }
  }
  const signal = AbortSignal.any([execution.controller.signal, timeout.signal])
  const { run_id, session_id, folder } = execution
  const started = (async (): Promise<Invoked> => {
    try {
      checkFolder(folder)
      const ended = await tool.run(value, {
        tool_call_id: call.part.id,
        session_id,
        run_id,
        key,
        is_repeated: attempt > 1,
        ...workspaceOf(folder),
        beside: folder.beside,
        signal,
        report: createReport(execution, call),
        waitFor,
      })
      return takenOutcome(tool, ended)
    } catch (error) {
      if (error instanceof Problem && error.spec.status < 500) return failedCall(error)
      const isCutShort = signal.aborted && error === signal.reason
      if (!isCutShort)
        execution.context.log.error('a tool threw', {
          tool: tool.name,
          run_id,
          where: whereIn(tool),
          error: named(tool, error),
        })
      return { type: 'threw' }
    }
  })()
  try {
    const grace_ms = execution.context.config.stop_grace_ms
    const ended = await within(execution.context.clock, started, { signal, grace_ms })
    if (ended === undefined) {
      const error = blame(tool, `it did not end within ${grace_ms} ms of being told to`)
      execution.context.log.error('a tool did not end', {
        tool: tool.name,
        run_id,
        where: whereIn(tool),
        error,
      })
      return { type: 'lost' }
    }
    return timeout.signal.aborted && (ended.type === 'threw' || (ended.type === 'result' && ended.is_error === true))
      ? { type: 'late', after_ms: limit, ...(ended.type === 'result' && { used: ended.used }) }
      : ended
  } finally {
    over = true
    cancel()
  }
}

/** One of a call in so many milliseconds is told, with so much text. */
const [reportMs, mostText] = [100, 500]

const createReport = (execution: Execution, { part: { id, name } }: Call): ((progress: ToolProgress) => void) => {
  const { clock } = execution.context
  let next = -Infinity
  return ({ progress, total, message }) => {
    if (clock.elapsed() < next || !Number.isFinite(progress)) return
    next = clock.elapsed() + reportMs
    trace(execution, {
      type: 'tool_progress',
      tool_name: name,
      call_id: id,
      progress,
      ...(total !== undefined && Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: message.slice(0, mostText) }),
    })
  }
}
