/** One turn of a run: what the model is asked with, its answer, and what becomes of it. */
import { Problem } from '../../../core/plugin.js'
import type { Generation, ModelRequest, ModelRoute } from '../models/contract.js'
import { entryAt, type RunRecord } from '../runs/contract.js'
import { takeAnswer } from './answer-step.js'
import { allArrived, arrival, lacking } from './arrival.js'
import { compactFor } from './compact.js'
import { during, failRun, isCut, trace, type EngineContext, type Execution } from './execution.js'
import { billUntaken, modelFailed, told } from './model-failed.js'
import { askModel, generationOf, type Answer, type ModelCall } from './model-step.js'
import { observed } from './observe.js'
import { besideBytes, budgetOf, windowFor, type Budget } from './prompt/budget.js'
import { fit } from './prompt/fit.js'
import { assemble } from './prompt/request.js'
import { untilNextAttempt } from './route-wait.js'
import { shownBytes, shownRuns, type Thread } from './thread/thread.js'
import type { Progress } from './thread/turn.js'
import { weigh } from './thread/weight.js'

/** Where a run is that takes its next step. */
export interface Position {
  readonly run: RunRecord
  readonly thread: Thread
  readonly progress: Progress
}

const routeOf = (context: EngineContext, run: RunRecord): ModelRoute | string => {
  const route = context.models.find(run.provider)
  if (route === undefined) return `route_not_found: the route ${run.provider} that this run is pinned to is gone.`
  const { state, code } = route.connection.readiness()
  return state === 'error' ? `route_not_ready: the route ${run.provider} cannot be used (${code}).` : route
}

/** Where the prompt and the tools alone are too much, no other question helps. */
const overflowOf = ({ models: { file } }: EngineContext, { budget }: Question): string => {
  const what =
    budget !== undefined && budget.bytes <= 0
      ? `the system prompt and the tools take about ${budget.tokens(0)} tokens, which is more than`
      : 'the newest turn of this run is longer than'
  return (
    `context_overflow: ${what} the window of its model has room for; context_window of the route in ` +
    `${file} says how long that is, and holdfast sessions set-tools turns off tools.`
  )
}

/** Of the room, once the model has refused more: it was reckoned wrong. */
const shareAfterRefusal = 0.5

interface Question {
  /** With the whole conversation. */
  readonly whole: ModelRequest
  readonly budget: Budget | undefined
}

const questionOf = (
  { context }: Execution,
  { run, thread, progress }: Position,
  { route, generation }: { readonly route: ModelRoute; readonly generation: Generation },
): Question => {
  // A model that looks at nothing before its run misses nothing of it.
  const shown = route.context === 'run' ? undefined : shownRuns(thread)
  const searches = route.capabilities.native_web_search && route.searches?.(run.model) !== false
  const window = windowFor(route, run.model)
  const whole = assemble(context, run, { messages: thread.messages, shown, generation, searches, window })
  const { calibration } = context
  const { session_id } = run
  const share = progress.overflow === undefined ? 1 : shareAfterRefusal
  return { whole, budget: budgetOf(route, whole, { calibration, session_id, share }) }
}

/** The request, and about its bytes; undefined if not even the newest turn fits. */
const fitRequest = (
  execution: Execution,
  thread: Thread,
  { whole, budget }: Question,
): { readonly request: ModelRequest; readonly bytes: number } | undefined => {
  const fitted = fit(thread, { bytes: shownBytes(thread), budget, weigh })
  if (fitted.type === 'overflow') return undefined
  const { messages, bytes, left_out } = fitted
  if (left_out > 0 || thread.lacking) trace(execution, { type: 'prompt_cut', left_out })
  return { request: { ...whole, messages }, bytes: bytes + besideBytes(whole) }
}

/** One attempt, told from its beginning to its end. */
const askWithFiles = async (
  execution: Execution,
  route: ModelRoute,
  { request: named, turn, attempt }: ModelCall,
): Promise<Answer> => {
  const { context, controller } = execution
  const { signal } = controller
  const { request, done } = await context.files.show(named, { images: route.capabilities.multimodal_input, signal })
  try {
    trace(execution, { type: 'model_attempt_started', turn, attempt })
    return await observed(execution, () => askModel(execution, route, { request, turn, attempt }), {
      subject: () => ({ kind: 'model', name: route.route_id, turn, attempt, request }),
      ending: (given) =>
        given.type === 'failed'
          ? { outcome: 'failed', code: given.failure.class, answer: given.failure, ...told(given) }
          : { outcome: given.outcome, usage: given.usage, answer: given.parts },
    })
  } finally {
    done()
    trace(execution, { type: 'model_attempt_finished', turn, attempt })
  }
}

export const modelStep = async (execution: Execution, { run, thread, progress }: Position): Promise<void> => {
  const { context } = execution
  const route = routeOf(context, run)
  if (typeof route === 'string') return failRun(execution, route)
  const accepted = entryAt(execution.context.store, run.session_id, run.first)
  const generation = generationOf(
    accepted?.type === 'event' && accepted.event.type === 'accepted' ? accepted.event.generation : undefined,
  )
  await untilNextAttempt(execution, run)
  const arriving = allArrived(execution)
  if (arriving !== undefined) await during(execution, arrival, () => arriving)
  if (execution.stop !== undefined) return
  const refusal = lacking(execution, run) ?? execution.context.books()?.refusal(run)
  if (refusal !== undefined) return failRun(execution, refusal)
  const turn = progress.turns + 1
  const attempt = progress.failed + 1
  const question = questionOf(execution, { run, thread, progress }, { route, generation })
  const { budget } = question
  const compacting = compactFor(execution, { run, thread, progress, route, budget, attempt })
  if (compacting !== undefined && (await during(execution, { kind: 'compaction', name: '' }, () => compacting))) return
  const fitted = fitRequest(execution, thread, question)
  if (fitted === undefined) return failRun(execution, overflowOf(context, question))
  const { bytes } = fitted
  const called = { route_id: route.route_id, model: run.model, session_id: run.session_id }
  const answer = await askWithFiles(execution, route, { request: fitted.request, turn, attempt })
  context.calibration.learn(called, bytes, answer.usage)
  if (answer.type === 'failed' || isCut(execution)) billUntaken(execution, { turn, attempt, answer })
  if (isCut(execution)) return
  const tooLong =
    progress.overflow !== undefined || budget === undefined
      ? undefined
      : () => context.calibration.refused(called, bytes, budget.room)
  if (answer.type === 'failed')
    return modelFailed(execution, { run, turn, attempt, failure: answer.failure, acted: progress.acted, tooLong })
  try {
    await takeAnswer(execution, { run, held: progress.held, generation }, answer)
    if (!answer.taken) billUntaken(execution, { turn, attempt, answer })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'commit_too_large') throw error
    billUntaken(execution, { turn, attempt, answer })
    await failRun(execution, 'model_answer_too_large: the answer of the model is larger than what is kept at once.')
  }
}
