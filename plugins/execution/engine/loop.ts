/** The loop of a run: look at the journal, take the next step, write it down. */
import { assertNever, fault } from '../../../core/plugin.js'
import { callErrors } from '../runs/contract.js'
import type { RunEvent } from '../sessions/contract.js'
import { change, during, enterFolder, failRun, type Execution } from './execution.js'
import { arrival, arrived } from './arrival.js'
import { takeBaseline } from './completion.js'
import { attemptOf, concludeCall } from './ledger-entries.js'
import { modelStep, type Position } from './model-turn.js'
import { refused } from './permission.js'
import { runTools } from './tool-step.js'
import { nextStep } from './thread/turn.js'

/** Executes a running run until it waits, ends or is stopped. Rejects when storage fails. */
export const drive = async (execution: Execution): Promise<void> => {
  const accepted = execution.context.store.runs.find(execution.run_id)
  const folding = accepted === undefined ? undefined : execution.context.threads.ready(accepted)
  if (folding !== undefined) await folding
  await recordLostCalls(execution)
  await enterFolder(execution)
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

const takeStep = async (execution: Execution, at: Position): Promise<void> => {
  const {
    limits,
    context: { config },
  } = execution
  const step = nextStep(at.progress, {
    max_turns: leastTurns(config.max_turns, at.run.max_turns),
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

/** 0 is no limit. */
const leastTurns = (most: number, own = 0): number =>
  most === 0 || own === 0 ? Math.max(most, own) : Math.min(most, own)

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
  if (arriving !== undefined) await during(execution, arrival, () => arriving)
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
