/** The loop of a run: look at the journal, take the next step, write it down. */
import { observed } from './observe.js'
import { assertNever, fault, Problem } from '../../../core/plugin.js'
import type { ModelRoute, ToolCallPart } from '../models/contract.js'
import { type RunRecord, type RunEdit, callErrors, entryAt } from '../runs/contract.js'
import type { RunEvent } from '../sessions/contract.js'
import { askModel, generationOf, textOf, type Answer } from './model-step.js'
import { billUntaken, modelFailed, told } from './model-failed.js'
import { endRouteWait, untilNextAttempt } from './route-wait.js'
import {
  activeMs,
  change,
  changeLazily,
  failRun,
  isCut,
  trace,
  type EngineContext,
  type Execution,
} from './execution.js'
import { allArrived, arrived, lacking } from './arrival.js'
import { missingOf, mostReminders, takeBaseline } from './completion.js'
import { holdEnd, isWatched, judgeWatched, type Judged } from './intercept.js'
import { judgeCall, refused } from './permission.js'
import { attemptOf, concludeCall } from './ledger-entries.js'
import type { Thread } from './thread/thread.js'
import { assemble } from './prompt/request.js'
import { runTools } from './tool-step.js'
import { weigh } from './thread/weight.js'
import { nextStep, type Progress } from './thread/turn.js'

/** Executes a running run until it waits, ends or is stopped. Rejects when storage fails. */
export const drive = async (execution: Execution): Promise<void> => {
  const accepted = execution.context.store.runs.find(execution.run_id)
  const folding = accepted === undefined ? undefined : execution.context.threads.ready(accepted)
  if (folding !== undefined) await folding
  await recordLostCalls(execution)
  for (;;) {
    const run = execution.context.store.runs.find(execution.run_id)
    if (run?.status !== 'running') return
    if (execution.undone) throw fault('a change of this run was undone')
    if (execution.stop !== undefined) return stopRun(execution)
    const thread = execution.context.threads.at(run)
    const { progress } = thread
    if (progress === undefined)
      return failRun(execution, 'journal_incomplete: the beginning of this run is not in its journal.')
    if (run.completion !== undefined && run.completion.baseline === undefined)
      await takeBaseline(execution, run.completion)
    else await takeStep(execution, { run, thread, progress })
  }
}

interface Position {
  readonly run: RunRecord
  readonly thread: Thread
  readonly progress: Progress
}

const takeStep = async (execution: Execution, at: Position): Promise<void> => {
  const {
    limits,
    context: { config },
  } = execution
  const step = nextStep(at.progress, {
    max_turns: config.max_turns,
    max_output_bytes: limits.max_cumulative_output_bytes,
    max_envelope_bytes: limits.max_cumulative_result_envelope_bytes,
  })
  switch (step.type) {
    case 'model':
      return modelStep(execution, at)
    case 'tools':
      return runTools(execution, at.progress, step.calls)
    case 'fail':
      return failRun(execution, step.error)
    case 'blocked':
      return failRun(execution, 'journal_incomplete: a running run has an open request.')
    default:
      assertNever(step)
  }
}

/**
 * A call whose intent is durable and whose outcome is not may have acted: it is never repeated unless it declared that
 * it may be.
 */
const recordLostCalls = async (execution: Execution): Promise<void> => {
  const run = execution.context.store.runs.find(execution.run_id)
  if (run?.status !== 'running') return
  const { calls = [], turns = 0 } = execution.context.threads.at(run).progress ?? {}
  const arriving = arrived(
    execution,
    calls.filter(({ state }) => state.type === 'intended'),
  )
  if (arriving !== undefined) await arriving
  const lost = calls.filter(
    ({ part, state }) =>
      state.type === 'intended' &&
      execution.context.tools.find(part.name)?.effect !== 'idempotent' &&
      execution.context.tools.find(part.name)?.effect !== 'read',
  )
  if (lost.length === 0) return
  const unknown = { state: 'unknown' as const, ...refused(callErrors.call_outcome_unknown()) }
  await change(execution, (edit) => {
    for (const { part } of lost) edit.note({ type: 'outcome', tool_call_id: part.id, tool_name: part.name, ...unknown })
    return (tx) => {
      for (const call of lost) concludeCall(execution, tx, { ...unknown, ...attemptOf(execution.run_id, turns, call) })
    }
  })
}

