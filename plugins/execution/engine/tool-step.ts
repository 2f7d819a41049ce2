/** Tool calls: intent before an effect, outcome before anyone relies on it. */
import { observed } from './observe.js'
import { requestOf, type InterceptedNote, type JournalEntry, type OutcomeState } from '../sessions/contract.js'
import { digest, Problem, wellFormedJson, type Json } from '../../../core/plugin.js'
import { attachmentOf, type AttachmentRef } from '../../media/assets/contract.js'
import type { ToolResultPart } from '../models/contract.js'
import type { AskDraft, ToolLimits, ToolOutcome } from '../tools/contract.js'
import { concludeCall, intendCall, keyOf, type Attempt } from './ledger-entries.js'
import { activeMs, change, changeLazily, during, isCut, trace, type Execution } from './execution.js'
import { callErrors, type RunEdit } from '../runs/contract.js'
import { arrival, arrived } from './arrival.js'
import { isWatched, seeOutcome, type Seen } from './intercept.js'
import { refused } from './permission.js'
import { weighJson } from './thread/weight.js'
import { invoke, prepare, type Invoked, type Ready } from './tool-call.js'
import type { Call, Progress } from './thread/turn.js'

interface Ended {
  readonly call: Call
  readonly state: OutcomeState
  readonly output: Json
  readonly apply?: Result['apply']
  readonly files?: readonly AttachmentRef[]
  readonly used?: Result['used']
  /** The attempt that the ledger knows of, and how it ended if that is not the outcome of the call. */
  readonly acted?: Attempt & { readonly state?: OutcomeState }
  /** What interceptors made of the outcome. */
  readonly seen?: InterceptedNote | undefined
}
interface Ask {
  readonly call: Call
  readonly draft: AskDraft
  readonly acted?: Attempt
}

/** Runs the calls of a turn that may run: side by side if all of them allow it, else one after the other. */
export const runTools = async (execution: Execution, progress: Progress, calls: readonly Call[]): Promise<void> => {
  const together =
    calls.length > 1 && calls.every(({ part }) => execution.context.tools.find(part.name)?.parallel === true)
  const asks: Ask[] = []
  const left = [...calls]
  const goesOn = (): boolean => execution.stop === undefined && !execution.undone && (together || asks.length === 0)
  const work = async (): Promise<void> => {
    for (let call = left.shift(); call !== undefined && goesOn(); call = left.shift()) {
      const key = keyOf(execution.run_id, progress.turns, call)
      const ask = await runCall(execution, call, { key, turn: progress.turns })
      if (ask !== undefined) asks.push(ask)
    }
  }
  const workers = together ? Math.min(calls.length, execution.limits.max_parallel_tools) : 1
  const ended = await Promise.allSettled(Array.from({ length: workers }, work))
  const broken = ended.find((result) => result.status === 'rejected')
  if (broken !== undefined) throw broken.reason
  if (asks.length > 0 && !isCut(execution) && !execution.undone) await suspend(execution, asks)
}

