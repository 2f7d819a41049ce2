/** What becomes of a model answer: its calls are judged, or the run ends with it, or is told what it lacks. */
import {
  mostRepairs,
  repairText,
  structuredAnswer,
  unfitCode,
  type Generation,
  type ToolCallPart,
} from '../models/contract.js'
import { answerEnd, type RunEdit, type RunRecord } from '../runs/contract.js'
import type { AnswerMarks } from '../sessions/contract.js'
import { mostReminders, missingOf } from './completion.js'
import { activeMs, change, changeLazily, isCut, trace, type Execution } from './execution.js'
import { holdEnd, isWatched, judgeWatched, type Judged } from './intercept.js'
import { textOf, type Answer } from './model-step.js'
import { judgeCall } from './permission.js'
import { endRouteWait } from './route-wait.js'
import { weigh } from './thread/weight.js'

/** A run whose answer is taken, and how often its end was held up. */
interface Answered {
  readonly run: RunRecord
  readonly held: number
  readonly generation: Generation
}

export const takeAnswer = (execution: Execution, answered: Answered, answer: Parts): Promise<void> | void => {
  const calls = answer.parts.filter((part) => part.type === 'tool_call')
  if (calls.length > 0) return takeTurn(execution, answer, calls)
  if (answer.outcome === 'paused') return changeLazily(execution, (edit) => note(edit, answer))
  return answered.generation.response_format?.type === 'structured_json'
    ? completeIfFits(execution, answered, answer)
    : completeOrRemind(execution, answered, answer)
}

const completeOrRemind = (execution: Execution, { run, held }: Answered, answer: Parts): Promise<void> =>
  run.completion === undefined
    ? completeRun(execution, answer, held)
    : completeIfMet(execution, { run, held, completion: run.completion, answer })

/** A model whose answer does not have the form that the run asked for is told so, a few times. */
const completeIfFits = async (execution: Execution, answered: Answered, answer: Parts): Promise<void> => {
  const { run, generation } = answered
  if (generation.response_format?.type !== 'structured_json') return
  const { schema } = generation.response_format
  const checked = await structuredAnswer(schema, textOf(answer.parts), isCutShort(answer))
  if (isCut(execution)) return
  if (checked.fits) {
    answer.said = checked.text
    return completeOrRemind(execution, answered, answer)
  }
  const repairs = run.repairs ?? 0
  await change(execution, (edit) => {
    note(edit, answer, checked.fault)
    if (!checked.isRepairable || repairs >= mostRepairs) {
      const error = `${unfitCode}: the answer did not come to fit the schema of the run: ${checked.fault}.`
      edit.step({ to: 'failed', error }, { type: 'failed', error })
      return
    }
    remind(edit, repairText(checked.fault, schema))
    edit.amend((now) => ({ ...now, repairs: repairs + 1 }))
  })
}

type Parts = Extract<Answer, { type: 'parts' }>

const isCutShort = ({ outcome }: Parts): boolean => outcome === 'length'

const marksOf = ({ outcome }: Parts): AnswerMarks => {
  if (outcome === 'length') return { cut: true }
  return outcome === 'other' ? { unexplained: true } : {}
}

const note = (edit: RunEdit, answer: Parts, not_taken?: string): void => {
  const { usage, parts: content } = answer
  answer.taken = true
  const why = not_taken === undefined ? {} : { not_taken }
  const message = { role: 'assistant' as const, content }
  edit.note({ type: 'message', message, usage, ...why, ...marksOf(answer), ...edit.bill(usage) })
  endRouteWait(edit)
}

const saidOf = ({ said, parts }: Parts): string => said ?? textOf(parts)

/** People who read the answer see where it is from; an answer of a form stays of that form. */
const withPages = (text: string, { said, parts }: Parts): string => {
  const cited = parts.flatMap((part) => (part.type === 'text' ? (part.cites ?? []) : []))
  const lines = [...new Map(cited.map(({ url, title }) => [url, title]))].map(([url, title]) =>
    title === '' ? `- ${url}` : `- ${title}: ${url}`,
  )
  return said !== undefined || lines.length === 0 ? text : `${text}\n\nSources:\n${lines.join('\n')}`
}

const say = (edit: RunEdit, answer: Parts): void => {
  const content = withPages(saidOf(answer), answer)
  if (content.trim() !== '') edit.output({ content, source_kind: 'assistant_text' })
}

const completeRun = async (execution: Execution, answer: Parts, held = 0): Promise<void> => {
  const hold = isWatched(execution, 'stop') ? await holdEnd(execution, { held, said: saidOf(answer) }) : undefined
  if (hold?.reason !== undefined && isCut(execution)) return
  await change(execution, (edit) => {
    note(edit, answer)
    if (hold !== undefined) edit.note({ type: 'intercepted', ...hold.note })
    if (hold?.reason !== undefined) return remind(edit, hold.reason)
    say(edit, answer)
    const answer_ended = answerEnd(answer.parts, marksOf(answer))
    if (answer_ended !== undefined) edit.amend((run) => ({ ...run, answer_ended }))
    edit.step({ to: 'completed' }, { type: 'completed' })
  })
}

/** Tells the model why the run goes on. */
const remind = (edit: RunEdit, text: string): void =>
  void edit.note({ type: 'message', message: { role: 'user', content: [{ type: 'text', text }] } })

interface Ending extends Omit<Answered, 'generation'> {
  readonly completion: NonNullable<RunRecord['completion']>
  readonly answer: Parts
}

/** A run that has not done what it must is told so and gets another turn, a few times. */
const completeIfMet = async (execution: Execution, { run, held, completion, answer }: Ending): Promise<void> => {
  const missing = await missingOf(execution, run)
  if (isCut(execution)) return
  if (missing.length === 0) return completeRun(execution, answer, held)
  const what = missing.join(', ')
  await change(execution, (edit) => {
    note(edit, answer, `it has not created or updated ${what}`)
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
  const cut = isCutShort(answer)
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
    verdicts.push(await judgeWatched(execution, call, { index, cut: isCutShort(answer) }))
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