const routeOf = (context: EngineContext, run: RunRecord): ModelRoute | string => {
  const route = context.models.find(run.provider)
  if (route === undefined) return `route_not_found: the route ${run.provider} that this run is pinned to is gone.`
  const { state, code } = route.connection.readiness()
  return state === 'error' ? `route_not_ready: the route ${run.provider} cannot be used (${code}).` : route
}

const modelStep = async (execution: Execution, { run, thread, progress }: Position): Promise<void> => {
  const route = routeOf(execution.context, run)
  if (typeof route === 'string') return failRun(execution, route)
  const accepted = entryAt(execution.context.store, run.session_id, run.first)
  const generation = generationOf(
    accepted?.type === 'event' && accepted.event.type === 'accepted' ? accepted.event.generation : undefined,
  )
  await untilNextAttempt(execution, run)
  const arriving = allArrived(execution)
  if (arriving !== undefined) await arriving
  if (execution.stop !== undefined) return
  const refusal = lacking(execution, run) ?? execution.context.books()?.refusal(run)
  if (refusal !== undefined) return failRun(execution, refusal)
  const turn = progress.turns + 1
  const attempt = progress.failed + 1
  trace(execution, { type: 'model_attempt_started', turn, attempt })
  const request = assemble(execution.context, run, { messages: thread.messages, generation })
  const answer = await observed(execution, () => askModel(execution, route, { request, turn, attempt }), {
    subject: () => ({ kind: 'model', name: route.route_id, turn, attempt, request }),
    ending: (given) =>
      given.type === 'failed'
        ? { outcome: 'failed', code: given.failure.class, answer: given.failure, ...told(given) }
        : { outcome: given.outcome, usage: given.usage, answer: given.parts },
  })
  trace(execution, { type: 'model_attempt_finished', turn, attempt })
  if (answer.type === 'failed' || isCut(execution)) billUntaken(execution, { turn, attempt, answer })
  if (isCut(execution)) return
  if (answer.type === 'failed')
    return modelFailed(execution, { run, turn, attempt, failure: answer.failure, acted: progress.acted })
  try {
    await takeAnswer(execution, { run, held: progress.held }, answer)
    if (!answer.taken) billUntaken(execution, { turn, attempt, answer })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'commit_too_large') throw error
    billUntaken(execution, { turn, attempt, answer })
    await failRun(execution, 'model_answer_too_large: the answer of the model is larger than what is kept at once.')
  }
}

/** A run whose answer is taken, and how often its end was held up. */
interface Answered {
  readonly run: RunRecord
  readonly held: number
}

const takeAnswer = (execution: Execution, { run, held }: Answered, answer: Parts): Promise<void> | void => {
  const calls = answer.parts.filter((part) => part.type === 'tool_call')
  if (calls.length > 0) return takeTurn(execution, answer, calls)
  return run.completion === undefined
    ? completeRun(execution, answer, held)
    : completeIfMet(execution, { run, held, completion: run.completion, answer })
}

type Parts = Extract<Answer, { type: 'parts' }>

const note = (edit: RunEdit, answer: Parts): void => {
  const { usage, parts: content } = answer
  answer.taken = true
  edit.note({ type: 'message', message: { role: 'assistant', content }, usage, ...edit.bill(usage) })
  endRouteWait(edit)
}

const say = (edit: RunEdit, answer: Parts): void => {
  const content = textOf(answer.parts)
  if (content.trim() !== '') edit.output({ content, source_kind: 'assistant_text' })
}

const completeRun = async (execution: Execution, answer: Parts, held = 0): Promise<void> => {
  const hold = isWatched(execution, 'stop') ? await holdEnd(execution, { held, said: textOf(answer.parts) }) : undefined
  if (hold !== undefined && isCut(execution)) return
  await change(execution, (edit) => {
    note(edit, answer)
    if (hold !== undefined) {
      edit.note({ type: 'intercepted', ...hold.note })
      return remind(edit, hold.reason)
    }
    say(edit, answer)
    edit.step({ to: 'completed' }, { type: 'completed' })
  })
}

/** Tells the model why the run goes on. */
const remind = (edit: RunEdit, text: string): void =>
  void edit.note({ type: 'message', message: { role: 'user', content: [{ type: 'text', text }] } })