/** Makes a call and records its outcome. A call that asks gives its questions instead. */
const runCall = async (
  execution: Execution,
  call: Call,
  { key, turn }: { key: string; turn: number },
): Promise<Ask | undefined> => {
  const arriving = arrived(execution, [call])
  if (arriving !== undefined) await during(execution, arrival, () => arriving)
  const ready = prepare(execution, call, key)
  // What an earlier life began may have acted, whatever is wrong with the call now.
  if ('output' in ready)
    return recordOutcome(
      execution,
      {
        call,
        state: 'failed',
        output: ready.output,
        ...(call.state.type === 'intended' && {
          acted: { action_id: key, attempt: call.state.attempts, state: 'unknown' },
        }),
      },
      true,
    )
  if (ready.tool.effect !== 'read' && !(await intend(execution, ready))) return undefined
  if (
    ready.attempt === 1 &&
    ready.tool.effect !== 'read' &&
    execution.stop !== undefined &&
    execution.stop.kind !== 'shutdown'
  )
    return recordOutcome(
      execution,
      { call, state: 'failed', ...refused(callErrors.call_not_made()), acted: { action_id: key, attempt: 1 } },
      true,
    )
  const { tool } = ready
  trace(execution, { type: 'tool_started', tool_name: tool.name, call_id: call.part.id })
  const made = { kind: 'tool', name: tool.name, tool_call_id: call.part.id } as const
  const invoked = await observed(execution, () => during(execution, made, () => invoke(execution, ready)), {
    subject: () => ({
      kind: 'tool',
      name: tool.name,
      turn,
      attempt: ready.attempt,
      tool_call_id: call.part.id,
      request: ready.input,
    }),
    ending: (ended) => ({
      outcome: ended.type === 'result' && ended.is_error === true ? 'failed' : ended.type,
      answer: ended.type === 'result' ? ended.output : ended,
    }),
  })
  if (isLarge(invoked)) await execution.context.inTurn()
  if (!outcomes.some((event) => isWatched(execution, event))) return conclude(execution, ready, { invoked })
  return conclude(execution, ready, await seeOutcome(execution, ready, invoked))
}

const outcomes = ['post_tool_use', 'post_tool_use_failure'] as const
const largeBytes = 32 * 1024
/** To write a large output down takes so long that others are served before the next one. */
const isLarge = (invoked: Invoked): boolean => invoked.type === 'result' && weighJson(invoked.output) > largeBytes

/**
 * Writes an intent down before its call is made; that of a repetition too, if there is a ledger. False if the run has
 * ended.
 */
const intend = async (execution: Execution, ready: Ready): Promise<boolean> => {
  if (ready.attempt > 1 && execution.context.ledger() === undefined) return true
  const {
    call: { part },
    tool,
    input,
    key,
  } = ready
  const intent = {
    type: 'intent' as const,
    tool_call_id: part.id,
    tool_name: tool.name,
    effect: tool.effect,
    key,
    input_digest: digest(input),
  }
  return change(execution, (edit) => {
    edit.note(intent)
    return (tx) => intendCall(execution, tx, ready)
  })
}

const conclude = (
  execution: Execution,
  { call, tool, key, attempt }: Ready,
  { invoked, note: seen }: Seen,
): Promise<Ask | undefined> | Ask | undefined => {
  const acts = tool.effect !== 'read'
  // What a stop of the daemon cuts short is no outcome for a call that may be repeated: the next life repeats it.
  if (execution.stop?.kind === 'shutdown' && isCut(execution) && tool.effect !== 'once') return undefined
  const acted = acts && { acted: { action_id: key, attempt } }
  const finished = (state: OutcomeState): void =>
    trace(execution, { type: 'tool_finished', tool_name: tool.name, call_id: call.part.id, is_error: state !== 'done' })
  const ended = (outcome: Omit<Ended, 'call' | 'acted'>) => {
    finished(outcome.state)
    return recordOutcome(execution, { call, seen, ...outcome, ...acted }, acts)
  }
  const failed = (problem: Problem, state: OutcomeState = 'failed') =>
    ended({ state, ...refused(problem), used: 'used' in invoked ? invoked.used : undefined })
  switch (invoked.type) {
    case 'ask':
      finished('done')
      return { call, draft: invoked.ask, ...acted }
    case 'threw':
      return failed(callErrors.tool_failed())
    case 'late':
      return failed(callErrors.call_timed_out({ details: { after_ms: invoked.after_ms } }))
    case 'unknown':
      return failed(invoked.problem, acts ? 'unknown' : 'failed')
    case 'lost':
      return failed(callErrors.call_not_ended(), acts ? 'unknown' : 'failed')
    case 'result':
      return ended(measured(execution, call, invoked))
  }
}