interface Ending extends Answered {
  readonly completion: NonNullable<RunRecord['completion']>
  readonly answer: Parts
}

/** A run that has not done what it must is told so and gets another turn, a few times. */
const completeIfMet = async (execution: Execution, { run, held, completion, answer }: Ending): Promise<void> => {
  const missing = await missingOf(execution.context, run)
  if (isCut(execution)) return
  if (missing.length === 0) return completeRun(execution, answer, held)
  const what = missing.join(', ')
  await change(execution, (edit) => {
    note(edit, answer)
    if (completion.reminders >= mostReminders) {
      const error = `completion_requirement_unmet: the run did not create or update ${what}.`
      edit.step({ to: 'failed', error }, { type: 'failed', error })
      return
    }
    remind(edit, `This run is not complete: it has not created or updated ${what}. Do that now, with a tool.`)
    edit.amend((now) => ({ ...now, completion: { ...completion, reminders: completion.reminders + 1 } }))
  })
}

/**
 * Records a model answer with calls and what was decided about each. All that need permission wait as one batch, before
 * any of the others runs.
 */
const takeTurn = (execution: Execution, answer: Parts, calls: readonly ToolCallPart[]): Promise<void> | void => {
  const cut = answer.outcome === 'length'
  if (judging.some((event) => isWatched(execution, event))) return takeWatchedTurn(execution, answer, calls)
  return writeTurn(
    execution,
    answer,
    calls.map((call, index) => ({ call, verdict: judgeCall(execution, call, { index, cut }), notes: [] })),
  )
}

const judging = ['pre_tool_use', 'permission_request', 'permission_denied'] as const

/** One call after the other: interceptors see them in the order of the model. */
const takeWatchedTurn = async (execution: Execution, answer: Parts, calls: readonly ToolCallPart[]): Promise<void> => {
  const verdicts: Judged[] = []
  for (const [index, call] of calls.entries()) {
    if (isCut(execution)) return
    verdicts.push(await judgeWatched(execution, call, { index, cut: answer.outcome === 'length' }))
  }
  if (!isCut(execution)) await writeTurn(execution, answer, verdicts)
}

const writeTurn = async (execution: Execution, answer: Parts, verdicts: readonly Judged[]): Promise<void> => {
  for (const { call, verdict } of verdicts)
    trace(execution, { type: 'permission_evaluated', tool_name: call.name, decision: verdict.type })
  const requests = verdicts.flatMap(({ verdict }) => (verdict.type === 'ask' ? [verdict.request] : []))
  const write = (edit: RunEdit): void => {
    note(edit, answer)
    for (const { call, verdict, notes } of verdicts) {
      if (verdict.audit !== undefined) edit.note({ type: 'audit', audit: verdict.audit })
      for (const one of notes) edit.note({ type: 'intercepted', ...one })
      if (verdict.type === 'settled')
        edit.note({
          type: 'outcome',
          tool_call_id: call.id,
          tool_name: call.name,
          state: verdict.state,
          output: verdict.output,
        })
    }
    if (requests.length === 0) return
    const request_ids = requests.map(({ id }) => id)
    edit.amend((run) => ({
      ...run,
      approvals: (run.approvals ?? 0) + requests.length,
      active_ms: activeMs(execution, run),
    }))
    edit.wait({ type: 'waiting_for_approval', request_ids, requests })
  }
  // Nobody hears that a change was too large which nobody waits for.
  if (requests.length === 0 && weigh({ role: 'assistant', content: answer.parts }) < largeAnswer)
    return changeLazily(execution, write)
  await change(execution, write)
}

const largeAnswer = 1024 * 1024

/** Ends a run that was told to stop. A stop of the daemon leaves it running for the next life. */
const stopRun = async (execution: Execution): Promise<void> => {
  const { stop } = execution
  if (stop === undefined || stop.kind === 'shutdown') return
  if (stop.kind === 'time_limit') return failRun(execution, 'run_time_limit: the run used its whole time.')
  const to = stop.kind === 'cancel' ? 'cancelled' : 'interrupted'
  const error = stop.reason
  const event: RunEvent = { type: to, ...(error !== undefined && { error }) }
  await change(execution, (edit) => edit.step({ to, error }, event))
}