/** The limit that an output breaks, alone or with what stands around it. */
const brokenLimit = (limits: ToolLimits, { part }: Call, { output, is_error = false }: Result): number | undefined => {
  const envelope: ToolResultPart = { type: 'tool_result', tool_call_id: part.id, name: part.name, output, is_error }
  if (weighJson(output) > limits.max_output_bytes) return limits.max_output_bytes
  return weighJson(envelope) > limits.max_result_envelope_bytes ? limits.max_result_envelope_bytes : undefined
}

type Result = Extract<ToolOutcome, { type: 'result' }>
const measured = ({ limits }: Execution, call: Call, made: Result): Omit<Ended, 'call'> => {
  const result = { ...made, output: wellFormedJson(made.output) }
  const limit = brokenLimit(limits, call, result)
  const applied = { used: result.used, ...(result.apply !== undefined && { apply: result.apply }) }
  if (limit !== undefined)
    return { state: 'failed', ...refused(callErrors.tool_output_too_large({ details: { limit } })), ...applied }
  const { is_error, output, files = [] } = result
  return { state: is_error === true ? 'failed' : 'done', output, files: files.map(attachmentOf), ...applied }
}

type OutcomeNote = Omit<Extract<JournalEntry, { type: 'outcome' }>, 'run_id' | 'at'>

/** Writes an outcome; waits for the disk if something outside may have changed. */
const recordOutcome = async (
  execution: Execution,
  { call, state, output, files = [], apply, acted, seen, used }: Ended,
  acts: boolean,
): Promise<undefined> => {
  const { id, name } = call.part
  const entry = { type: 'outcome' as const, tool_call_id: id, tool_name: name, state, output }
  const write = (edit: RunEdit, outcome: OutcomeNote): void => {
    if (seen !== undefined) edit.note({ type: 'intercepted', ...seen })
    edit.note(used === undefined ? outcome : { ...outcome, used: { ...used, ...edit.bill(used.usage, used) } })
  }
  // A file may be gone, and an `apply` refuse: then the call has failed.
  const mayFail = apply !== undefined || files.length > 0
  if (!mayFail && !acts) {
    changeLazily(execution, (edit) => write(edit, entry))
    return undefined
  }
  try {
    await change(execution, (edit) => {
      write(edit, files.length > 0 ? { ...entry, files: [...files] } : entry)
      return (tx) => {
        if (acted !== undefined) concludeCall(execution, tx, { state, output, ...acted })
        apply?.(tx)
      }
    })
  } catch (error) {
    if (!mayFail || execution.context.store.state.health.mode !== 'ok') throw error
    const failed = { state: 'failed' as const, ...refused(notApplied(execution, name, error)) }
    await change(execution, (edit) => {
      write(edit, { ...entry, ...failed })
      return (tx) => {
        if (acted !== undefined) concludeCall(execution, tx, { ...failed, ...acted })
      }
    })
  }
  return undefined
}

/** A problem is the tool's own answer: what it looked at is not so any more. */
const notApplied = ({ context, run_id }: Execution, tool: string, error: unknown): Problem => {
  if (error instanceof Problem && error.spec.status < 500) return error
  context.log.error('a tool could not apply its result', {
    tool,
    run_id,
    where: `the result of the tool ${tool}`,
    error,
  })
  return callErrors.tool_failed()
}

/** The run waits for a person; nothing is left in memory. */
const suspend = async (execution: Execution, asks: readonly Ask[]): Promise<void> => {
  const { ids, clock } = execution.context
  const requests = asks.map(({ call, draft }) =>
    requestOf(draft, { id: ids.make('question'), tool_call_id: call.part.id, now: clock.now() }),
  )
  const request_ids = requests.map(({ id }) => id)
  await change(execution, (edit) => {
    edit.amend((run) => ({
      ...run,
      questions: (run.questions ?? 0) + requests.length,
      active_ms: activeMs(execution, run),
    }))
    edit.wait({ type: 'waiting_for_user_question', request_ids, requests })
    return (tx) => {
      for (const { acted } of asks)
        if (acted !== undefined) concludeCall(execution, tx, { ...acted, state: 'done', output: { asked: true } })
    }
  })
}
